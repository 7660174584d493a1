"""Loops that do less: none at all where there are no turns, and nothing carried that never changes."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Outcome
from onnxsmith.passes.loop_turns import body_of, loop_states, loop_turns
from onnxsmith.passes.values import fixed_shape, is_read, made_by, redirect


def loop_without_turns(at: Attempt) -> Outcome:
    """`Loop` that never runs: what it was given, and nothing put together."""
    body = body_of(at.node)
    states = None if body is None else loop_states(at.node, body)
    if body is None or states is None or loop_turns(at.edit, at.node) != 0:
        return None
    results: list[ir.Value | None] = list(at.node.inputs[2:])
    for output, element in zip(at.node.outputs[states:], body.outputs[states + 1 :], strict=False):
        if not is_read(output):
            results.append(None)
            continue
        shape, dtype = fixed_shape(element), element.dtype
        if shape is None or dtype is None or dtype == ir.DataType.STRING or element.producer() is None:
            return None
        results.append(at.constant(np.zeros((0, *shape), dtype.numpy()), "nothing"))
    return results[: len(at.node.outputs)]


def unchanged_in_loop(at: Attempt) -> Outcome:
    """`Loop` that carries what never changes, or puts together what nobody reads: it does not."""
    node = at.node
    body = body_of(node)
    states = None if body is None else loop_states(node, body)
    if body is None or states is None:
        return None
    unchanged = [place for place in range(states) if _is_handed_on(body, place)]
    outputs = list(node.outputs) + [None] * (len(body.outputs) - 1 - len(node.outputs))
    unread = [
        place
        for place in range(states, len(body.outputs) - 1)
        if (output := outputs[place]) is None or not is_read(output)
    ]
    dropped = {*unchanged, *unread}
    initial = dict(enumerate(node.inputs[2:]))
    if not dropped or any(initial[place] is None for place in unchanged):
        return None
    results = [initial[place] if place in unchanged else None for place in range(len(outputs))]
    if len(dropped) < len(outputs):
        for place, value in _smaller_loop(at, body, dropped).items():
            results[place] = value
    return results[: len(node.outputs)]


def _smaller_loop(at: Attempt, body: ir.Graph, dropped: set[int]) -> dict[int, ir.Value]:
    """The same `Loop` without some of its outputs; those that are left, by the places that they had."""
    node = at.node
    for place in dropped:
        if place + 2 < len(node.inputs):
            redirect(body.inputs[2 + place], node.inputs[2 + place])
    # The body goes over to the new node: what stays with the old one is taken apart.
    attributes = dict(node.attributes)
    del node.attributes["body"]
    at.edit.set_ports(
        body,
        [each for place, each in enumerate(body.inputs) if place - 2 not in dropped],
        [each for place, each in enumerate(body.outputs) if place - 1 not in dropped],
    )
    kept = [place for place in range(len(body.outputs) + len(dropped) - 1) if place not in dropped]
    like = [node.outputs[place] if place < len(node.outputs) else None for place in kept]
    inputs = [each for place, each in enumerate(node.inputs) if place - 2 not in dropped]
    if len(inputs) == 2 and inputs[1] is None:
        inputs[1] = at.constant(np.array(True), "going")  # what is left out at the end is not there at all
    made = at.ops("Loop", *inputs, outputs=len(kept), like=like, attributes=attributes)
    return dict(zip(kept, made, strict=True))


def _is_handed_on(body: ir.Graph, place: int) -> bool:
    value: ir.Value | None = body.outputs[1 + place]
    while (copy := made_by(value, "Identity")) is not None and copy.graph is body:
        value = copy.inputs[0]
    if value is not body.inputs[2 + place]:
        return False
    # As another output of the body it is still needed as a value of the body.
    return not any(each is value for number, each in enumerate(body.outputs) if number != 1 + place)


LOOPS = {"Loop": [loop_without_turns, unchanged_in_loop]}
