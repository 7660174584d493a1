"""Where the gradient fails: the node, the line that it was written at, and the way to it from the loss."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from onnxsmith.core.value import Value
from onnxsmith.errors import OnnxsmithError
from onnxsmith.grad.steps import Step
from onnxsmith.graphs.origins import sources_of
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.graphs.value import made_value
from onnxsmith.source import Span

#: A longer path is shown by both its ends.
_SHOWN = 8


def described(step: Step) -> str:
    """A step as a message names it."""
    name = step.node.name
    return f"node '{name}' ({step.node.op_type})" if name else f"a node {step.node.op_type}"


def span_of(step: Step) -> Span | None:
    """Where the node of a step was written, if anybody knows."""
    found = [each for each in sources_of(step.node, "the model") if isinstance(each, Span)]
    return found[0] if found else None


def ancestors(losses: Iterable[Value], steps: Sequence[Step]) -> set[ValueRecord]:
    """The values that a loss is computed from; the gradient of one may be zero all the same, as that of a sign is."""
    found = {made_value(each).record for each in losses}
    for step in reversed(steps):
        if any(made_value(each).record in found for each in step.outputs):
            found.update(made_value(each).record for each in step.inputs if each is not None)
    return found


def told_at(error: OnnxsmithError, step: Step, steps: Sequence[Step], loss: str) -> OnnxsmithError:
    """The error with its place and the path to it, unless it has them from a graph inside."""
    if error.node is None:
        error.node = (step.node.op_type, step.node.name or "")
        error.message += f"\nthe path from the loss: {_path(step, steps, loss)}"
        error.culprit = None
        error.labels = ()
        error.locate(span_of(step))
    return error


def _path(step: Step, steps: Sequence[Step], loss: str) -> str:
    names = [described(each) for each in _way(step, steps)]
    if len(names) > _SHOWN:
        names = [*names[: _SHOWN // 2], "…", *names[-_SHOWN // 2 :]]
    return " ← ".join([loss, *names])


def _way(step: Step, steps: Sequence[Step]) -> list[Step]:
    """The shortest way from a result that nothing reads to a step, over the steps between."""
    readers = _readers(steps)
    came_from: dict[int, Step | None] = {id(step): None}
    waiting = deque([step])
    last = step
    while waiting:
        last = waiting.popleft()
        after = [each for value in last.outputs for each in readers.get(made_value(value).record, ())]
        if not after:
            break
        for each in after:
            if id(each) not in came_from:
                came_from[id(each)] = last
                waiting.append(each)
    way: list[Step] = []
    here: Step | None = last
    while here is not None:
        way.append(here)
        here = came_from[id(here)]
    return way


def _readers(steps: Sequence[Step]) -> Mapping[ValueRecord, list[Step]]:
    readers: dict[ValueRecord, list[Step]] = {}
    for step in steps:
        for value in step.inputs:
            if isinstance(value, Value):
                readers.setdefault(made_value(value).record, []).append(step)
    return readers
