"""Runs a model in a process of its own, so that a model that crashes, hangs or eats memory does so there.

One process for each run, gone when the run is over, whatever happens; runs that share a process leave it for the next
one, unless it died. What it answers is data, and read as such. It keeps mistakes away, not attackers: the process may
read and write what its user may.
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
from collections.abc import Mapping, Sequence
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
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.graphs.session_model import SessionModel
from onnxsmith.runtime import frames
from onnxsmith.runtime.failure import FailedNode
from onnxsmith.runtime.frames import FrameError, Json, Message
from onnxsmith.runtime.model_session import failed, refused
from onnxsmith.runtime.settings import Settings, current

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


def run_isolated(
    model: SessionModel,
    names: Sequence[str],
    inputs: Sequence[RunValue],
    limits: Isolation,
    find_node: FindNode | None,
) -> list[RunValue]:
    """The outputs of one run in a process of its own.

    Raises what the run would raise here, and ProcessEndedError, RunTimeoutError or MemoryLimitError.
    """
    if limits.memory is not None and sys.platform != "linux":
        raise AttributeValueError(
            "the memory of a process can only be limited on Linux",
            help="leave memory out; timeout works everywhere",
            culprit=("attribute", "memory"),
        )
    header, buffers = _told(model, inputs, limits, current())
    answer, child = _answered(header, buffers, limits)
    if answer is None:
        raise _ended(child, limits)
    try:
        if "outputs" in answer.header:
            outputs: object = frames.decode(answer.header["outputs"], answer.buffers)
            if not isinstance(outputs, list) or len(cast("list[RunValue]", outputs)) != len(
                model.proto.graph.output
            ):
                raise FrameError("these are not the outputs of the model")
            return cast("list[RunValue]", outputs)
        _raise(answer.header, names, inputs, limits, find_node)
    except (FrameError, RecursionError) as error:
        raise _nonsense(error) from None


#: The process that waits for the next run that shares it, of this process alone: a fork has none.
_waiting: list[tuple[int, _Child]] = []
_waiting_lock = threading.Lock()


def _answered(
    header: Mapping[str, Json], buffers: Sequence[memoryview], limits: Isolation
) -> tuple[Message | None, _Child]:
    """The answer of a process, and the process: one that waits, if the run may share it, or a new one."""
    # Linux ends a process that is left alone; elsewhere a thread in it does, and reads the input where messages come.
    is_shared = limits.is_shared and limits.memory is None and sys.platform == "linux"
    header = {**header, "is_last": not is_shared}
    with _waiting_lock:
        owner, child = _waiting.pop() if is_shared and _waiting else (0, None)
    if child is not None and owner == os.getpid():
        answer = child.answer(header, buffers, limits.timeout)
        if answer is not None:
            _leave(child)
            return answer, child
        child.close()
        if child.has_started:
            return None, child
        # It was gone before it got the message: the system ends it with the thread that started it.
    child = _Child()
    child.start()
    try:
        answer = child.answer(header, buffers, limits.timeout)
    except BaseException:
        child.close()
        raise
    if is_shared and answer is not None:
        _leave(child)
    else:
        child.close()
    return answer, child


def _leave(child: _Child) -> None:
    """Let a process wait for the next run; one is enough."""
    with _waiting_lock:
        if not _waiting:
            _waiting.append((os.getpid(), child))
            return
    child.close()


def _told(
    model: SessionModel, inputs: Sequence[RunValue], limits: Isolation, settings: Settings
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
    header: dict[str, Json] = {"settings": told, "memory": limits.memory, "weights": weights}
    header["inputs"] = frames.encode(list(inputs), buffers)
    return header, buffers


class _Child:
    """The process, from its start to its end."""

    def __init__(self) -> None:
        self.last_lines: deque[bytes] = deque(maxlen=_LAST_LINES)
        self.timed_out = False
        #: True once it has the message, and runs the model.
        self.has_started = False
        self.nonsense: FrameError | None = None

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
        """The answer of the process; None if it ends without one, or does not end in time.

        A process that answered, and waits for another message, goes on.
        """
        self.has_started = False
        answers = cast(BinaryIO, self.process.stdout)
        writer = threading.Thread(target=self._tell, args=[header, buffers], daemon=True)
        timer = None if timeout is None else threading.Timer(timeout, self._time_is_up)
        found: Message | None = None
        try:
            for expected in ("ready", "started"):
                message = frames.read(answers)
                if message is None:
                    return self._no_answer()
                if message.header.get(expected) is not True:
                    return message  # it failed before the model's turn
                if expected == "ready":
                    writer.start()
                    continue
                self.has_started = True
                if timer is not None:
                    timer.start()  # the model's time: what it takes to start a process is not its fault
            begun = time.monotonic()
            found = frames.read(answers)
            if timeout is not None and time.monotonic() - begun > timeout:
                self._time_is_up()  # the timer is a thread, which may come late
            return self._no_answer() if found is None or self.timed_out else found
        except FrameError as error:
            self.nonsense = error
            return self._no_answer()
        finally:
            if timer is not None:
                timer.cancel()
            if header["is_last"] or found is None:
                self.process.kill()  # the writer may still wait for it
            if writer.is_alive():
                writer.join()

    def _no_answer(self) -> None:
        """Let it come to its end, for the exit code that says why."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_PATIENCE)

    def _tell(self, header: Mapping[str, Json], buffers: Sequence[memoryview]) -> None:
        file = cast("IO[bytes]", self.process.stdin)
        with contextlib.suppress(OSError, ValueError):  # it ended before it had read all
            for each in frames.pieces(header, buffers):
                file.write(each)
            file.flush()  # and left open: that it closes tells the process that we are gone

    def _listen(self, file: IO[bytes]) -> None:
        with contextlib.suppress(ValueError):  # closed before this thread began
            for line in file:
                self.last_lines.append(line[:1000])

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


def _raise(
    header: Mapping[str, Json],
    names: Sequence[str],
    inputs: Sequence[RunValue],
    limits: Isolation,
    find_node: FindNode | None,
) -> NoReturn:
    """The error that the process ran into, as if it had happened here."""
    match header:
        case {"reason": str(reason)}:
            if limits.memory is not None and any(each in reason for each in _NO_MEMORY):
                raise _too_much_memory(limits.memory)
            match header.get("node"):
                case [str(operator), str(name)]:
                    node = FailedNode(operator=operator, name=name)
                case _:
                    node = None
            raise failed(names, inputs, node, reason, find_node)
        case {"refused": str(told)}:
            if limits.memory is not None and any(each in told for each in _NO_MEMORY):
                raise _too_much_memory(limits.memory)
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
