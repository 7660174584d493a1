"""Where the gradient fails: the node, the line that it was written at, and the way to it from the loss."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import onnx_ir as ir

from onnxsmith.core.value import Value
from onnxsmith.errors import OnnxsmithError
from onnxsmith.grad.steps import Step, is_real
from onnxsmith.graphs.origins import sources_of
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.graphs.rewriting.scopes import described_node
from onnxsmith.graphs.value import made_value
from onnxsmith.source import Span

#: A longer path is shown by both its ends.
_SHOWN = 8


def described(step: Step) -> str:
    """A step as a message names it."""
    return described_node(step.node)


def span_of(node: ir.Node) -> Span | None:
    """Where a node was written, if anybody knows."""
    found = [each for each in sources_of(node, "the model") if isinstance(each, Span)]
    return found[0] if found else None


def ancestors(losses: Iterable[Value], steps: Sequence[Step]) -> set[ValueRecord]:
    """The values that a loss is computed from; the gradient of one may be zero all the same, as that of a sign is."""
    found = {made_value(each).record for each in losses}
    for step in reversed(steps):
        if any(made_value(each).record in found for each in step.outputs):
            found.update(made_value(each).record for each in step.inputs if each is not None)
    return found


def located_at(error: OnnxsmithError, step: Step, steps: Sequence[Step], loss: str) -> OnnxsmithError:
    """The error with its place and the path to it, unless it has them from a graph inside."""
    if error.node is None:
        error.node = (step.node.op_type, step.node.name or "")
        error.message += f"\nthe path from the loss: {_path(step, steps, loss)}"
        error.culprit = None
        error.labels = ()
        error.locate(span_of(step.node))
    return error


def cut_at(value: Value, steps: Sequence[Step], loss: ir.Value) -> tuple[Step, str] | None:
    """Where all that the loss has of a value becomes whole numbers or truth values, and the path to there.

    None where the loss does not depend on the value at all, or where a graph inside a node hides the place.
    """
    reached = {made_value(value).record}
    for step in steps:
        if not any(each is not None and made_value(each).record in reached for each in step.inputs):
            continue
        real = [made_value(each).record for each in step.outputs if is_real(each)]
        reached.update(real)
        way = None if real else _way_in_model(loss, step.node)
        if way is not None:
            return step, _shown([described_node(each) for each in way], f"'{loss.name}'")
    return None


def _way_in_model(loss: ir.Value, node: ir.Node) -> list[ir.Node] | None:
    """The shortest way from the loss back to a node, over what nodes and the graphs inside them read."""
    came_from: dict[ir.Node, ir.Node | None] = {}
    waiting: deque[tuple[ir.Node | None, ir.Node | None]] = deque([(loss.producer(), None)])
    while waiting:
        here, after = waiting.popleft()
        if here is None or here in came_from:
            continue
        came_from[here] = after
        if here is node:
            way: list[ir.Node] = []
            back: ir.Node | None = here
            while back is not None:
                way.append(back)
                back = came_from[back]
            return way[::-1]
        inside = [each for attribute in here.attributes.values() for each in _nodes_inside(attribute)]
        read = (value for each in (here, *inside) for value in each.inputs if value is not None)
        waiting.extend((value.producer(), here) for value in read)
    return None


def _nodes_inside(attribute: ir.Attr) -> list[ir.Node]:
    if attribute.type != ir.AttributeType.GRAPH or attribute.is_ref():
        return []
    return list(attribute.as_graph().all_nodes())


def _path(step: Step, steps: Sequence[Step], loss: str) -> str:
    return _shown([described(each) for each in _way(step, steps)], loss)


def _shown(names: list[str], loss: str) -> str:
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
