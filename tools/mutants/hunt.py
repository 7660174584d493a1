"""Tries mutants in copies of the repository: the nearest test file first, then the next ones in the order of nearness.

The examples in a module's docstrings are run with its nearest test file. Which tests execute a line need not be known:
a test that passes on the original and fails on a mutant executes it. So test files run whole, the nearest first, until
one fails. This counts lines of tables, too, which modules execute when they are imported, before any test begins.
What is left after the last file that may be run is a survivor: the figure is a lower bound, and grows with `--files`.
"""

from __future__ import annotations

import queue
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.choosing import Lines, by_nearness
from tools.mutants.copies import NOTHING_RUN, PASSED, TIMED_OUT, Copy
from tools.mutants.mutations import Mutation
from tools.mutants.nearest import mirrored, nearest

#: How many seconds of CPU a run may take. A mutant that hangs is caught, and its line says so.
SECONDS = 600
#: How many files run beside the nearest, and how many of them in the first process: each later one takes twice as many.
FILES, FIRST_FILES = 40, 3


@dataclass
class Outcome:
    """What became of a mutant. `asked` counts the test files that ran beside the nearest, `by_time` that it hung."""

    place: str
    before: str
    after: str
    nearest: str
    is_mirrored: bool
    by_nearest: bool
    by_executing: bool
    by_time: bool = False
    asked: int = 0


class Hunt:
    """Mutants, and copies of the repository to try them in."""

    def __init__(self, root: Path, mutations: list[Mutation], jobs: int, scratch: Path) -> None:
        self._root = root
        self._mutations = mutations
        self._jobs = jobs
        self._copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(jobs):
            self._copies.put(Copy(root, scratch / f"copy{number}"))

    def _status(self, mutation: Mutation, tests: list[str]) -> int:
        """The exit status of tests, which pass on the original (`dev.py alone` says so), on the mutant."""
        copy = self._copies.get()
        source = (copy.folder / mutation.file).read_bytes()
        try:
            copy.write(mutation.file, mutation.applied(source))
            return copy.pytest(["-n", "0", "-x", *tests], SECONDS)
        finally:
            copy.write(mutation.file, source)
            self._copies.put(copy)

    def _near(self, mutation: Mutation) -> Outcome:
        test = nearest(self._root, mutation.file)
        # Examples in the docstrings of the module are its nearest tests of all.
        has_examples = ">>> " in (self._root / mutation.file).read_text()
        status = self._status(mutation, [*([mutation.file] if has_examples else []), str(test)])
        noticed = status not in (PASSED, NOTHING_RUN)
        outcome = Outcome(
            f"{mutation.file}:{mutation.line}",
            mutation.before((self._root / mutation.file).read_bytes()),
            mutation.after,
            str(test),
            mirrored(self._root, mutation.file) is not None,
            noticed,
            noticed,
            status == TIMED_OUT,
        )
        hung = ", which hung" if outcome.by_time else ""
        print(f"{'caught  ' if noticed else 'survived'} {outcome.place} by {test}{hung}", flush=True)
        return outcome

    def _far(self, mutation: Mutation, outcome: Outcome, tests: list[str]) -> None:
        """Run test files until one fails. One that hangs may be a slow one here: it counts as none that failed."""
        count = FIRST_FILES
        while tests and not outcome.by_executing:
            status = self._status(mutation, tests[:count])
            outcome.by_executing = status not in (PASSED, NOTHING_RUN, TIMED_OUT)
            outcome.asked += len(tests[:count])
            tests, count = tests[count:], 2 * count
        said = "caught  " if outcome.by_executing else "SURVIVED"
        print(f"{said} {outcome.place} by {outcome.asked} more test files", flush=True)

    def nearest(self) -> list[Outcome]:
        """What the mirrored or nearest test file of each mutant says."""
        with ThreadPoolExecutor(self._jobs) as pool:
            return list(pool.map(self._near, self._mutations))

    def outcomes(self, files: int = FILES, executed: Mapping[str, Lines] | None = None) -> list[Outcome]:
        """What became of each mutant. Survivors of the nearest file run with as many of the next ones.

        Where it is known which lines test files execute, these are files that execute the line.
        """
        outcomes = self.nearest()
        left = [pair for pair in zip(self._mutations, outcomes, strict=True) if not pair[1].by_nearest]
        tests = [
            [test for test in by_nearness(self._root, each.file, each.line, executed) if test != near.nearest]
            for each, near in left
        ]
        with ThreadPoolExecutor(self._jobs) as pool:
            list(pool.map(self._far, *zip(*left, strict=True), [found[:files] for found in tests]))
        return outcomes
