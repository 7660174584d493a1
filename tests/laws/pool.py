"""Workers that take cases along roads: a death or a hang is an outcome, and another worker goes on with the rest."""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.laws.case import Case
from tests.laws.outcome import Outcome
from tests.laws.worker import send

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20.0


class Worker:
    """One process; started when it is first asked, and again after its end."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""

    def outcomes(self, case: Case, roads: Sequence[str]) -> dict[str, Outcome]:
        """What comes of a case on each of these roads."""
        found: dict[str, Outcome] = {}
        while len(found) < len(roads):
            process = self._started()
            assert process.stdin is not None
            rest = list(roads[len(found) :])
            send(process.stdin, (case, rest))
            # One road that hangs is a finding; that the others do, too, need not be waited for as long.
            is_slow = any(each.kind == "hang" for each in found.values())
            for road in rest:
                answer = self._receive(process, self._seconds / (4 if is_slow else 1))
                found[road] = answer if isinstance(answer, Outcome) else self._end(answer == "late")
                if self._process is None:
                    break
        return found

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._end(True)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
            self._buffer = b""
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "tests.laws.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": path},
            )
            ready = self._receive(self._process, 120.0)
            assert ready == "ready", ready
        return self._process

    def _end(self, is_late: bool) -> Outcome:
        process, self._process = self._process, None
        assert process is not None
        if is_late:
            process.kill()
        code = process.wait()
        if is_late:
            return Outcome("hang", name=f"over {self._seconds:g} s")
        return Outcome("died", name=signal.Signals(-code).name if code < 0 else f"exit {code}")

    def _receive(self, process: subprocess.Popen[bytes], seconds: float) -> Any:
        """A message, or "late", or None when the process ended."""
        assert process.stdout is not None
        end = time.monotonic() + seconds
        while len(self._buffer) < 8 or len(self._buffer) < 8 + struct.unpack("<Q", self._buffer[:8])[0]:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return "late"
            chunk = os.read(process.stdout.fileno(), 1 << 20)
            if not chunk:
                return None
            self._buffer += chunk
        length = struct.unpack("<Q", self._buffer[:8])[0]
        message = pickle.loads(self._buffer[8 : 8 + length])
        self._buffer = self._buffer[8 + length :]
        return message


class Pool:
    """Several workers, one for each thread that asks."""

    def __init__(self, jobs: int, seconds: float = SECONDS) -> None:
        self._jobs = jobs
        self._seconds = seconds
        self._mine = threading.local()
        self._workers: list[Worker] = []

    def worker(self) -> Worker:
        """The worker of this thread."""
        if not hasattr(self._mine, "worker"):
            self._mine.worker = Worker(self._seconds)
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
