"""Runs models in a child process with limits, so that a model that crashes, hangs or eats memory does so there.

The process is kept warm: whoever needs one next takes it, unless it died, or what it ran failed in a way that is no
answer. What it answers is data, and read as such. It keeps mistakes away, not attackers: the process may read and write
what its user may.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Generator, Mapping, Sequence
from typing import cast

from onnxsmith import errors
from onnxsmith.errors import (
    AttributeValueError,
    MemoryLimitError,
    NotRunnableError,
    OnnxsmithError,
    ProcessEndedError,
    RunTimeoutError,
)
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.isolation import Isolation, told_amount
from onnxsmith.graphs.model_runtime import FindNode, RunEach
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.runtime import frames, plug_ins
from onnxsmith.runtime.child_process import Child, first_answer, leave
from onnxsmith.runtime.failure import FailedNode
from onnxsmith.runtime.frames import FrameError, Json, Message
from onnxsmith.runtime.kernels_in_python import kernels_in
from onnxsmith.runtime.model_session import failed, refused
from onnxsmith.runtime.settings import Settings, current

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
) -> Generator[RunEach]:
    """Runs of a model in a child process, on inputs of these names, all in one session.

    The limit of time is that of each run; the first includes what it takes to make the session. The errors are those
    that a run would raise here, and ProcessEndedError, RunTimeoutError or MemoryLimitError: after these the next run
    has another process.
    """
    keys = kernels_in(model.proto) if current().kernels else ()
    if keys:
        named = ", ".join(".".join(each) for each in sorted(keys))
        raise NotRunnableError(
            f"{named} has a kernel in Python, which is a function of this process",
            help="using(kernels=False) runs the bodies of functions instead; isolated=False runs the kernel here",
        )
    if limits.memory is not None and sys.platform != "linux":
        raise AttributeValueError(
            "the memory of a process can only be limited on Linux",
            help="leave memory out; timeout works everywhere",
            culprit="memory",
        )
    child: Child | None = None

    def run_each(many: Sequence[Sequence[RunValue]]) -> list[list[RunValue] | OnnxsmithError]:
        nonlocal child
        header, buffers = _told(model, limits, current()) if child is None else ({}, [])
        header["inputs"] = [frames.encode(list(each), buffers) for each in many]
        timeout = None if limits.timeout is None else limits.timeout * len(many)
        is_sound = False
        try:
            if child is None:
                child, answer = first_answer(header, buffers, timeout)
            else:
                answer = child.answer(header, buffers, timeout)
            if answer is None:
                raise _ended(child, limits)
            told = _answers(answer, len(many))
            is_sound = not any(_is_out_of_memory(each, limits) for each in told)
            return [
                _outputs(each, answer.buffers, len(model.proto.graph.output))
                if "outputs" in each
                else _error(each, names, inputs, limits, find_node)
                for each, inputs in zip(told, many, strict=True)
            ]
        except (FrameError, RecursionError, OnnxsmithError) as error:
            is_sound = False
            failure = error if isinstance(error, OnnxsmithError) else _nonsense(error)
        finally:
            if child is not None and not is_sound:
                child.close()
                child = None
        # One of them is at fault, and the others have their results.
        return [failure] if len(many) == 1 else [each for inputs in many for each in run_each([inputs])]

    try:
        yield run_each
    finally:
        if child is not None:
            leave(child)


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
        "options": [[name, text] for name, text in settings.session_options],
        "tf32": settings.allow_tf32,
        "plug_ins": [[name, path] for name, path in plug_ins.provider_libraries()],
        "operators": list(plug_ins.operator_libraries()),
    }
    return {"settings": told, "memory": limits.memory, "weights": weights}, buffers


def _answers(answer: Message, count: int) -> list[dict[str, Json]]:
    """The answers of a message, one for each run."""
    told = answer.header.get("answers")
    if not isinstance(told, list) or len(told) != count or not all(isinstance(each, dict) for each in told):
        raise FrameError("this is no answer")
    return cast("list[dict[str, Json]]", told)


def _outputs(told: Mapping[str, Json], buffers: Sequence[memoryview], count: int) -> list[RunValue]:
    """The outputs of a run."""
    outputs: object = frames.decode(told["outputs"], buffers)
    if not isinstance(outputs, list) or len(cast("list[RunValue]", outputs)) != count:
        raise FrameError("these are not the outputs of the model")
    return cast("list[RunValue]", outputs)


def _is_out_of_memory(told: Mapping[str, Json], limits: Isolation) -> bool:
    reason = told.get("reason", told.get("refused"))
    return limits.memory is not None and any(each in str(reason) for each in _NO_MEMORY)


def _error(
    told: Mapping[str, Json],
    names: Sequence[str],
    inputs: Sequence[RunValue],
    limits: Isolation,
    find_node: FindNode | None,
) -> OnnxsmithError:
    """The error that a run ran into, as if it had happened here."""
    if limits.memory is not None and _is_out_of_memory(told, limits):
        return _too_much_memory(limits.memory)
    match told:
        case {"reason": str(reason)}:
            match told.get("node"):
                case [str(operator), str(name)]:
                    node = FailedNode(operator=operator, name=name)
                case _:
                    node = None
            return failed(names, inputs, node, reason, find_node)
        case {"refused": str(reason)}:
            return refused(reason, find_node)
        case {"raised": str(name), "message": str(message), "help": None | str() as help}:
            kind = getattr(errors, name, None)
            if isinstance(kind, type) and issubclass(kind, OnnxsmithError):
                return kind(message, help=help)
            raise FrameError(f"it raised {name!r}")
        case _:
            raise FrameError("this is no answer")


def _ended(child: Child, limits: Isolation) -> OnnxsmithError:
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
