"""Private names of classes mean in models, helpers and debuggers what they mean in Python."""

from __future__ import annotations

import ast
import linecache
import os
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, script
from onnxsmith.scripting.source import function_source
from onnxsmith.scripting.source.function_source import (
    find_function,
    has_private_names,
    inner_code,
    is_same_code,
    mangle_private_names,
)

X = np.arange(3, dtype=np.float32)

#: Every way to write a name.
ALL_NAMES = """
class _K(Base.__of_module):
    def f(self, __a, /, __b, *__c, __d=1, **__e):
        g(__keyword=__a, **__e)
        import x as __n
        from p import __q
        global __g
        __g = self.__w.__call__(__init__, ___, _one, __w_, __w__)
        try:
            pass
        except Error as __error:
            pass
        match self:
            case C(__attribute=1, y=__y):
                pass
            case {"k": 1, **__rest}:
                pass
            case [__first, *__others]:
                pass
        with a as __opened:
            pass
        for __i in range(3):
            self.__z = f"{__i}"
        def __inner(__p=__i):
            nonlocal __y
            __y = __p
            return lambda __u: __u + __y
        class __Inner:
            def in_class(self, __v):
                return __v + self.__w
        del __i
        return [__j for __j in __inner(1)], (__new := 2), __Inner

    class __D:
        def g(self):
            return self.__w

class __:
    def h(self):
        return self.__w

def outside():
    return __w.__v
"""


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions that are in no other function."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef):
            yield each
        else:
            yield from _functions(each)


def _names(code: types.CodeType) -> list[Any]:
    own = code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
    return [own, *(_names(each) for each in code.co_consts if isinstance(each, types.CodeType))]


def test_names_are_those_that_python_compiles() -> None:
    python = {each.co_name: each for each in inner_code(compile(ALL_NAMES, "file", "exec"))}
    tree = ast.parse(ALL_NAMES)
    mangle_private_names(tree)
    found = list(_functions(tree))
    assert [each.name for each in found] == ["f", "g", "h", "outside"]
    for each in found:
        (code,) = (
            inner
            for inner in compile(ast.Module([each], []), "file", "exec").co_consts
            if isinstance(inner, types.CodeType)
        )
        assert _names(code) == _names(python[each.name])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class K:\n    __w = 1", True),
        ("class K:\n    a = __w_", True),
        ("class K:\n    def __init__(self): _a, a__b, __, ___", False),
        ("__w = 1", False),
    ],
)
def test_files_without_private_names_are_not_looked_through(text: str, expected: bool) -> None:
    assert has_private_names(text) is expected


class Scaled:
    def __init__(self) -> None:
        self.__w = 2.0
        self.w = self.__w

    @script
    def go(self, __x: FLOAT["N"]):
        __y = __x * self.__w
        if __y.sum() > 0.0:
            __y = __y + 1.0
        return __y

    @script
    def __private(self, x: FLOAT["N"]):
        return x * self.__w

    @script
    def calls_private(self, x: FLOAT["N"]):
        def __inner(y: Any) -> Any:
            return self.__private(y) + self.__w

        return __inner(x)

    def helper(self, x: Any) -> Any:
        __t = x + self.__w
        __t += 1.0
        return __t


SCALED = Scaled()


@script
def uses_a_helper(x: FLOAT["N"]):
    y = SCALED.helper(x)
    return y if y.sum() > 0.0 else x


RUNS = pytest.mark.parametrize(
    ("function", "expected"),
    [(SCALED.go, X * 2 + 1), (SCALED.calls_private, X * 2 + 2), (uses_a_helper, X + 3)],
    ids=["parameter", "inner", "helper"],
)


@RUNS
def test_private_names_in_all_runs(function: Any, expected: Any) -> None:
    for run in (function, onnxsmith.jit(function), function.to_model()):
        np.testing.assert_array_equal(run(X), expected)


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


def test_each_function_of_an_executed_text_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thousands of functions in a decompiled text each was compared with all before it."""
    compared: list[str] = []

    def noted(a: types.CodeType, b: types.CodeType) -> bool:
        compared.append(b.co_name)
        return is_same_code(a, b)

    monkeypatch.setattr(function_source, "is_same_code", noted)
    file = "<many functions>"
    text = "".join(f"def f{k}(x):\n    found.append(find(f{k}).lineno)\n    return x\n" for k in range(30))
    text += "lines = set()\n"
    text += "".join(f"f{k}(0)\nlines.add(id(linecache.cache['{file}'][2]))\n" for k in range(30))
    names: dict[str, Any] = {"found": [], "find": find_function, "linecache": linecache}
    exec(compile(text, file, "exec"), names)
    assert names["found"] == list(range(1, 90, 3))
    assert compared == [f"f{k}" for k in range(30)]
    assert len(names["lines"]) == 1  # the text is taken apart once, too
