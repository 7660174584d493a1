"""Workers that take cases along roads: a death or a hang is an outcome, and another worker goes on with the rest."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.laws.case import Case
from tests.laws.messages import LATE, Child
from tests.laws.outcome import Outcome

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20.0
#: Importing everything takes its time on a busy machine.
START_SECONDS = 120.0


class Worker:
    """One process; started when it is first asked, and again after its end.

    `module` is the program that takes a case along roads; the one of other laws may have other cases.
    """

    def __init__(self, seconds: float = SECONDS, module: str = "tests.laws.worker") -> None:
        self._seconds = seconds
        self._module = module
        self._child: Child | None = None

    def outcomes(self, case: object, roads: Sequence[str]) -> dict[str, Outcome]:
        """What comes of a case on each of these roads."""
        found: dict[str, Outcome] = {}
        while len(found) < len(roads):
            child = self._started()
            rest = list(roads[len(found) :])
            child.send((case, rest))
            # One road that hangs is a finding; that the others do, too, need not be waited for as long.
            is_slow = any(each.kind == "hang" for each in found.values())
            for road in rest:
                answer = child.receive(self._seconds / (4 if is_slow else 1))
                if not isinstance(answer, Outcome):
                    found[road] = self._end(is_late=answer == LATE)
                    break
                found[road] = answer
        return found

    def stop(self) -> None:
        """End the process."""
        if self._child is not None:
            self._end(is_late=True)

    def _started(self) -> Child:
        if self._child is None:
            path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
            command = [sys.executable, "-W", "ignore", "-m", self._module]
            self._child = Child(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path})
            ready = self._child.receive(START_SECONDS)
            assert ready == "ready", ready
        return self._child

    def _end(self, *, is_late: bool) -> Outcome:
        child, self._child = self._child, None
        assert child is not None
        end = child.end(kill=is_late)
        return Outcome("hang", name=f"over {self._seconds:g} s") if is_late else Outcome("died", name=end)


class Pool:
    """Several workers, one for each thread that asks."""

    def __init__(self, jobs: int, seconds: float = SECONDS, module: str = "tests.laws.worker") -> None:
        self._jobs = jobs
        self._seconds = seconds
        self._module = module
        self._mine = threading.local()
        self._workers: list[Worker] = []

    def worker(self) -> Worker:
        """The worker of this thread."""
        if not hasattr(self._mine, "worker"):
            self._mine.worker = Worker(self._seconds, self._module)
            self._workers.append(self._mine.worker)
        return self._mine.worker

    def map(self, judge: Any, cases: Iterable[Case]) -> Iterator[Any]:
        """`judge(worker, case)` of every case, in order."""
        try:
            with ThreadPoolExecutor(self._jobs) as threads:
                yield from threads.map(lambda case: judge(self.worker(), case), cases)
        finally:
            for each in self._workers:
                each.stop()
