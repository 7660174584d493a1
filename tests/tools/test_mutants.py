"""Mutants: which texts are broken, which test file is asked, and what is noticed."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.mutants import alone, choosing, lines
from tools.mutants.hunt import Hunt
from tools.mutants.mutations import drawn, mutations_of
from tools.mutants.nearest import TABLE, mirrored, nearest

ROOT = Path(__file__).resolve().parent.parent.parent


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


MUTATED = [
    ("y = a < b", {"(a >= b)"}),
    ("y = a in b and c", {"(a in b or c)", "(a not in b)"}),
    ("y = not a", {"(a)"}),
    ("y = a + 1", {"(a - 1)", "(2)"}),
    ("y = a if b else c", {"(c if b else a)"}),
    ("y = True", {"(False)"}),
    ("y = 'name'", {"('name_')"}),
    ("y = 'a sentence'", set()),
    ("y.z = a", {"pass"}),
    ("y += a", {"pass"}),
    ("f(a)", {"pass"}),
    ("if f(a):\n    pass", {"not (f(a))"}),
    ("def f():\n    return a", {"None"}),
    ("def f(a: 'int' = None) -> 'str':\n    '''text'''\n    raise E('name', 1)", set()),
    ("if TYPE_CHECKING:\n    y = 1", set()),
    ("Y = 15", {"(16)"}),
    # One more of a bound that someone chose is no fault.
    ("_MOST = 300", {"1"}),
    ("y = 300", {"(301)"}),
    ("y = 1e300", set()),
    # `strict=True` of `zip` asserts, and changes no result.
    ("y = zip(a, 1, strict=True)", {"(2)"}),
    ("y = zip(a, b, strict=False)", {"(True)"}),
    ("y = f(a, strict=True)", {"(False)"}),
    ("y = cast('int', a + b)", {"(a - b)"}),
    ("Y = Literal['name', 1]", set()),
    # Debuggers alone show the name.
    ("Y = ContextVar('name', default=True)", {"(False)"}),
    ("y: list[C] = field(default_factory=list['C'], repr=True)", {"(False)"}),
    ("y: list[C] = field(default_factory=f(1))", {"(2)"}),
    ("@overload\ndef f(a=1): ...", set()),
    ("class C(Protocol[T]):\n    def f(self, a=1): ...", set()),
    ("class C(Base):\n    def f(self, a=1): ...", {"(2)"}),
]


@pytest.mark.parametrize(("source", "after"), MUTATED)
def test_the_mutations_of_a_source(source: str, after: set[str]) -> None:
    found = list(mutations_of("file.py", source))
    assert {each.after for each in found} == after
    for each in found:
        assert ast.dump(ast.parse(each.applied(source.encode()))) != ast.dump(ast.parse(source))


def test_columns_are_bytes() -> None:
    source = "y = 'é', a < b"
    (mutation,) = [each for each in mutations_of("file.py", source) if "a" in each.after]
    assert mutation.applied(source.encode()).decode() == "y = 'é', (a >= b)"


def test_the_draw_depends_on_the_seed_alone() -> None:
    chosen = drawn(ROOT, 5, 20, ["src/onnxsmith/types"])
    assert chosen == drawn(ROOT, 5, 20, ["src/onnxsmith/types"])
    assert len({(each.file, each.line) for each in chosen}) == 20
    assert chosen != drawn(ROOT, 6, 20, ["src/onnxsmith/types"])


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("mirrored", "test_mirrored"),
        ("imported_by_a_test", "test_other"),
        ("imported_by_a_module", "test_mirrored"),
        ("far", "test_mirrored"),
    ],
)
def test_the_nearest_test_file(module: str, test: str, tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "src/onnxsmith/cli/mirrored.py": "from onnxsmith.cli import imported_by_a_module",
            "src/onnxsmith/cli/imported_by_a_module.py": "import onnxsmith.cli.far",
            "src/onnxsmith/cli/imported_by_a_test.py": "",
            "src/onnxsmith/cli/far.py": "",
            "tests/cli/test_mirrored.py": "",
            "tests/cli/test_other.py": "from onnxsmith.cli.imported_by_a_test import x",
            "tests/cli/test_far_away.py": "",
        },
    )
    assert nearest(tmp_path, f"src/onnxsmith/cli/{module}.py") == Path(f"tests/cli/{test}.py")
    assert (mirrored(tmp_path, f"src/onnxsmith/cli/{module}.py") is None) == (module != "mirrored")


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("torch/library/linalg/named.py", "tests/torch/test_named.py"),
        ("torch/library/linalg/other.py", "tests/torch/test_linalg.py"),
        ("torch/library/other.py", "tests/torch/test_functional.py"),
    ],
)
def test_a_name_above_comes_before_the_shelf(module: str, test: str, tmp_path: Path) -> None:
    files = ["tests/torch/test_named.py", "tests/torch/test_linalg.py", "tests/torch/test_functional.py"]
    written(tmp_path, dict.fromkeys([f"src/onnxsmith/{module}", "tests/test_other.py", *files], ""))
    assert nearest(tmp_path, f"src/onnxsmith/{module}") == Path(test)


def test_a_measured_test_file_comes_before_importers(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "src/onnxsmith/cli/measured.py": "",
            "src/onnxsmith/cli/moved_tests.py": "",
            "src/onnxsmith/cli/mirrored.py": "",
            "tests/cli/test_mirrored.py": "",
            "tests/cli/test_imports.py": "from onnxsmith.cli import measured, moved_tests, mirrored",
            "tests/other/test_wide.py": "",
            "tools/mutants/tested_by.txt": (
                "# a comment\nsrc/onnxsmith/cli/measured.py tests/other/test_wide.py\n"
                "src/onnxsmith/cli/mirrored.py tests/other/test_wide.py\n"
                "src/onnxsmith/cli/moved_tests.py tests/other/test_moved.py\n"
            ),
        },
    )
    found = {
        name: nearest(tmp_path, f"src/onnxsmith/cli/{name}.py").stem
        for name in ("measured", "moved_tests", "mirrored")
    }
    assert found == {"measured": "test_wide", "moved_tests": "test_imports", "mirrored": "test_mirrored"}


FUNCTIONS = """
def f(a):
    def inner(b):
        return b + 1
    if a:
        return inner(a)
    return a < 2

