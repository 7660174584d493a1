"""How often the body of a `Loop` or `Scan` runs, as far as that is known before. Nothing is changed here."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.passes.editor import Editor
from onnxsmith.passes.values import dimensions, int_attribute, ints_attribute, made_by

#: From this version on a Scan has no batches.
_PLAIN_SCAN = 9


def is_loop(node: ir.Node) -> bool:
    """True if a node runs its body again and again."""
    return not node.domain and node.op_type in ("Loop", "Scan")


def body_of(node: ir.Node) -> ir.Graph | None:
    """The graph that a loop runs; None for what has none, or is no loop."""
    attribute = node.attributes.get("body") if is_loop(node) else None
    if attribute is None or attribute.is_ref() or attribute.type != ir.AttributeType.GRAPH:
        return None
    return attribute.as_graph()


def loop_states(node: ir.Node, body: ir.Graph) -> int | None:
    """How many values a `Loop` carries; None where node and body do not fit together."""
    states = len(node.inputs) - 2
    fits = states >= 0 and len(body.inputs) == states + 2 and len(body.outputs) >= states + 1
    return states if fits and len(node.outputs) <= len(body.outputs) - 1 else None


def loop_turns(edit: Editor, node: ir.Node) -> int | None:
    """How many turns a `Loop` takes, where that does not depend on what it computes."""
    most, first = _limit(edit, node), is_entered(edit, node)
    if first is False or (most is not None and most <= 0):
        return 0
    body = body_of(node)
    if most is None or first is None or body is None or not goes_on(edit, body):
        return None
    return most


def _limit(edit: Editor, node: ir.Node) -> int | None:
    """The number of turns that a `Loop` is given."""
    numbers = edit.numbers(node.inputs[0]) if node.inputs else None
    return numbers[0] if numbers is not None and len(numbers) == 1 else None


def is_entered(edit: Editor, node: ir.Node) -> bool | None:
    """The condition that a `Loop` is given: true where it is left out, None where it is not known."""
    given = node.inputs[1] if len(node.inputs) > 1 else None
    if given is None:
        return True
    return _truth(edit, given)


def _truth(edit: Editor, value: ir.Value) -> bool | None:
    array = edit.array(value, 1)
    return None if array is None or array.size != 1 else bool(array.reshape(()))


def goes_on(edit: Editor, body: ir.Graph) -> bool:
    """True if the body of a `Loop` says after every turn that there is another one."""
    if len(body.inputs) < 2 or not body.outputs:
        return False
    value: ir.Value | None = body.outputs[0]
    while (copy := made_by(value, "Identity")) is not None:
        value = copy.inputs[0]
    return value is not None and (value is body.inputs[1] or _truth(edit, value) is True)


def runs_at_least_once(edit: Editor, node: ir.Node) -> bool:
    """True if the body of a loop surely runs."""
    if node.op_type == "Scan":
        return (scan_turns(edit, node) or 0) > 0
    limit = _limit(edit, node)
    is_bounded = bool(node.inputs) and node.inputs[0] is not None
    return is_entered(edit, node) is True and (not is_bounded or (limit is not None and limit > 0))


@dataclass(frozen=True, slots=True)
class ScanLayout:
    """The inputs and outputs of a `Scan`: first values that are carried, then those that are gone through."""

    states: int
    #: For each input that is gone through: the axis, and whether from its end.
    ways_in: tuple[tuple[int, bool], ...]
    #: For each output that is put together.
    ways_out: tuple[tuple[int, bool], ...]


def scan_layout(edit: Editor, node: ir.Node, body: ir.Graph) -> ScanLayout | None:
    """How a `Scan` takes its inputs apart and puts its outputs together; None where node and body do not fit."""
    gone_through = int_attribute(node, "num_scan_inputs", 0)
    states = len(node.inputs) - gone_through
    put_together = len(body.outputs) - states
    if edit.version(node) < _PLAIN_SCAN or gone_through < 1 or states < 0 or put_together < 0:
        return None
    if len(body.inputs) != len(node.inputs) or len(node.outputs) > len(body.outputs):
        return None
    ways_in = _ways(node, "scan_input", gone_through)
    ways_out = _ways(node, "scan_output", put_together)
    return None if ways_in is None or ways_out is None else ScanLayout(states, ways_in, ways_out)


def _ways(node: ir.Node, stem: str, count: int) -> tuple[tuple[int, bool], ...] | None:
    axes = ints_attribute(node, f"{stem}_axes") or (0,) * count
    directions = ints_attribute(node, f"{stem}_directions") or (0,) * count
    if len(axes) != count or len(directions) != count or not set(directions) <= {0, 1}:
        return None
    return tuple([(axis, bool(way)) for axis, way in zip(axes, directions, strict=True)])


def scan_turns(edit: Editor, node: ir.Node) -> int | None:
    """How many turns a `Scan` takes: the size that what it goes through has."""
    body = body_of(node)
    layout = None if body is None else scan_layout(edit, node, body)
    if layout is None:
        return None
    found: set[int] = set()
    for value, (axis, _) in zip(node.inputs[layout.states :], layout.ways_in, strict=True):
        shape = dimensions(value)
        if shape is None or not -len(shape) <= axis < len(shape):
            return None
        size = shape[axis]
        if isinstance(size, int):
            found.add(size)
    return found.pop() if len(found) == 1 else None
