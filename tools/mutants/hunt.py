"""Tries mutants in copies of the repository: the nearest test file first, then the tests that execute the line.

The examples in a module's docstrings are run with its nearest test file.
"""

from __future__ import annotations

import queue
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tools.mutants.choosing import Lines, executors
from tools.mutants.copies import NOTHING_RUN, PASSED, Copy
from tools.mutants.executing import executing_tests, spread
from tools.mutants.mutations import Mutation
from tools.mutants.nearest import closeness, mirrored, nearest, words_in_common

#: How many of the tests that execute a line are asked, and how long a run may take: a mutant that hangs is caught.
TESTS, SECONDS = 200, 600.0
#: In how many files such tests are looked for, where it is known which files execute the line.
FILES = 12


@dataclass
class Outcome:
    """What became of a mutant. `executed_by` counts the tests that execute its line."""

    place: str
    before: str
    after: str
    nearest: str
    is_mirrored: bool
    by_nearest: bool
    by_executing: bool
    executed_by: int = 0


class Hunt:
    """Mutants, and copies of the repository to try them in."""

    def __init__(self, root: Path, mutations: list[Mutation], jobs: int, scratch: Path) -> None:
        self._root = root
        self._mutations = mutations
        self._scratch = scratch
        self._jobs = jobs
        self._copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(jobs):
            self._copies.put(Copy(root, scratch / f"copy{number}"))

    def _is_noticed(self, mutation: Mutation, tests: list[str]) -> bool:
        """Whether the tests fail on the mutant, having passed on the original."""
        copy = self._copies.get()
        source = (copy.folder / mutation.file).read_bytes()
        try:
            copy.write(mutation.file, mutation.applied(source))
            status = copy.pytest(["-n", "0", "-x", *tests], SECONDS)
        finally:
            copy.write(mutation.file, source)
            self._copies.put(copy)
        return status not in (PASSED, NOTHING_RUN)

    def _near(self, mutation: Mutation) -> Outcome:
        test = nearest(self._root, mutation.file)
        # Examples in the docstrings of the module are its nearest tests of all.
        has_examples = ">>> " in (self._root / mutation.file).read_text()
        noticed = self._is_noticed(mutation, [*([mutation.file] if has_examples else []), str(test)])
        outcome = Outcome(
            f"{mutation.file}:{mutation.line}",
            mutation.before((self._root / mutation.file).read_bytes()),
            mutation.after,
            str(test),
            mirrored(self._root, mutation.file) is not None,
            noticed,
            noticed,
        )
        print(f"{'caught  ' if noticed else 'survived'} {outcome.place} by {test}", flush=True)
        return outcome

    def _far(self, mutation: Mutation, outcome: Outcome, tests: list[str]) -> None:
        outcome.executed_by = len(tests)
        order = partial(_distance, Path(mutation.file))
        chosen = spread(tests, outcome.nearest, TESTS, first=order)
        outcome.by_executing = bool(chosen) and self._is_noticed(mutation, chosen)
        print(
            f"{'caught  ' if outcome.by_executing else 'SURVIVED'} {outcome.place}, executed by {len(tests)} tests",
            flush=True,
        )

    def nearest(self) -> list[Outcome]:
        """What the mirrored or nearest test file of each mutant says."""
        with ThreadPoolExecutor(self._jobs) as pool:
            return list(pool.map(self._near, self._mutations))

    def outcomes(
        self, tests: list[str], suite_seconds: float, executed: Mapping[str, Lines] | None = None
    ) -> list[Outcome]:
        """What became of each mutant. Tests run once, to find which of them execute the lines of survivors.

        They are the given ones, or those of files that are known to execute these lines, or the whole suite.
        """
        outcomes = self.nearest()
        left = [pair for pair in zip(self._mutations, outcomes, strict=True) if not pair[1].by_nearest]
        if executed is not None:
            near = [executors(self._root, each.file, each.line, executed, FILES) for each, _ in left]
            tests = sorted({*tests, *(test for found in near for test in found)})
        if not left or (executed is not None and not tests):
            return outcomes
        print(f"running tests to find those that execute {len(left)} lines", flush=True)
        copy = self._copies.get()
        executing = executing_tests(
            copy, [mutation for mutation, _ in left], tests, self._scratch / "hits", suite_seconds
        )
        self._copies.put(copy)
        with ThreadPoolExecutor(self._jobs) as pool:
            list(pool.map(self._far, *zip(*left, strict=True), executing))
        return outcomes


def _distance(file: Path, test: str) -> tuple[float, float, str]:
    """Sorts test files by how far they are from a module."""
    folders, similarity = closeness(file, Path(test))
    return -words_in_common(file, Path(test)) - folders, -similarity, test
