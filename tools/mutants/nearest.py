"""The test file that a maintainer would run after a change of a module: the mirrored one, or the nearest to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

#: Folders of tests that have another name than their package.
_RENAMED = {"decompiling": "decompile"}
#: Folders whose modules hold entries of one kind, and the table of cases that takes them all. A deeper folder wins.
_SHELVES = {
    "algorithms/complex_numbers": "tests/numpy/ufuncs/test_loops.py",
    "algorithms/linalg": "tests/numpy/test_matrices.py",
    "algorithms/special": "tests/numpy/test_special_functions.py",
    "cli/declared": "tests/cli/declared/test_declared.py",
    "comparing": "tests/comparing/test_compare.py",
    "costs": "tests/inspection/test_summary.py",
    "decompiling": "tests/decompile/test_texts.py",
    "errors": "tests/errors/test_catalogue.py",
    "grad/rules": "tests/grad/test_node_gradients.py",
    "numpy/matrices": "tests/numpy/test_matrices.py",
    "numpy/ufuncs": "tests/numpy/ufuncs/test_loops.py",
    "passes/fusions": "tests/passes/fusions/test_fusions.py",
    "passes/side_by_side": "tests/passes/side_by_side/test_loops.py",
    "passes/versions/down": "tests/passes/versions/test_backend_cases.py",
    "passes/versions/up": "tests/passes/versions/test_up.py",
    "runtime/facts": "tests/runtime/facts/test_probes.py",
    "schema/inference/rules": "tests/schema/inference/test_node_cases.py",
    "sklearn/families": "tests/sklearn/test_estimators.py",
    "torch/library": "tests/torch/test_functional.py",
    "torch/library/linalg": "tests/torch/test_linalg.py",
}
#: Modules without a mirrored test file, and the one that calls most of each, as `alone.py` measured it.
TABLE = "tools/mutants/tested_by.txt"


@lru_cache(maxsize=8)
def tabled(root: Path) -> dict[str, str]:
    """The test file of modules, as measured; what was moved since is left out."""
    path = root / TABLE
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = [line.split() for line in lines if not line.startswith("#")]
    return {file: test for file, test in pairs if (root / file).exists() and (root / test).exists()}


@lru_cache(maxsize=8)
def _imports(root: Path, folder: str, pattern: str) -> dict[Path, frozenset[str]]:
    """Every file below a folder, with the modules that it imports, or names in texts to load them late."""
    return {path.relative_to(root): _imported(path) for path in sorted((root / folder).rglob(pattern))}


#: A module that a text names, and what is taken from it. Modules that name nearly all others say nothing about tests.
_NAMED = re.compile(r"(onnxsmith(?:\.\w+)+)(?::\w+)?")
_NAME_EVERYTHING = frozenset({"onnxsmith", "onnxsmith.graphs.capabilities"})


def _imported(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if named := _NAMED.fullmatch(node.value):
                names.add(named[1])
            elif path.stem == "lazy_index":  # it names modules of its own package
                names.add(f"{'.'.join(path.parts[path.parts.index('onnxsmith') : -1])}.{node.value}")
    return frozenset(names)


def imports_of_tests(root: Path) -> dict[Path, frozenset[str]]:
    """Every test file, with the modules that it imports."""
    return _imports(root, "tests", "test_*.py")


def module_name(file: Path) -> str:
    """The name under which a file below `src` is imported."""
    return ".".join(file.relative_to("src").with_suffix("").parts).removesuffix(".__init__")


def mirrored(root: Path, file: str | Path) -> Path | None:
    """The test file in the same place below `tests`; None where there is none."""
    module = Path(file).relative_to("src/onnxsmith")
    folder = Path("tests", *(_RENAMED.get(part, part) for part in module.parts[:-1]))
    name = module.parent.name if module.stem == "__init__" else module.stem.lstrip("_")
    found = folder / f"test_{name}.py"
    return found if (root / found).exists() else None


def nearest(root: Path, file: str) -> Path:
    """The mirrored test file, or the one that calls most of the module, or that of its name, shelf or importer.

    Importers matter for modules that no table has. They are followed from module to module, until one has
    a test file. Of several the one is taken that stands nearest and has the most similar name.
    """
    start = Path(file)
    own = _own(root, start)
    if own is not None:
        return own
    for folder in start.relative_to("src/onnxsmith").parents[1:-1]:
        above = Path("tests", *(_RENAMED.get(part, part) for part in folder.parts), f"test_{start.stem}.py")
        if (root / above).exists():
            return above
    shelf = shelf_of(root, start)
    if shelf is not None:
        return shelf
    levels = levels_of_tests(root, start)
    least = min(levels.values(), default=None)
    return _closest(start, [test for test in imports_of_tests(root) if levels.get(test) == least])


def _own(root: Path, file: Path) -> Path | None:
    """The mirrored test file of a module, or the measured one."""
    measured = tabled(root).get(str(file))
    return mirrored(root, file) or (None if measured is None else Path(measured))


@lru_cache(maxsize=256)
def families_of(root: Path, folder: Path) -> dict[Path, float]:
    """The test files of the modules beside a module, each with the part of them that it is the nearest file of.

    A file that is about many modules of a folder is often broad: it executes the others, too.
    """
    beside = [each for each in _imports(root, "src", "*.py") if each.parent == folder]
    tests = [_own(root, each) for each in beside]
    return {test: tests.count(test) / len(tests) for test in set(tests) if test is not None}


@lru_cache(maxsize=8)
def _modules_of_tests(root: Path) -> dict[Path, frozenset[str]]:
    """The modules that each test file imports, itself or through what it borrows from other tests, or is about.

    It is about the module that it mirrors, and those whose measured test file it is: what users write imports little.
    """
    shared = _imports(root, "tests", "*.py")
    public = dict(_public(root))
    found = {
        test: names.union(*(shared.get(_test_file(each), ()) for each in names))
        for test, names in shared.items()
    }
    about: dict[Path, set[str]] = {}
    for file in _imports(root, "src", "*.py"):
        test = _own(root, file)
        if test is not None:
            about.setdefault(test, set()).add(module_name(file))
    return {
        test: frozenset(public.get(each, each) for each in names) | about.get(test, set())
        for test, names in found.items()
        if test.name.startswith("test_")
    }


def _test_file(name: str) -> Path:
    return Path(*name.split(".")).with_suffix(".py")


def _public(root: Path) -> Iterable[tuple[str, str]]:
    """What `onnxsmith` loads late, with the module that it is loaded from."""
    path = root / "src" / "onnxsmith" / "__init__.py"
    for node in ast.walk(ast.parse(path.read_text() if path.exists() else "")):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                match key, value:
                    case ast.Constant(str(name)), ast.Constant(str(module)) if _NAMED.fullmatch(module):
                        yield f"onnxsmith.{name}", module
                    case _:
                        pass


def levels_of_tests(root: Path, file: Path) -> dict[Path, int]:
    """Through how many modules each test file leads to a module; modules that name all others lead nowhere."""
    levels: dict[Path, int] = {}
    seen, modules, level = {file}, {module_name(file)}, 0
    while modules:
        for test, names in _modules_of_tests(root).items():
            if names & modules:
                levels.setdefault(test, level)
        found = [each for each, names in _imports(root, "src", "*.py").items() if names & modules]
        modules = {module_name(each) for each in found if each not in seen} - _NAME_EVERYTHING
        seen.update(found)
        level += 1
    return levels


def shelf_of(root: Path, file: Path) -> Path | None:
    """The table of cases that takes the modules of a folder around a file; None where there is none."""
    found = (_SHELVES.get(each.as_posix()) for each in file.relative_to("src/onnxsmith").parents)
    return next((Path(each) for each in found if each is not None and (root / each).exists()), None)


def closeness(file: Path, test: Path) -> tuple[int, float]:
    """How many folders a module and a test file share, and how similar their names are."""
    folder = [_RENAMED.get(part, part) for part in file.parts[2:-1]]
    shared = 0
    for wanted, there in zip(folder, test.parts[1:-1], strict=False):
        if wanted != there:
            break
        shared += 1
    return shared, SequenceMatcher(None, test.stem.removeprefix("test_"), file.stem).ratio()


def words_in_common(file: Path, test: Path) -> float:
    """The part of the words of a module's name that a test file's name has, too: `index_items` and `test_indexing`."""
    name = file.parent.name if file.stem == "__init__" else file.stem
    wanted = [each for each in name.split("_") if len(each) > 2]
    there = test.stem.removeprefix("test_").split("_")
    found = [each for each in wanted if any(_is_one_word(each, other) for other in there)]
    return len(found) / max(1, len(wanted))


def _is_one_word(one: str, other: str) -> bool:
    """True if two words are forms of one: they differ in at most three letters at the end, of four or more."""
    differs = (k for k, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    shared = next(differs, min(len(one), len(other)))
    return one == other or (shared >= 4 and max(len(one), len(other)) - shared <= 3)


def _closest(file: Path, tests: Iterable[Path]) -> Path:
    return max(tests, key=lambda test: closeness(file, test))
