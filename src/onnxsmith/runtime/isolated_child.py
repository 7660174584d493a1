"""The process in which isolated models are opened and run: reads messages, runs the model, writes what came of it.

Started by `runtime.isolated`, and ended by it. It writes messages to what was its standard output, and lets nobody else
write there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TypeAlias, cast

import numpy as np
import onnx

from onnxsmith.errors import NotRunnableError, OnnxsmithError, OperatorFailedError
from onnxsmith.graphs.handover import Content, FilePart, SessionModel, SessionWeight
from onnxsmith.graphs.run_values import Run, RunValue
from onnxsmith.runtime import frames, onnxruntime_api, plug_ins
from onnxsmith.runtime.failure import failed_node, plain_reason
from onnxsmith.runtime.frames import Json
from onnxsmith.runtime.model_session import load_session
from onnxsmith.runtime.settings import Settings, chosen, usable_cores

#: What a thread takes before it does anything: its stack. The runtime starts one for each processor.
_THREAD_BYTES = 10 << 20
#: The option of Linux's `prctl` for it.
_SET_PARENT_DEATH_SIGNAL = 1


#: What the starter of this process wrote, in order.
Messages: TypeAlias = "queue.SimpleQueue[frames.Message]"


def main() -> None:
    """Answer what is read from the standard input, until whoever started this has ended."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    _no_core_dumps()
    _end_with_starters_thread()
    messages: Messages = queue.SimpleQueue()
    threading.Thread(target=_read, args=[messages], daemon=True).start()
    session: Run | None = None
    _write(answers, {"ready": True})
    while True:
        session = _session_after(messages.get(), session, answers)


def _session_after(given: frames.Message, session: Run | None, answers: BinaryIO) -> Run | None:
    """Answer a message; the session that is open then. Nothing else of the message is kept."""
    if "inputs" not in given.header:  # whoever comes next brings another model
        _limit_memory(None)
        _write(answers, {"ready": True})
        return None
    buffers: list[memoryview] = []
    many = cast("list[Json]", given.header["inputs"])
    try:
        if "settings" in given.header:
            session = _opened(given, answers)
        assert session is not None  # a message without a model comes after one that has it
        told: list[Json] = [_answer(session, each, given.buffers, buffers) for each in many]
    except (OnnxsmithError, MemoryError) as error:  # of the model, on any inputs
        told = [_failed(error) for _ in many]
    _write(answers, {"answers": told}, buffers)
    return session


def _answer(
    session: Run, inputs: Json, given: Sequence[memoryview], buffers: list[memoryview]
) -> dict[str, Json]:
    """The result of a run, or how it failed."""
    try:
        outputs = session(cast("list[RunValue]", frames.decode(inputs, given)))
        return {"outputs": frames.encode(outputs, buffers)}
    except (OnnxsmithError, MemoryError) as error:
        return _failed(error)


def _opened(given: frames.Message, answers: BinaryIO) -> Run:
    """The session of the model that a message has, within the limits that it has."""
    header = given.header
    settings = _settings(cast("dict[str, Json]", header["settings"]))
    chosen.set(settings)
    if settings.runtime == "onnxruntime":
        onnxruntime_api.quiet_run_options()  # loads the runtime, which is not the model's to pay for
    _limit_memory(cast("int | None", header["memory"]))
    _write(answers, {"started": True})
    return load_session(_model(header, given.buffers)).run


def _failed(error: OnnxsmithError | MemoryError) -> dict[str, Json]:
    """How a run failed, as an answer."""
    if isinstance(error, MemoryError):
        return {"reason": "std::bad_alloc"}
    if isinstance(error, NotRunnableError):
        return {"refused": error.help or ""}
    cause = error.__cause__ if isinstance(error, OperatorFailedError) else None
    if cause is None:
        return {"raised": type(error).__name__, "message": error.message, "help": error.help}
    node = failed_node(cast(Exception, cause))
    return {"reason": plain_reason(cause), "node": None if node is None else [node.operator, node.name]}


def _end_with_starters_thread() -> None:
    """Let the system end this process with the thread that started it, which waits for the answer.

    The thread below does the same on every system, but not while code of Python's own, such as a regular expression,
    lets no other thread run.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _read(messages: Messages) -> None:
    """Read messages, and end when whoever started this has ended: nobody else would end a run without end.

    Nothing that a model left behind, threads or destructors, has a say then.
    """
    with contextlib.suppress(frames.FrameError, MemoryError):
        while (message := frames.read(sys.stdin.buffer)) is not None:
            messages.put(message)
            del message  # it is not kept until the next one comes
    os._exit(1)


def _write(file: BinaryIO, header: Mapping[str, Json], buffers: list[memoryview] | None = None) -> None:
    for each in frames.pieces(header, buffers or []):
        file.write(each)
    file.flush()


def _settings(told: dict[str, Json]) -> Settings:
    providers = cast("list[tuple[str, list[tuple[str, str]]]]", told["providers"])
    plug_ins.load_as_there(
        cast("list[tuple[str, str]]", told["plug_ins"]), cast("list[str]", told["operators"])
    )
    return Settings(
        runtime="onnxruntime" if told["runtime"] == "onnxruntime" else "reference",
        providers=tuple((name, tuple((key, value) for key, value in options)) for name, options in providers),
        intra_op_threads=cast("int | None", told["threads"]),
        allow_tf32=bool(told["tf32"]),
        session_options=tuple((name, text) for name, text in cast("list[tuple[str, str]]", told["options"])),
    )


def _model(header: Mapping[str, Json], buffers: Sequence[memoryview]) -> SessionModel:
    weights: dict[str, SessionWeight] = {}
    for name, place in cast("dict[str, list[str | int]]", header["weights"]).items():
        match place:
            case [str(path), int(offset), int(length)]:
                part = FilePart(path, offset, length)
                weights[name] = SessionWeight(lambda part=part: _mapped(part), part)
            case _:
                content = np.frombuffer(buffers[cast(int, place[0])], np.uint8)
                weights[name] = SessionWeight(lambda content=content: content)
    return SessionModel(onnx.ModelProto.FromString(bytes(buffers[0])), weights)


def _mapped(part: FilePart) -> Content:
    return np.memmap(part.path, np.uint8, "r", part.offset, (part.length,))


def _no_core_dumps() -> None:
    """A process that is expected to crash leaves no gigabytes on the disk."""
    try:
        import resource  # not on every platform
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_memory(most: int | None) -> None:
    """From now on no more than `most` bytes can be had; any number again without a limit."""
    if sys.platform != "linux":  # who asks for a limit elsewhere is told so before
        return
    import resource  # not on every platform

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if most is None:
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
        return
    with open("/proc/self/statm", encoding="ascii") as file:
        taken = (
            int(file.read().split()[5]) * resource.getpagesize()
        )  # data and stack, as the limit counts them
    limit = taken + most + usable_cores() * _THREAD_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


if __name__ == "__main__":
    main()
