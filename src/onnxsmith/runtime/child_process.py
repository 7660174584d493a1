"""The child process that others' models run in: started, asked, watched, kept warm, ended.

Knows messages and limits of time, and nothing of models. What the process does with a message is in `isolated_child`.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, BinaryIO, cast

from onnxsmith.runtime import frames
from onnxsmith.runtime.frames import FrameError, Json, Message

#: So many bytes fit into a pipe, whoever reads it.
_PIPE_BYTES = 1 << 14
#: How much of what the process printed last is kept.
_LAST_LINES = 20


class Child:
    """The process, from its start to its end."""

    def __init__(self) -> None:
        self.last_lines: deque[bytes] = deque(maxlen=_LAST_LINES)
        self.timed_out = False
        #: True once it has the message, and runs the model.
        self.has_started = False
        self.nonsense: FrameError | None = None
        #: When an answer is too late, and what ends the thread that watches for it.
        self._deadline: float | None = None
        self._watching: threading.Event | None = None

    def start(self) -> None:
        """Start it."""
        self._environment, self._command = dict(os.environ), _command()
        # Not the session of a terminal: an interrupt there comes to us, and we end the process.
        self.process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.errors = threading.Thread(
            target=self._listen, args=[cast("IO[bytes]", self.process.stderr)], daemon=True
        )
        try:
            self.errors.start()
        except BaseException:  # an interrupt that comes now may leave no process behind, either
            self.close()
            raise

    def close(self) -> None:
        """End it."""
        self._no_watch()
        process = self.process
        process.kill()  # it has answered, or will not
        process.wait()
        if self.errors.is_alive():  # an interrupt may have come while it was being started
            self.errors.join()
        for file in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):  # a pipe whose other end is gone cannot be flushed
                cast("IO[bytes]", file).close()

    def answer(
        self, header: Mapping[str, Json], buffers: Sequence[memoryview], timeout: float | None
    ) -> Message | None:
        """The answer of the process, which goes on; None if it ended without one, or did not end in time."""
        self.has_started = False
        self.last_lines.clear()
        answers = cast(BinaryIO, self.process.stdout)
        # Inputs that fit into a pipe do not block; a thread for each run would cost more than most runs.
        is_first = "settings" in header
        is_small = not is_first and sum(each.nbytes for each in buffers) < _PIPE_BYTES
        writer = threading.Thread(target=self._tell, args=[header, buffers], daemon=True)
        found: Message | None = None
        try:
            for expected in ("ready", "started") if is_first else ():
                message = frames.read(answers)
                if message is None:
                    return self._no_answer()
                if message.header.get(expected) is not True:
                    found = message  # it failed before the model's turn
                    return found
                if expected == "ready":
                    writer.start()
            self.has_started = True
            if is_small:
                self._tell(header, buffers)
            elif not is_first:
                writer.start()
            # The model's time begins now: what it takes to start a process is not its fault.
            self._watch(timeout)
            found = frames.read(answers)
            if self._deadline is not None and time.monotonic() > self._deadline:
                self._time_is_up()  # the watching thread may come late
            return self._no_answer() if found is None or self.timed_out else found
        except FrameError as error:
            self.nonsense = error
            return self._no_answer()
        finally:
            self._deadline = None
            if found is None:
                self.process.kill()  # the writer may still wait for it
            if writer.is_alive():
                writer.join()

    def forget(self) -> bool:
        """Let it close the session that it has; False if it is gone."""
        self._no_watch()
        try:
            self._write({}, [])
        except (OSError, ValueError):
            return False
        return True

    def _no_answer(self) -> None:
        """Let it come to its end, for the exit code that says why."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_PATIENCE)

    def _tell(self, header: Mapping[str, Json], buffers: Sequence[memoryview]) -> None:
        with contextlib.suppress(OSError, ValueError):  # it ended before it had read all
            self._write(header, buffers)

    def _write(self, header: Mapping[str, Json], buffers: Sequence[memoryview]) -> None:
        file = cast("IO[bytes]", self.process.stdin)
        for each in frames.pieces(header, buffers):
            file.write(each)
        file.flush()  # and left open: that it closes tells the process that we are gone

    def _listen(self, file: IO[bytes]) -> None:
        with contextlib.suppress(ValueError):  # closed before this thread began
            for line in file:
                self.last_lines.append(line[:1000])

    def _watch(self, timeout: float | None) -> None:
        """End the process if its answer does not come in time; one thread does so for all runs of a session."""
        if timeout is None:
            return
        self._deadline = time.monotonic() + timeout
        if self._watching is None:
            self._watching = threading.Event()
            threading.Thread(target=self._end_in_time, args=[self._watching, timeout], daemon=True).start()

    def _end_in_time(self, is_over: threading.Event, timeout: float) -> None:
        left = timeout
        while not is_over.wait(left):
            deadline = self._deadline
            left = timeout if deadline is None else deadline - time.monotonic()
            if left <= 0:
                self._time_is_up()
                return

    def _no_watch(self) -> None:
        if self._watching is not None:
            self._watching.set()
            self._watching = None

    def _time_is_up(self) -> None:
        self.timed_out = True
        self.process.kill()

    @property
    def is_outdated(self) -> bool:
        """True if one that is started now would have other modules, or another environment."""
        return (self._environment, self._command) != (dict(os.environ), _command())

    @property
    def printed(self) -> str:
        """The last lines that it printed."""
        return b"".join(self.last_lines).decode(errors="replace").strip()


#: Seconds for a process that has closed its output to come to its end.
_PATIENCE = 5.0


def _command() -> list[str]:
    """Python, with our own modules, whatever the current folder holds."""
    path = json.dumps([each for each in sys.path if each])
    start = f"import sys; sys.path[:] = {path}; from onnxsmith.runtime.isolated_child import main; main()"
    return [sys.executable, "-I", "-c", start]


#: The process that waits for the next who needs one, of this process alone: a fork has none.
_waiting: list[tuple[int, Child]] = []
_waiting_lock = threading.Lock()


def first_answer(
    header: Mapping[str, Json], buffers: Sequence[memoryview], timeout: float | None
) -> tuple[Child, Message | None]:
    """A process, the one that waits or a new one, and its answer."""
    with _waiting_lock:
        owner, child = _waiting.pop() if _waiting else (0, None)
    if child is not None and owner == os.getpid() and not child.is_outdated:
        answer = _answer_of(child, header, buffers, timeout)
        if answer is not None or child.has_started:
            return child, answer
    if child is not None and owner == os.getpid():
        child.close()  # the system ends it with the thread that started it, before it gets the message
    child = Child()
    child.start()
    return child, _answer_of(child, header, buffers, timeout)


def _answer_of(
    child: Child, header: Mapping[str, Json], buffers: Sequence[memoryview], timeout: float | None
) -> Message | None:
    """The answer of a process, which an interrupt ends."""
    try:
        return child.answer(header, buffers, timeout)
    except BaseException:
        child.close()
        raise


def leave(child: Child) -> None:
    """Let a process wait for whoever needs one next, without the model that it has; one is enough."""
    with _waiting_lock:
        if not _waiting and child.forget():
            _waiting.append((os.getpid(), child))
            return
    child.close()


def end_waiting() -> None:
    """End the process that waits."""
    with _waiting_lock:
        while _waiting:
            _waiting.pop()[1].close()
