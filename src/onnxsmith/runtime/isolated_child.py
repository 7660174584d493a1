"""The process that an isolated run is made in: reads a message, runs the model, writes what came of it.

Started by `runtime.isolated`; a message says whether it is the last one. It writes messages to what was its standard
output, and lets nobody else write there.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import BinaryIO, cast

import numpy as np
import onnx

from onnxsmith.errors import NotRunnableError, OnnxsmithError, OperatorFailedError
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.graphs.session_model import Content, FilePart, SessionModel, SessionWeight
from onnxsmith.runtime import frames, onnxruntime_api
from onnxsmith.runtime.failure import failed_node, plain_reason
from onnxsmith.runtime.frames import Json
from onnxsmith.runtime.model_session import load_session
from onnxsmith.runtime.settings import Settings, chosen, usable_cores

#: What a thread takes before it does anything: its stack. The runtime starts one for each processor.
_THREAD_BYTES = 10 << 20
#: The option of Linux's `prctl` for it.
_SET_PARENT_DEATH_SIGNAL = 1


def main() -> None:
    """Run what is read from the standard input, until a message says that it is the last."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    _no_core_dumps()
    _end_with_starters_thread()
    is_last = False
    while not is_last:
        _write(answers, {"ready": True})
        given = frames.read(sys.stdin.buffer)
        if given is None:
            return  # whoever started this has changed their mind, or has ended
        is_last = bool(given.header["is_last"])
        if is_last:
            threading.Thread(target=_end_with_starter, daemon=True).start()
        _write(answers, *_answer(given, answers))
    # Nothing that the model left behind, threads or destructors, has a say after the answer.
    os._exit(0)


def _answer(given: frames.Message, answers: BinaryIO) -> tuple[dict[str, Json], list[memoryview]]:
    """The answer to a message: the outputs of the run, or how it failed."""
    header = given.header
    try:
        settings = _settings(cast("dict[str, Json]", header["settings"]))
        chosen.set(settings)
        if settings.runtime == "onnxruntime":
            onnxruntime_api.quiet_run_options()  # loads the runtime, which is not the model's to pay for
        _limit_memory(cast("int | None", header["memory"]))
        _write(answers, {"started": True})
        model = _model(header, given.buffers)
        inputs = cast("list[RunValue]", frames.decode(header["inputs"], given.buffers))
        outputs = load_session(model)(inputs)
        buffers: list[memoryview] = []
        return {"outputs": frames.encode(outputs, buffers)}, buffers
    except OperatorFailedError as error:
        return _failure(error), []
    except NotRunnableError as error:
        return {"refused": error.help or ""}, []
    except OnnxsmithError as error:
        return {"raised": type(error).__name__, "message": error.message, "help": error.help}, []
    except MemoryError:
        return {"reason": "std::bad_alloc"}, []


def _end_with_starters_thread() -> None:
    """Let the system end this process with the thread that started it, which waits for the answer.

    The thread below does the same on every system, but not while code of Python's own, such as a regular expression,
    lets no other thread run.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _end_with_starter() -> None:
    """End when whoever started this has ended, also when it was killed: nobody else would end a run without end."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def _write(file: BinaryIO, header: Mapping[str, Json], buffers: list[memoryview] | None = None) -> None:
    for each in frames.pieces(header, buffers or []):
        file.write(each)
    file.flush()


def _failure(error: OperatorFailedError) -> dict[str, Json]:
    cause = error.__cause__
    if cause is None:
        return {"raised": type(error).__name__, "message": error.message, "help": error.help}
    node = failed_node(cast(Exception, cause))
    return {"reason": plain_reason(cause), "node": None if node is None else [node.operator, node.name]}


def _settings(told: dict[str, Json]) -> Settings:
    providers = cast("list[tuple[str, list[tuple[str, str]]]]", told["providers"])
    return Settings(
        runtime="onnxruntime" if told["runtime"] == "onnxruntime" else "reference",
        providers=tuple((name, tuple((key, value) for key, value in options)) for name, options in providers),
        intra_op_threads=cast("int | None", told["threads"]),
    )


def _model(header: Mapping[str, Json], buffers: frames.Sequence[memoryview]) -> SessionModel:
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
    """From now on no more than `most` bytes can be had."""
    if most is None:
        return
    import resource  # not on every platform; who asks for a limit elsewhere is told so before

    with open("/proc/self/statm", encoding="ascii") as file:
        taken = (
            int(file.read().split()[5]) * resource.getpagesize()
        )  # data and stack, as the limit counts them
    limit = taken + most + usable_cores() * _THREAD_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main()
