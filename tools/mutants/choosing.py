"""Chooses the test file of a module that has no mirrored one: it calls most of the module and is about it.

A maintainer looks for such a file by its name, its folder and its imports. Which functions tests call is measured by
`alone.py`; nothing here runs a test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.check_sizes import is_generated, python_files
from tools.mutants.mutations import mutations_of
from tools.mutants.nearest import closeness, imports_of_tests, mirrored, module_name, words_in_common

#: The functions that a test file calls: their first lines, by module.
Calls = Mapping[str, Iterable[int]]

#: What it counts that a test file imports the module, has a word of its name, and stands in the same folder. A file
#: that has all of them is taken before one that calls three times as much.
IMPORTS, WORDS, FOLDERS = 1.0, 1.0, 0.6
#: A file that calls less than this part of a module is not about it.
LEAST_SHARE = 0.25


def function_weights(file: str, source: str) -> dict[int, int]:
    """How many lines of each function could be broken, by its first line, decorators included; 0 is the module."""
    functions = _functions(source)
    result: dict[int, int] = {}
    for line in {each.line for each in mutations_of(file, source)}:
        first = _first_line(functions, line)
        result[first] = result.get(first, 0) + 1
    return result


_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def _functions(source: str) -> list[_Function]:
    return [each for each in ast.walk(ast.parse(source)) if isinstance(each, _Function)]


def _first_line(functions: Iterable[_Function], line: int) -> int:
    """The first line of the innermost function around a line; 0 where there is none."""
    around = [each for each in functions if each.lineno <= line <= (each.end_lineno or 0)]
    if not around:
        return 0
    inner = max(around, key=lambda each: each.lineno)
    decorators = [] if isinstance(inner, ast.Lambda) else inner.decorator_list
    return min([inner.lineno, *(each.lineno for each in decorators)])


def callers(root: Path, file: str, line: int, calls: Mapping[str, Calls], most: int) -> list[str]:
    """The test files that call the function around a line, those that are about its module first.

    Where no function stands around it, they are those that call anything of the module.
    """
    first = _first_line(_functions((root / file).read_text()), line)
    found = [
        test
        for test, called in calls.items()
        if (lines := set(called.get(file, ()))) and (first in lines or not first)
    ]
    return sorted(found, key=lambda test: (-_nearness(root, file, test), test))[:most]


def chosen(root: Path, file: str, weights: Mapping[int, int], calls: Mapping[str, Calls]) -> str | None:
    """The test file that calls most of a module and is about it; None where no file calls a quarter of it.

    Of files that are equal in this, the one is taken that calls the fewest functions of other modules: a file that
    calls everything asserts nothing about this module.
    """
    called = {test: set(found.get(file, ())) for test, found in calls.items()}
    best, result = (0.0, 0), None
    for test, found in called.items():
        share = sum(weights.get(each, 0) for each in found) / max(1, sum(weights.values()))
        if share < LEAST_SHARE:
            continue
        breadth = sum(len(set(each)) for each in calls[test].values())
        score = (round(share * _nearness(root, file, test), 2), -breadth)
        if result is None or score > best:
            best, result = score, test
    return result


def _nearness(root: Path, file: str, test: str) -> float:
    """From 1, for a test file that only happens to call a module, to 3 or so, for one that is about it."""
    module, path = Path(file), Path(test)
    is_importer = module_name(module) in imports_of_tests(root).get(path, frozenset())
    folders = len(module.parts) - 3
    shared = min(closeness(module, path)[0] / folders, 1.0) if folders else 0.0
    return 1 + IMPORTS * is_importer + WORDS * words_in_common(module, path) + FOLDERS * shared


def table(root: Path, calls: Mapping[str, Calls]) -> dict[str, str]:
    """The test file of each module that has no mirrored one, as far as tests call it."""
    found: dict[str, str] = {}
    for path in python_files(root / "src"):
        file = str(path.relative_to(root))
        if path.suffix != ".py" or is_generated(path) or mirrored(root, file) is not None:
            continue
        test = chosen(root, file, function_weights(file, path.read_text()), calls)
        if test is not None:
            found[file] = test
    return found
