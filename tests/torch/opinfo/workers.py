"""Runs cases in processes of their own, one after the other or several at once.

A case that takes too long is stopped; a process that dies (ONNX Runtime may crash) is replaced. Knows cases by
their names only, so that both suites use it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from tests.torch.opinfo.outcomes import Record

#: Runs one case, by name; None if there is no such case.
Runner = Callable[[str], Record | None]

#: What the process gets on top of its own limit to say so itself.
_GRACE_SECONDS = 15
_START_SECONDS = 120
#: torch keeps what it compiled and traced; a new process from time to time bounds that.
_CASES_PER_PROCESS = 400


class TookTooLong(BaseException):
    """The alarm rang. No Exception, so that no handler on the way takes it for an error of the export."""


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TookTooLong inside the block when the time is over; only in the main thread of Unix systems."""

    def ring(*_: Any) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _serve(
    make_runner: Callable[..., Runner], options: tuple[Any, ...], limit: int, pipe: Connection
) -> None:
    # torch prints graphs when it cannot trace them; what counts goes through the pipe.
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open as long as the process
    runner = make_runner(*options)
    pipe.send("ready")
    while True:
        name, group = pipe.recv()
        if name is None:
            return
        try:
            with time_limit(limit):
                record = runner(name)
        except TookTooLong:
            record = Record(name, group, "export_error", f"took more than {limit} s", limit)
        except Exception as error:
            # Exporters' errors are outcomes; one that comes this far is the suite's own.
            record = Record(name, group, "export_error", f"the suite failed: {error!r}"[:300])
        pipe.send(record)


class _Worker:
    """One process and the case that it is at."""

    def __init__(self, make_runner: Callable[..., Runner], options: tuple[Any, ...], limit: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(make_runner, options, limit, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.limit = limit
        self.done = 0
        self.case: tuple[str, str] | None = None
        self.deadline = time.monotonic() + _START_SECONDS
        if not self.pipe.poll(_START_SECONDS) or self.pipe.recv() != "ready":
            raise RuntimeError("a worker process did not start")

    def give(self, case: tuple[str, str]) -> None:
        self.case = case
        self.done += 1
        self.deadline = time.monotonic() + self.limit + _GRACE_SECONDS
        self.pipe.send(case)

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.send((None, None))
        self.process.join(2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


def run_all(
    cases: Sequence[tuple[str, str]],
    make_runner: Callable[..., Runner],
    options: tuple[Any, ...],
    *,
    jobs: int = 1,
    limit: int = 60,
) -> Iterator[Record]:
    """The records of the cases (name and group), as they come. `make_runner(*options)` runs in each process."""
    waiting = list(reversed(cases))
    workers: list[_Worker] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                worker = _Worker(make_runner, options, limit)
                workers.append(worker)
                worker.give(waiting.pop())
            nearest = min(worker.deadline for worker in workers)
            ready = wait([worker.pipe for worker in workers], max(0.1, nearest - time.monotonic()))
            for worker in list(workers):
                if worker.pipe not in ready and time.monotonic() < worker.deadline:
                    continue
                record, is_usable = _result(worker)
                if record is not None:
                    yield record
                if is_usable and waiting and worker.done < _CASES_PER_PROCESS:
                    worker.give(waiting.pop())
                else:
                    workers.remove(worker)
                    worker.stop()
    finally:
        for worker in workers:
            worker.process.kill()


def _result(worker: _Worker) -> tuple[Record | None, bool]:
    """What a worker answered, and whether it can go on."""
    assert worker.case is not None
    name, group = worker.case
    lost = Record(name, group, "rejected")
    if not worker.pipe.poll():
        return replace(lost, outcome="export_error", error=f"hung for more than {worker.limit} s"), False
    try:
        return worker.pipe.recv(), True
    except EOFError:
        worker.process.join(5)
        return replace(lost, error=f"the process died with status {worker.process.exitcode}"), False
