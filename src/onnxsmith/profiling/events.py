"""Reads ONNX Runtime's profile: runs, the kernels of each, and the kernels that ran inside those of control flow.

Events come in the order in which they end, so that what is nested stands before what it is nested in. Which node a
kernel belongs to is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from onnxsmith.runtime.profiled import RawEvent

_KERNEL = "_kernel_time"
#: The event of one execution of a graph or body, which ends when its last kernel has.
_EXECUTION = "::Execute"
_RUN = "model_run"


@dataclass(slots=True)
class KernelEvent:
    """One execution of one kernel. Times are in microseconds, as ONNX Runtime counts them."""

    #: The node's name, or its operator and number where it has none.
    name: str
    operator: str
    provider: str
    start: int
    duration: int
    #: Bytes of its results.
    output_bytes: int
    #: Bytes of the weights that it reads.
    parameter_bytes: int
    #: Types and shapes of its results, as "float32[2, 3]".
    output_types: tuple[str, ...]
    #: The executions of its bodies, in order; an operator without bodies has none.
    executions: list[list[KernelEvent]] = field(default_factory=list["list[KernelEvent]"])

    @property
    def own(self) -> int:
        """Its time without the kernels that ran inside it."""
        return self.duration - sum(each.duration for kernels in self.executions for each in kernels)


@dataclass(frozen=True, slots=True)
class RunEvents:
    """One run of the model."""

    #: How long it took, with what lies between kernels, and with what the profile itself costs.
    duration: int
    kernels: list[KernelEvent]


def read_runs(events: Iterable[RawEvent]) -> list[RunEvents]:
    """The runs that the profile tells of from beginning to end."""
    runs: list[RunEvents] = []
    kernels: list[KernelEvent] = []
    # Executions whose control flow has not ended yet, each with when it began.
    executions: list[tuple[int, list[KernelEvent]]] = []
    for event in events:
        name, start, duration = str(event.get("name", "")), _number(event, "ts"), _number(event, "dur")
        if event.get("cat") == "Node" and name.endswith(_KERNEL):
            kernel = _kernel(name.removesuffix(_KERNEL), start, duration, _arguments(event))
            kernel.executions = [content for _, content in _taken_since(executions, start)]
            kernels.append(kernel)
        elif name.endswith(_EXECUTION):
            first = len(kernels)
            while first and kernels[first - 1].start >= start:
                first -= 1
            executions.append((start, kernels[first:]))
            del kernels[first:]
        elif name == _RUN:
            runs.append(RunEvents(duration, [each for _, content in executions for each in content]))
            kernels, executions = [], []
    return runs


def _taken_since(
    executions: list[tuple[int, list[KernelEvent]]], start: int
) -> list[tuple[int, list[KernelEvent]]]:
    """Take away the executions that began at `start` or later."""
    first = len(executions)
    while first and executions[first - 1][0] >= start:
        first -= 1
    taken = executions[first:]
    del executions[first:]
    return taken


def _kernel(name: str, start: int, duration: int, arguments: Mapping[str, object]) -> KernelEvent:
    return KernelEvent(
        name,
        str(arguments.get("op_name", "")),
        str(arguments.get("provider", "")),
        start,
        duration,
        _number(arguments, "output_size"),
        _number(arguments, "parameter_size"),
        tuple(_types(arguments.get("output_type_shape"))),
    )


def _arguments(event: RawEvent) -> Mapping[str, object]:
    found = event.get("args")
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def _number(holder: Mapping[str, object], key: str) -> int:
    found = holder.get(key, 0)
    return int(found) if isinstance(found, int | str) else 0


def _types(told: object) -> Iterator[str]:
    for each in cast("list[object]", told) if isinstance(told, list) else ():
        if isinstance(each, dict):
            for kind, shape in cast("dict[str, object]", each).items():
                yield f"{kind}{shape}"
