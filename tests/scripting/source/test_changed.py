"""A file that is edited after it was imported is noticed; what tools do to code is not taken for an edit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

_HELPERS = "def scaled(x):\n    if x.sum() > 100:\n        return x\n    return x * 2.0\n"
_SCRIPTS = """import numpy as np
from onnxsmith import FLOAT, script
import helpers

@script
def f(x: FLOAT["N"]):
    return helpers.scaled(x) + 1

def made():
    return f.to_model()(np.float32([1, 2])).tolist()
"""
_WITH_ASSERT = _SCRIPTS.replace("    return helpers", "    assert len(x) > 0, x\n    return helpers")


def _run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Modules that look as if they had just been written: newer than any process that reads them."""
    for name, text in (("helpers.py", _HELPERS), ("scripts.py", _WITH_ASSERT)):
        (tmp_path / name).write_text(text)
        later = time.time() + 1000
        os.utime(tmp_path / name, (later, later))
    return tmp_path


def test_an_edited_helper(folder: Path) -> None:
    program = (
        "import onnxsmith, scripts, os, time\nprint(scripts.made())\n"
        "text = open('helpers.py').read().replace('2.0', '101.0')\nopen('helpers.py', 'w').write(text)\n"
        "os.utime('helpers.py', (time.time() + 2000,) * 2)\n"
        "try:\n    print(scripts.made())\nexcept onnxsmith.errors.SourceNotFoundError as error:\n    print(error)\n"
    )
    (folder / "program.py").write_text(program)
    output = _run(folder, "program.py")
    assert "[3.0, 5.0]" in output, output
    assert "'scaled' was edited after it was imported" in output, output
    assert "103" not in output


@pytest.mark.parametrize("options", [(), ("-O",), ("-OO",)])
def test_optimized(folder: Path, options: tuple[str, ...]) -> None:
    assert "[3.0, 5.0]" in _run(folder, *options, "-c", "import scripts; print(scripts.made())")


def test_assertion_rewriting(folder: Path) -> None:
    """Both in a test module and in one that pytest was told to rewrite."""
    (folder / "conftest.py").write_text("import pytest\npytest.register_assert_rewrite('scripts')\n")
    (folder / "test_it.py").write_text(
        _WITH_ASSERT + "\nimport scripts\ndef test_it():\n    assert made() == scripts.made() == [3.0, 5.0]\n"
    )
    later = time.time() + 1000
    os.utime(folder / "test_it.py", (later, later))
    output = _run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_it.py")
    assert "1 passed" in output, output


def test_traced_by_coverage(folder: Path) -> None:
    """Coverage and debuggers trace what runs; `sys.settrace` stands for them."""
    program = "import sys\nsys.settrace(lambda *_: None)\nimport scripts\nprint(scripts.made())\n"
    assert "[3.0, 5.0]" in _run(folder, "-c", program)


def test_notebook_cells(folder: Path) -> None:
    pytest.importorskip("IPython")
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell.instance()\n"
        f"shell.run_cell({_WITH_ASSERT!r})\nshell.run_cell('print(made())')\n"
    )
    (folder / "cells.py").write_text(program)
    assert "[3.0, 5.0]" in _run(folder, "cells.py")


_NESTED = """import numpy as np
from onnxsmith import FLOAT, graph, opset21 as op, script
from collections.abc import Sequence

@script
def f(parts: Sequence[FLOAT["N"]]):
    @graph()
    def body(part: FLOAT["N"]):
        return part * 2.0

    return op.SequenceMap(parts, body=body)

print([each.tolist() for each in f.to_model()([np.float32([1, 2])])])
"""


@pytest.mark.parametrize("how", ["compile(open('nested.py').read(), 'nested.py', 'exec')", "nested"])
def test_features_of_the_future_that_the_text_does_not_name(folder: Path, how: str) -> None:
    """`exec` inherits them from its caller, and a notebook's cell from the cells before it."""
    (folder / "nested.py").write_text(_NESTED)
    (folder / "program.py").write_text(
        "from __future__ import annotations\nnested = open('nested.py').read()\n"
        f"exec({how}, {{'__name__': '__main__'}})\n"
    )
    later = time.time() + 1000
    os.utime(folder / "nested.py", (later, later))
    assert "[[2.0, 4.0]]" in _run(folder, "program.py")