@decorated
def g(a):
    return a
"""


def test_lines_outside_of_functions_say_nothing_about_tests() -> None:
    assert choosing.breakable_lines("file.py", "A = 1\n" + FUNCTIONS) == {5, 6, 7, 8, 12}


@pytest.mark.parametrize(
    ("executed", "test"),
    [
        ({"tests/a/test_far.py": [4, 5, 6, 7, 11], "tests/cli/test_little.py": [4]}, "tests/a/test_far.py"),
        (
            {"tests/a/test_far.py": [4, 5, 6, 7], "tests/cli/test_most.py": [4, 5, 6]},
            "tests/cli/test_most.py",
        ),
        ({"tests/cli/test_less.py": [5], "tests/cli/test_more.py": [5, 11]}, "tests/cli/test_more.py"),
        (
            {"tests/cli/test_all.py": [4, 5, 6, 7, 11], "tests/cli/test_indexing.py": [4, 5, 6, 7]},
            "tests/cli/test_indexing.py",
        ),
        (
            {"tests/cli/test_all.py": [4, 5, 6, 7, 11], "tests/a/test_imports.py": [4, 5, 6, 7, 11]},
            "tests/a/test_imports.py",
        ),
        (
            {"tests/cli/test_borrows.py": [4, 5, 6, 7], "tests/cli/test_owns.py": [4, 5, 6]},
            "tests/cli/test_owns.py",
        ),
        # It borrows cases, and is about the module that it imports all the same.
        (
            {"tests/cli/test_both.py": [4, 5, 6], "tests/cli/test_all.py": [4, 5, 6, 7]},
            "tests/cli/test_both.py",
        ),
        (
            {"tests/a/test_items.py": [4, 5, 6], "tests/cli/test_items.py": [4, 5, 6]},
            "tests/cli/test_items.py",
        ),
        ({"tests/a/test_wide.py": [4, 5], "tests/a/test_narrow.py": [4, 5]}, "tests/a/test_narrow.py"),
        ({"tests/cli/test_other.py": [1, 2, 3]}, None),
    ],
)
def test_the_test_file_that_is_about_a_module(
    executed: dict[str, list[int]], test: str | None, tmp_path: Path
) -> None:
    file = "src/onnxsmith/cli/index_items.py"
    texts = {
        "imports": "from onnxsmith.cli.index_items import f",
        "borrows": "from tests.cli.test_owns import CASES",
        "both": "from tests.cli.test_owns import CASES\nfrom onnxsmith.cli.index_items import f",
    }
    imports = {each: next((text for word, text in texts.items() if word in each), "") for each in executed}
    written(tmp_path, {file: FUNCTIONS, **imports})
    measured = {
        each: {file: lines, "src/onnxsmith/other.py": range(5 if "wide" in each else 2)}
        for each, lines in executed.items()
    }
    assert choosing.chosen(tmp_path, file, choosing.breakable_lines(file, FUNCTIONS), measured) == test


@pytest.mark.parametrize(
    ("line", "tests"),
    [
        (4, ["tests/cli/test_near.py", "tests/a/test_far.py"]),
        (7, ["tests/a/test_far.py"]),
        (1, ["tests/cli/test_near.py", "tests/a/test_third.py", "tests/a/test_far.py"]),
    ],
)
def test_the_files_that_execute_a_line(line: int, tests: list[str], tmp_path: Path) -> None:
    file = "src/onnxsmith/cli/module.py"
    executed = {"tests/a/test_third.py": [11], "tests/a/test_far.py": [4, 7], "tests/cli/test_near.py": [4]}
    written(tmp_path, {file: FUNCTIONS, **dict.fromkeys(executed, "")})
    measured = {test: {file: lines} for test, lines in executed.items()}
    assert choosing.by_nearness(tmp_path, file, line, measured | {"tests/test_none.py": {}}) == tests


def test_files_come_in_the_order_of_nearness_where_no_lines_are_known(tmp_path: Path) -> None:
    texts = {
        "tests/a/test_far.py": "",
        "tests/a/test_third.py": "import onnxsmith.user",
        "tests/a/test_second.py": "import onnxsmith.cli.module",
        "tests/cli/test_module.py": "import onnxsmith.cli.module",
        "src/onnxsmith/cli/module.py": "",
        "src/onnxsmith/user.py": "import onnxsmith.cli.module",
    }
    written(tmp_path, texts)
    found = choosing.by_nearness(tmp_path, "src/onnxsmith/cli/module.py", 1)
    assert [Path(each).stem for each in found] == ["test_module", "test_second", "test_third", "test_far"]


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        # A module that a text names, or a lazy index beside it, is loaded by the one that names it.
        ("cli/named_late.py", ["test_user", "test_far"]),
        ("rules/indexed.py", ["test_rules", "test_far"]),
        # `onnxsmith.verb` is what the package's own table says.
        ("verbs/first.py", ["test_script", "test_far"]),
        # A test file imports what its helpers import, and leads to the module that it mirrors.
        ("cli/helped.py", ["test_helped_by", "test_far"]),
        ("below.py", ["test_mirror", "test_far"]),
        # The file of most modules of a folder is broad: it is taken before others that are no nearer.
        ("wide/other.py", ["test_wide", "test_far"]),
    ],
)
def test_a_test_file_leads_to_modules_that_it_does_not_import(
    file: str, tests: list[str], tmp_path: Path
) -> None:
    texts = {
        "src/onnxsmith/__init__.py": 'NAMES = {"verb": "onnxsmith.verbs.first"}',
        "src/onnxsmith/cli/named_late.py": "",
        "src/onnxsmith/cli/user.py": 'TABLE = {"x": "onnxsmith.cli.named_late:function"}',
        "src/onnxsmith/rules/indexed.py": "",
        "src/onnxsmith/rules/lazy_index.py": 'RULES = {("", "Add"): "indexed"}',
        "src/onnxsmith/rules/__init__.py": "import onnxsmith.rules.lazy_index",
        "src/onnxsmith/verbs/first.py": "",
        "src/onnxsmith/cli/helped.py": "",
        "src/onnxsmith/below.py": "",
        "src/onnxsmith/mirror.py": "import onnxsmith.below",
        "src/onnxsmith/wide/one.py": "",
        "src/onnxsmith/wide/two.py": "",
        "src/onnxsmith/wide/other.py": "",
        "tests/a/test_far.py": "",
        "tests/b/test_user.py": "import onnxsmith.cli.user",
        "tests/b/test_rules.py": "import onnxsmith.rules",
        "tests/b/test_script.py": "from onnxsmith import verb",
        "tests/b/helpers.py": "import onnxsmith.cli.helped",
        "tests/b/test_helped_by.py": "from tests.b.helpers import f",
        "tests/test_mirror.py": "",
        "tests/b/test_wide.py": "",
        TABLE: "".join(f"src/onnxsmith/wide/{each}.py tests/b/test_wide.py\n" for each in ("one", "two")),
    }
    written(tmp_path, texts)
    found = [Path(each).stem for each in choosing.by_nearness(tmp_path, f"src/onnxsmith/{file}", 1)]
    assert [each for each in found if each in tests] == tests
    assert found[0] == tests[0]


def test_of_files_that_are_as_near_the_one_with_the_fewest_lines_is_first(tmp_path: Path) -> None:
    file = "src/onnxsmith/cli/module.py"
    written(tmp_path, {file: "", "tests/a/test_a.py": "", "tests/a/test_b.py": ""})
    lines = {"tests/a/test_a.py": {file: range(9)}, "tests/a/test_b.py": {file: range(5)}}
    assert choosing.by_nearness(tmp_path, file, 1, lines) == ["tests/a/test_b.py", "tests/a/test_a.py"]


def test_lines_are_noted_until_no_new_one_comes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lines, "PACKAGE", str(tmp_path))
    monkeypatch.setattr(lines, "_seen", {})
    monkeypatch.setattr(lines, "_QUIET_CALLS", 3)
    code = compile(
        "def f(a):\n    if a:\n        return 1\n    return 2\n", str(tmp_path / "file.py"), "exec"
    )
    names: dict[str, Any] = {}
    exec(code, names)
    before = sys.gettrace()
    sys.settrace(lines._note)
    try:
        for given in (True, True, True, True, True, True, False):
            names["f"](given)
    finally:
        sys.settrace(before)
    (found,) = [each for each in lines._seen.values() if each.is_ours]
    assert found.lines == {2, 3}


def test_every_file_runs_alone_and_says_what_it_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = {f"tools/{each}": (ROOT / "tools" / each).read_text() for each in ("mutants/lines.py",)}
    written(
        tmp_path,
        {
            **plugin,
            "src/onnxsmith/__init__.py": "",
            "src/onnxsmith/seen.py": "def f(a):\n    return a < 2\n",
            "tests/test_first.py": "import onnxsmith\n\ndef test_it():\n    onnxsmith.left = 1\n",
            "tests/test_second.py": "import onnxsmith\n\ndef test_it():\n    assert onnxsmith.left == 1\n",
            "tests/test_calls.py": "from onnxsmith.seen import f\n\ndef test_it():\n    assert f(1)\n",
        },
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.setattr(alone, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["alone", "--write", "--lines", str(tmp_path / "lines.json")])
    assert alone.main() == 1
    found = json.loads((tmp_path / "lines.json").read_text())
    assert found == {"tests/test_calls.py": {"src/onnxsmith/seen.py": [2]}, "tests/test_first.py": {}}
    assert capsys.readouterr().out.splitlines() == [
        "failed tests/test_second.py",
        "3 files: 2 pass alone, 1 fail, 0 take over 120 s",
    ]
    assert (tmp_path / TABLE).read_text().splitlines()[1:] == ["src/onnxsmith/seen.py tests/test_calls.py"]


def test_an_entry_of_a_file_that_was_not_run_stays() -> None:
    known = {"a.py": "test_a.py", "b.py": "test_b.py", "c.py": "test_c.py"}
    found = {"a.py": "test_x.py", "b.py": "test_x.py", "d.py": "test_x.py"}
    tests = {"test_x.py", "test_b.py"}
    assert alone.merged(known, found, tests) == known | {"b.py": "test_x.py", "d.py": "test_x.py"}


def test_the_tests_of_a_file_run_in_an_order_that_a_seed_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_order = "".join(
        f"def test_{k}():\n    seen.append({k})\n    assert len(seen) == {k + 1}\n\n" for k in range(8)
    )
    names = ("tools/mutants/lines.py", "tools/mutants/order.py")
    plugins = {each: (ROOT / each).read_text() for each in names}
    written(
        tmp_path,
        {**plugins, "tests/test_in_order.py": f"seen = []\n\n{in_order}", "src/onnxsmith/__init__.py": ""},
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.setattr(alone, "ROOT", tmp_path)
    for options, status in (([], 0), (["--order", "1"], 1)):
        monkeypatch.setattr("sys.argv", ["alone", *options])
        assert alone.main() == status


def test_a_file_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["alone", "tests/nosuch"])
    with pytest.raises(SystemExit):
        alone.main()
    assert "there is no file tests/nosuch" in capsys.readouterr().err


def test_a_mutant_is_noticed_by_the_tests_that_see_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "repository"
    files = {
        "src/onnxsmith/__init__.py": "",
        "src/onnxsmith/seen.py": "def f(a):\n    return a < 2\n",
        "src/onnxsmith/far.py": "def g(a):\n    return a < 3\n",
        "src/onnxsmith/unseen.py": "def h(a):\n    return a < 4\n",
        "tests/test_seen.py": "from onnxsmith.seen import f\n\ndef test_f():\n    assert f(1) is True\n",
        "tests/test_far.py": "def test_nothing():\n    pass\n",
        "tests/other/test_all.py": (
            "from onnxsmith.far import g\nfrom onnxsmith.unseen import h\n\n"
            "def test_g():\n    assert g(1) is True\n\ndef test_h():\n    h(1)\n"
        ),
    }
    written(root, files)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    mutations = [
        next(each for each in mutations_of(f"src/onnxsmith/{name}.py", files[f"src/onnxsmith/{name}.py"]))
        for name in ("seen", "far", "unseen")
    ]
    outcomes = Hunt(root, mutations, 1, tmp_path / "scratch").outcomes()
    assert [(each.by_nearest, each.by_executing, each.asked) for each in outcomes] == [
        (True, True, 0),
        (False, True, 2),
        # `return None` for what nobody looks at.
        (False, False, 2),
    ]
    assert "caught   src/onnxsmith/seen.py:2" in capsys.readouterr().out
    # Where it is known which files execute a line, no other file is run.
    known = {"tests/other/test_all.py": {"src/onnxsmith/far.py": [2]}}
    (outcome,) = Hunt(root, mutations[1:2], 1, tmp_path / "again").outcomes(executed=known)
    assert (outcome.by_executing, outcome.asked) == (True, 1)
    (outcome,) = Hunt(root, mutations[1:2], 1, tmp_path / "nothing").outcomes(0)
    assert not outcome.by_executing


def test_a_mutant_that_hangs_is_caught_and_counted_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tools.mutants.hunt.SECONDS", 3)
    source = "def f(a):\n    while not a:\n        a = True\n        continue\n"
    test = "from onnxsmith.loop import f\n\ndef test_f():\n    f(False)\n"
    root = tmp_path / "repository"
    written(
        root, {"src/onnxsmith/__init__.py": "", "src/onnxsmith/loop.py": source, "tests/test_loop.py": test}
    )
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    mutations = [each for each in mutations_of("src/onnxsmith/loop.py", source) if each.after == "(False)"]
    (outcome,) = Hunt(root, mutations, 1, tmp_path / "scratch").outcomes()
    assert (outcome.by_nearest, outcome.by_time) == (True, True)
    assert "test_loop.py, which hung" in capsys.readouterr().out
