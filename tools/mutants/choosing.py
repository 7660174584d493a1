"""Chooses the test file of a module that has no mirrored one: it executes most of the module and is about it.

A maintainer looks for such a file by its name, its folder and its imports. Which lines tests execute is measured by
`alone.py`; nothing here runs a test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.check_sizes import is_generated, python_files
from tools.mutants.mutations import mutations_of
from tools.mutants.nearest import (
    closeness,
    families_of,
    imports_of_tests,
    levels_of_tests,
    mirrored,
    module_name,
    shelf_of,
    words_in_common,
)

#: The lines that a test file executes, by module.
Lines = Mapping[str, Iterable[int]]

#: What it counts that a test file imports the module or is declared as the table of cases of its folder, has a word of
#: its name, and stands in the same folder. A file that has all of them is taken before one that executes three times as
#: much.
IMPORTS, WORDS, FOLDERS = 1.0, 1.0, 0.6
#: What each module counts through which a test file imports it, and for how many that is followed.
LEVELS, FARTHEST = 0.25, 5
#: What it counts that a test file is the nearest one of all modules of the same folder; of a part of them, that part.
FAMILIES = 2.0
#: Files are equal whose scores differ by no more than this.
NEARLY = 0.93
#: A file that executes less than this part of a module is not about it.
LEAST_SHARE = 0.2


def breakable_lines(file: str, source: str) -> set[int]:
    """The lines that could be broken in the functions of a module: the others are executed by every import."""
    functions = [
        each
        for each in ast.walk(ast.parse(source))
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    inside = {line for each in functions for line in range(each.lineno, (each.end_lineno or 0) + 1)}
    return inside & {each.line for each in mutations_of(file, source)}


def chosen(root: Path, file: str, lines: set[int], executed: Mapping[str, Lines]) -> str | None:
    """The test file that executes most lines of a module and is about it; None where none executes a fifth of them.

    Of files that are nearly equal in this, the one is taken that executes the fewest lines of other modules: a file
    that executes everything asserts little about this module.
    """
    scores: dict[str, float] = {}
    for test, found in executed.items():
        share = len(lines.intersection(found.get(file, ()))) / max(1, len(lines))
        if share >= LEAST_SHARE:
            scores[test] = share * _nearness(root, file, test)
    equal = [test for test, score in scores.items() if score >= NEARLY * max(scores.values())]
    return min(equal, key=lambda test: sum(len(set(each)) for each in executed[test].values()), default=None)


def by_nearness(root: Path, file: str, line: int, executed: Mapping[str, Lines] | None = None) -> list[str]:
    """The test files that are about a module first, then those that lead to it through few others.

    Files that are about the modules beside it come early, too.
    Of equals, where it is known which lines they execute, the one that executes the fewest comes first: it asserts
    most about each. Files that do not execute the line are left out then; of a line in no function, those that
    execute nothing of the module.
    """
    levels = levels_of_tests(root, Path(file))
    found = [str(test) for test in imports_of_tests(root)]
    breadth: dict[str, int] = {}
    if executed is not None:
        is_inside = line in breakable_lines(file, (root / file).read_text())
        found = [
            test
            for test, lines in executed.items()
            if (of_file := set(lines.get(file, ()))) and (line in of_file or not is_inside)
        ]
        breadth = {test: sum(len(set(each)) for each in executed[test].values()) for test in found}

    families = families_of(root, Path(file).parent)

    def distance(test: str) -> tuple[float, int, float, str]:
        path = Path(test)
        near = _nearness(root, file, test) + FAMILIES * families.get(path, 0)
        far = min(levels.get(path, FARTHEST), FARTHEST) * LEVELS
        return round(far - near, 6), breadth.get(test, 0), -closeness(Path(file), path)[1], test

    return sorted(found, key=distance)


def _nearness(root: Path, file: str, test: str) -> float:
    """From 1, for a test file that only happens to execute a module, to 3 or so, for one that is about it."""
    module, path = Path(file), Path(test)
    imported = imports_of_tests(root).get(path, frozenset())
    is_meant = module_name(module) in imported or shelf_of(root, module) == path
    if not is_meant and any(each.rpartition(".")[2].startswith("test_") for each in imported):
        return 1  # it borrows the cases of another test file, and those are about what that file is about
    folders, shared = len(module.parts) - 3, closeness(module, path)[0]
    # A word of another package's often means something else there.
    words = words_in_common(module, path) * (1 if shared else 0.5)
    return 1 + IMPORTS * is_meant + WORDS * words + FOLDERS * min(shared / max(1, folders), 1)


def table(root: Path, executed: Mapping[str, Lines]) -> dict[str, str]:
    """The test file of each module that has no mirrored one, as far as tests execute it."""
    found: dict[str, str] = {}
    for path in python_files(root / "src"):
        file = str(path.relative_to(root))
        if path.suffix != ".py" or is_generated(path) or mirrored(root, file) is not None:
            continue
        test = chosen(root, file, breakable_lines(file, path.read_text()), executed)
        if test is not None:
            found[file] = test
    return found
