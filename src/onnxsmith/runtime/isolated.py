"""Runs models in a child process with limits, so that a model that crashes, hangs or eats memory does so there.

The process is kept warm: whoever needs one next takes it, unless it died, or what it ran failed in a way that is no
answer. What it answers is data, and read as such. It keeps mistakes away, not attackers: the process may read and write
what its user may.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from typing import IO, BinaryIO, NoReturn, cast

from onnxsmith import errors
from onnxsmith.errors import (
    AttributeValueError,
    MemoryLimitError,
    OnnxsmithError,
    ProcessEndedError,
    RunTimeoutError,
)
from onnxsmith.graphs.isolation import Isolation, told_amount
from onnxsmith.graphs.model_runtime import FindNode
from onnxsmith.graphs.run_values import Run, RunValue
from onnxsmith.graphs.session_model import SessionModel
from onnxsmith.runtime import frames
from onnxsmith.runtime.failure import FailedNode
from onnxsmith.runtime.frames import FrameError, Json, Message
from onnxsmith.runtime.model_session import failed, refused
from onnxsmith.runtime.settings import Settings, current

#: So many bytes fit into a pipe, whoever reads it.
_PIPE_BYTES = 1 << 14
#: How much of what the process printed last is kept.
_LAST_LINES = 20
#: What a runtime says, or prints before it ends, when it gets no more memory.
_NO_MEMORY = (
    "not enough memory",
    "bad_alloc",
    "Failed to allocate memory",
    "MemoryError",
    "Cannot allocate memory",
)

_SIGNALS = {
    "SIGSEGV": "it touched memory that is not its own",
    "SIGBUS": "it touched memory that is not there",
    "SIGFPE": "an arithmetic fault, such as an integer division that has no result",
    "SIGILL": "it came upon an instruction that this processor does not have",
    "SIGABRT": "it gave up by itself",
    "SIGKILL": "somebody ended it, as the system does when memory runs out",
    "SIGTERM": "somebody asked it to end",
}
#: The same on Windows, which has exit codes for it.
_WINDOWS_CODES = {
    0xC0000005: "it touched memory that is not its own",
    0xC0000094: "an integer division that has no result",
    0xC000001D: "it came upon an instruction that this processor does not have",
    0xC00000FD: "its stack was exhausted",
    0xC0000409: "it gave up by itself",
}


@contextlib.contextmanager
def isolated_session(
    model: SessionModel, names: Sequence[str], limits: Isolation, find_node: FindNode | None
) -> Generator[Run]:
    """Runs of a model in a child process, on inputs of these names, all in one session.

    The limit of time is that of each run; the first includes what it takes to make the session. A run raises what it
    would raise here, and ProcessEndedError, RunTimeoutError or MemoryLimitError: the next run has another process.
    """
    if limits.memory is not None and sys.platform != "linux":
        raise AttributeValueError(
            "the memory of a process can only be limited on Linux",
            help="leave memory out; timeout works everywhere",
            culprit=("attribute", "memory"),
        )
    child: _Child | None = None

    def run(inputs: Sequence[RunValue]) -> list[RunValue]:
        nonlocal child
        header, buffers = _told(model, limits, current()) if child is None else ({}, [])
        header["inputs"] = frames.encode(list(inputs), buffers)
        is_sound = False
        try:
            if child is None:
                child, answer = _first_answer(header, buffers, limits)
            else:
                answer = child.answer(header, buffers, limits.timeout)
            if answer is None:
                raise _ended(child, limits)
            outputs = _outputs(answer, len(model.proto.graph.output))
            is_sound = outputs is not None or not _is_out_of_memory(answer.header, limits)
            return outputs if outputs is not None else _raise(answer.header, names, inputs, limits, find_node)
        except (FrameError, RecursionError) as error:
            is_sound = False
            raise _nonsense(error) from None
        finally:
            if child is not None and not is_sound:
                child.close()
                child = None

    try:
        yield run
    finally:
        if child is not None:
            _leave(child)


#: The process that waits for the next who needs one, of this process alone: a fork has none.
_waiting: list[tuple[int, _Child]] = []
_waiting_lock = threading.Lock()


def _first_answer(
    header: Mapping[str, Json], buffers: Sequence[memoryview], limits: Isolation
) -> tuple[_Child, Message | None]:
    """A process, the one that waits or a new one, and its answer."""
    with _waiting_lock:
        owner, child = _waiting.pop() if _waiting else (0, None)
    if child is not None and owner == os.getpid():
        answer = _answer_of(child, header, buffers, limits)
        if answer is not None or child.has_started:
            return child, answer
        child.close()  # gone before it got the message: the system ends it with the thread that started it
    child = _Child()
    child.start()
    return child, _answer_of(child, header, buffers, limits)


def _answer_of(
    child: _Child, header: Mapping[str, Json], buffers: Sequence[memoryview], limits: Isolation
) -> Message | None:
    """The answer of a process, which an interrupt ends."""
    try:
        return child.answer(header, buffers, limits.timeout)
    except BaseException:
        child.close()
        raise


def _leave(child: _Child) -> None:
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


def _told(
    model: SessionModel, limits: Isolation, settings: Settings
) -> tuple[dict[str, Json], list[memoryview]]:
    buffers = [memoryview(model.proto.SerializeToString())]
    weights: dict[str, Json] = {}
    for tensor, weight in model.apart():
        if weight.part is not None:
            weights[tensor.name] = [weight.part.path, weight.part.offset, weight.part.length]
        else:
            weights[tensor.name] = [len(buffers)]
            buffers.append(memoryview(weight.read()))  # pyright: ignore[reportArgumentType]  # arrays are buffers
    told: dict[str, Json] = {
        "runtime": settings.runtime,
        "threads": settings.intra_op_threads,
        "providers": [
            [name, [[key, value] for key, value in options]] for name, options in settings.providers
        ],
    }
    return {"settings": told, "memory": limits.memory, "weights": weights}, buffers


class _Child:
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
        # Not the session of a terminal: an interrupt there comes to us, and we end the process.
        self.process = subprocess.Popen(
            _command(),
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


def _outputs(answer: Message, count: int) -> list[RunValue] | None:
    """The outputs that an answer has; None if it says how the run failed."""
    if "outputs" not in answer.header:
        return None
    outputs: object = frames.decode(answer.header["outputs"], answer.buffers)
    if not isinstance(outputs, list) or len(cast("list[RunValue]", outputs)) != count:
        raise FrameError("these are not the outputs of the model")
    return cast("list[RunValue]", outputs)


def _is_out_of_memory(header: Mapping[str, Json], limits: Isolation) -> bool:
    told = header.get("reason", header.get("refused"))
    return limits.memory is not None and any(each in str(told) for each in _NO_MEMORY)


def _raise(
    header: Mapping[str, Json],
    names: Sequence[str],
    inputs: Sequence[RunValue],
    limits: Isolation,
    find_node: FindNode | None,
) -> NoReturn:
    """The error that the process ran into, as if it had happened here."""
    if limits.memory is not None and _is_out_of_memory(header, limits):
        raise _too_much_memory(limits.memory)
    match header:
        case {"reason": str(reason)}:
            match header.get("node"):
                case [str(operator), str(name)]:
                    node = FailedNode(operator=operator, name=name)
                case _:
                    node = None
            raise failed(names, inputs, node, reason, find_node)
        case {"refused": str(told)}:
            raise refused(told, find_node)
        case {"raised": str(name), "message": str(message), "help": None | str() as help}:
            kind = getattr(errors, name, None)
            if isinstance(kind, type) and issubclass(kind, OnnxsmithError):
                raise kind(message, help=help)
            raise FrameError(f"it raised {name!r}")
        case _:
            raise FrameError("this is no answer")


def _ended(child: _Child, limits: Isolation) -> OnnxsmithError:
    if child.timed_out and limits.timeout is not None:
        return RunTimeoutError(
            f"the model ran longer than {limits.timeout:g} seconds, and was ended",
            help="give it more time with timeout, or smaller inputs",
        )
    printed = child.printed
    if limits.memory is not None and any(each in printed for each in _NO_MEMORY):
        return _too_much_memory(limits.memory)
    if child.nonsense is not None and child.process.returncode == 0:
        return _nonsense(child.nonsense)
    help = "the process of this program is unharmed; the model, or the runtime on this model, is at fault"
    if limits.memory is not None:
        most = told_amount(limits.memory)
        help = f"it was allowed {most} of memory; some programs end like this when they get no more"
    elif printed:
        help = f"it printed last: {printed.splitlines()[-1]}"
    return ProcessEndedError(f"the process that ran the model {_how(child.process.returncode)}", help=help)


def _how(code: int) -> str:
    """How a process ended, in words."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            return f"was ended by signal {-code}"
        words = _SIGNALS.get(name)
        return f"was ended by {name}" + (f": {words}" if words else "")
    words = _WINDOWS_CODES.get(code) if os.name == "nt" else None
    return f"ended with exit code {code}, without an answer" if words is None else f"crashed: {words}"


def _too_much_memory(most: int) -> MemoryLimitError:
    return MemoryLimitError(
        f"the model wanted more memory than the {told_amount(most)} that it was allowed",
        help="allow it more with memory, or give it smaller inputs",
    )


def _nonsense(error: Exception) -> ProcessEndedError:
    return ProcessEndedError(
        f"the process that ran the model gave an answer that cannot be read: {error}",
        help="a model that does this is broken or hostile: do not run it in your own process",
    )
