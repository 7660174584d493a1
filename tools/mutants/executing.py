"""The tests that execute given pieces of code, found by one run of tests with a probe in each piece.

Coverage with a context for each test would answer it for all lines, and takes several times as long as the suite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tools.mutants.copies import Copy
from tools.mutants.mutations import Mutation

PROBE = "mutant_probe"
_MODULE = '''"""Notes which test executes which mutant's code."""

import os

_seen = set()


def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if test and (number, test) not in _seen:
        _seen.add((number, test))
        with open(os.path.join(os.environ["MUTANT_HITS"], str(os.getpid())), "a") as file:
            file.write(f"{number} {test}\\n")
    return False
'''


def executing_tests(
    copy: Copy, mutations: Sequence[Mutation], tests: Sequence[str], folder: Path, seconds: float
) -> list[list[str]]:
    """For each mutation the tests that execute its code; those of collection are not among them."""
    originals = {each.file: (copy.folder / each.file).read_bytes() for each in mutations}
    folder.mkdir()
    (copy.folder / f"{PROBE}.py").write_text(_MODULE)
    # From the end of a file to its start, so that the positions of those to come still hold.
    order = sorted(
        range(len(mutations)), key=lambda n: (mutations[n].line, mutations[n].column), reverse=True
    )
    contents = dict(originals)
    for number in order:
        each = mutations[number]
        contents[each.file] = each.probed(contents[each.file], f"__import__({PROBE!r}).hit({number})")
    for file, content in contents.items():
        copy.write(file, content)
    copy.pytest(tests, seconds, {"MUTANT_HITS": str(folder)})
    for file, content in originals.items():
        copy.write(file, content)
    found: list[dict[str, None]] = [{} for _ in mutations]
    for path in folder.iterdir():
        for line in path.read_text().splitlines():
            number, _, test = line.partition(" ")
            found[int(number)][test] = None
    return [list(each) for each in found]


def spread(tests: Sequence[str], past: str, limit: int, *, first: Callable[[str], Any]) -> list[str]:
    """As many tests as allowed, one of each file in turn, without those of the file that was run before.

    Files are taken in the order of the key `first`.
    """
    by_file: dict[str, list[str]] = {}
    for each in sorted(tests):
        by_file.setdefault(each.partition("::")[0], []).append(each)
    by_file.pop(past, None)
    by_file = {file: by_file[file] for file in sorted(by_file, key=first)}
    chosen: list[str] = []
    while by_file and len(chosen) < limit:
        for file in list(by_file):
            chosen.append(by_file[file].pop(0))
            if not by_file[file]:
                del by_file[file]
    return chosen[:limit]
