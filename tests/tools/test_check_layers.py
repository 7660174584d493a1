"""The layer checker on small made-up packages: what it allows, what it reports and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_layers


def make_tree(root: Path, files: dict[str, str]) -> Path:
    """Write a package below `root/src` from file names and their text."""
    tree = root / "src" / "onnxsmith"
    for name, text in {"__init__.py": "", **files}.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for folder in {path.parent for path in tree.rglob("*.py")}:
        (folder / "__init__.py").touch()
    return tree


ALLOWED = {
    "a lower row": {"core/call.py": "from onnxsmith.types import x", "types/__init__.py": "x = 1"},
    "the own package": {"core/call.py": "from .value import x", "core/value.py": "x = 1"},
    "a sibling module by name": {"core/call.py": "from . import value", "core/value.py": ""},
    "a declared neighbour": {"errors.py": "import onnxsmith.source", "source.py": ""},
    "the top imports everything": {
        "__init__.py": "from onnxsmith.cli import main",
        "cli/__init__.py": "main = 1",
    },
    "the command line uses what users use": {"cli/version.py": "from onnxsmith import __version__"},
    "a public name of another capability": {
        "torch/export.py": "from onnxsmith.passes import fold",
        "passes/__init__.py": "from .fold import fold",
        "passes/fold.py": "fold = 1",
    },
    "strings that name no module, or the package around it": {
        "types/__init__.py": "",
        "types/t.py": """x = 'onnxsmith.core.nothing'\ny = 'onnxsmith.types'\nz = 'see onnxsmith.core.call'""",
        "core/call.py": '"onnxsmith.cli"',
        "cli/__init__.py": "",
    },
    "what capabilities give from above": {
        "graphs/capabilities.py": "METHODS = {'decompile': 'onnxsmith.decompiling:decompile'}",
        "graphs/model.py": "from onnxsmith.graphs import capabilities",
        "decompiling/__init__.py": "from onnxsmith.graphs import model",
    },
    "a circle for a type checker only": {
        "core/a.py": "import typing\nif typing.TYPE_CHECKING:\n    from onnxsmith.core import b",
        "core/b.py": "from onnxsmith.core import a",
    },
    "a lazy import with its reason beside it": {
        "graphs/save.py": "def f():\n    import onnx_ir  # takes half a second to import"
    },
    "a lazy import with its reason above it": {
        "graphs/save.py": "def f():\n    # takes half a second to import\n    import onnx_ir"
    },
    "an opset module beside the package": {
        "opset21.py": "from onnxsmith.opset import x",
        "opset/__init__.py": "",
    },
    "a foreign package that is named alike": {"types/t.py": "import onnxsmith_extras.cli"},
}


@pytest.mark.parametrize("files", ALLOWED.values(), ids=ALLOWED.keys())
def test_allowed(files: dict[str, str], tmp_path: Path) -> None:
    assert check_layers.problems(make_tree(tmp_path, files)) == []


UPWARDS = "types (row 1) imports onnxsmith.core.call (row 2): only rows below 1 are allowed"
NO_REASON = "import inside a function without a comment that says why; move it to the top or explain it"
REPORTED = {
    "a higher row": (
        {"types/t.py": "x = 1\nfrom onnxsmith.core import call", "core/call.py": ""},
        [f"types/t.py:2: {UPWARDS}"],
    ),
    "a higher row by a relative import": (
        {"types/t.py": "from ..core.call import x", "core/call.py": ""},
        [f"types/t.py:1: {UPWARDS}"],
    ),
    "a higher row from inside a function, whatever the comment says": (
        {"types/t.py": "def f():\n    from onnxsmith.core import call  # later", "core/call.py": ""},
        [f"types/t.py:2: {UPWARDS}"],
    ),
    "the branch that runs when no checker does": (
        {
            "types/t.py": "if TYPE_CHECKING:\n    pass\nelse:\n    from onnxsmith.core import call",
            "core/call.py": "",
        },
        [f"types/t.py:4: {UPWARDS}"],
    ),
    "upwards for a type checker only": (
        {
            "types/t.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from onnxsmith.core import call",
            "core/call.py": "",
        },
        [f"types/t.py:3: {UPWARDS}"],
    ),
    "upwards by a string": (
        {
            "types/t.py": "import importlib\nimportlib.import_module('onnxsmith.core.call')",
            "core/call.py": "",
        },
        [f"types/t.py:2: {UPWARDS}"],
    ),
    "upwards by a string, with a name in it": (
        {"types/t.py": "TABLE = {'f': 'onnxsmith.core.call:f'}", "core/call.py": ""},
        [f"types/t.py:1: {UPWARDS}"],
    ),
    "a ring for type checkers and by strings": (
        {
            "types/a.py": "if TYPE_CHECKING:\n    from onnxsmith.types import b",
            "types/b.py": "NAME = 'onnxsmith.types.c'",
            "types/c.py": "from onnxsmith.types import a",
        },
        [
            "types/a.py:1: 3 modules of types depend on each other, and 1 may: "
            "onnxsmith.types.a, onnxsmith.types.b, onnxsmith.types.c"
        ],
    ),
    "a ring by an entry of a registry, by the helper that looks it up, and by a cast of the registry": (
        {
            "sklearn/registry.py": "TABLE: R = Registry('onnxsmith.sklearn', 'T')",
            "sklearn/lazy_index.py": "T: dict[str, str] = {'f': 'b', 'g': 'c', 'h': 'd', 'i': 'a'}",
            "sklearn/a.py": "from onnxsmith.sklearn.registry import TABLE\ndef k():\n    TABLE['f']()",
            "sklearn/b.py": "from .registry import TABLE as T\ndef f(n):\n    return T[n]\nf('g')\nf(x)\nT[x]",
            "sklearn/c.py": "from .registry import TABLE as _T\nT = cast('x', _T)\nT.get('h')",
            "sklearn/d.py": "from onnxsmith.sklearn import registry, a",
        },
        [
            "sklearn/a.py:1: 4 modules of sklearn depend on each other, and 1 may: "
            "onnxsmith.sklearn.a, onnxsmith.sklearn.b, onnxsmith.sklearn.c, onnxsmith.sklearn.d"
        ],
    ),
    "tables that a higher row fills, at its top or by a function of the lower one": (
        {
            "types/a.py": "ONE = {}\nTWO: set[int] = set()\ndef enter(x):\n    ONE[x] = 1",
            "types/b.py": "from onnxsmith.types.a import TWO\nTWO.add(2)",
            "core/c.py": "from onnxsmith.types.a import ONE, TWO, enter\n@enter\ndef f():\n    TWO.add(1)\n"
            "def later():\n    enter(2)\nONE[1]",
        },
        [
            f"core/c.py:{line}: core (row 2) fills {table} of onnxsmith.types.a (row 1), "
            "which reads it: pass what it needs, or let it be asked of the caller"
            for line, table in ((2, "ONE"), (4, "TWO"))
        ],
    ),
    "a value that a higher row sets": (
        {
            "types/a.py": "one = None\ndef enter(x):\n    global one\n    one = x",
            "core/c.py": "from onnxsmith.types.a import enter\nenter(1)",
        },
        [
            "core/c.py:2: core (row 2) fills one of onnxsmith.types.a (row 1), "
            "which reads it: pass what it needs, or let it be asked of the caller"
        ],
    ),
    "a library that a package does without, also in a function": (
        {
            "scripting/s.py": "import onnx_ir.passes\ndef f():\n    from onnx_ir import x  # heavy",
            "graphs/g.py": "import onnx_ir",
        },
        [
            f"scripting/s.py:{line}: scripting imports onnx_ir, which it does without; "
            "what it needs of it belongs into graphs"
            for line in (1, 3)
        ],
    ),
    "an undeclared neighbour": (
        {"types/t.py": "import onnxsmith.schema", "schema/__init__.py": ""},
        [
            "types/t.py:1: types imports onnxsmith.schema, a neighbour in row 1; NEIGHBOURS does not allow that"
        ],
    ),
    "internals of another capability": (
        {"torch/t.py": "from onnxsmith.passes.fold import _x", "passes/fold.py": ""},
        ["torch/t.py:1: torch imports internals of passes; use what its __init__ exports"],
    ),
    "the package itself": (
        {"types/t.py": "from onnxsmith import FLOAT"},
        [
            "types/t.py:1: imports onnxsmith itself, which is above every layer; "
            "import from the module that defines it"
        ],
    ),
    "a package that no row names": (
        {"extra/x.py": "import onnxsmith.types", "types/__init__.py": ""},
        ["extra/x.py:1: 'extra' is in no row of the layer table in tools/check_layers.py"],
    ),
    "a lazy import without a reason": (
        {"graphs/save.py": "def f():\n    import onnx_ir"},
        [f"graphs/save.py:2: {NO_REASON}"],
    ),
    "a lazy import with a comment for a checker": (
        {"graphs/save.py": "async def f():\n    import onnx_ir  # noqa: PLC0415"},
        [f"graphs/save.py:2: {NO_REASON}"],
    ),
    "a circle of three": (
        {
            "core/a.py": "from . import b",
            "core/b.py": "from . import c",
            "core/c.py": "def f():\n    from . import a  # a circle is one, wherever it closes",
        },
        [
            "core/a.py:1: import cycle: onnxsmith.core.a -> onnxsmith.core.b -> onnxsmith.core.c -> onnxsmith.core.a"
        ],
    ),
    "a circle through a package's __init__": (
        {"core/__init__.py": "from .a import x", "core/a.py": "from onnxsmith.core import y"},
        ["core/__init__.py:1: import cycle: onnxsmith.core -> onnxsmith.core.a -> onnxsmith.core"],
    ),
}


@pytest.mark.parametrize(("files", "expected"), REPORTED.values(), ids=REPORTED.keys())
def test_reported(files: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    found = check_layers.problems(make_tree(tmp_path, files))
    prefix = str(Path("src", "onnxsmith")) + "/"
    assert [problem.replace("\\", "/").removeprefix(prefix) for problem in found] == expected


def test_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = make_tree(tmp_path, {"types/t.py": "import onnxsmith.core", "core/__init__.py": ""})
    assert check_layers.main([str(tree)]) == 1
    assert capsys.readouterr().out.endswith("layers: 4 modules, 1 problem\n")
    (tree / "types" / "t.py").write_text("")
    assert check_layers.main([str(tree)]) == 0


def test_a_folder_without_init_is_reported(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, {"types/t.py": ""})
    (tree / "types" / "__init__.py").unlink()
    expected = Path("src", "onnxsmith", "types", "__init__.py")
    assert check_layers.problems(tree) == [f"{expected}:1: is missing: a folder with modules is a package"]


def test_an_empty_tree_is_not_a_success(tmp_path: Path) -> None:
    assert check_layers.main([str(tmp_path)]) == 1


def test_every_neighbour_is_in_one_row() -> None:
    for importer, allowed in check_layers.NEIGHBOURS.items():
        rows = {check_layers.ROW_OF[package] for package in (importer, *allowed)}
        assert len(rows) == 1, f"{importer} and {allowed} are in several rows"
