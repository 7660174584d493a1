"""`Loop` that writes to a vector at its own counter: what the turns wrote is put there once, after the last one.

A `ScatterND` in the body copies the whole vector in every turn. What is written by each turn is put together by the
`Loop` instead. Only vectors that no turn reads are written so.
"""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Outcome
from onnxsmith.passes.loop_turns import body_of, loop_states
from onnxsmith.passes.values import is_read, made_by, rank

#: From here on axes are inputs.
_FIRST_VERSION = 13


def written_after_the_loop(at: Attempt) -> Outcome:
    """`Loop` with a vector that turn `i` writes place `i` of: written to at once, after the loop."""
    node, body = at.node, body_of(at.node)
    states = None if body is None or node.op_type != "Loop" else loop_states(node, body)
    if body is None or states is None or len(node.outputs) != len(body.outputs) - 1:
        return None
    if at.version < _FIRST_VERSION:
        return None
    for place in range(states):
        update, given = _written(at, body, place), node.inputs[2 + place]
        if update is not None and given is not None and is_read(node.outputs[place]):
            return _put_together(at, body, place, given, update)
    return None


def _written(at: Attempt, body: ir.Graph, place: int) -> ir.Value | None:
    """The value that each turn writes to a carried vector, if it does so at the counter and nothing else reads it."""
    held, result, counter = body.inputs[2 + place], body.outputs[1 + place], body.inputs[0]
    scatter = made_by(result, "ScatterND")
    if scatter is None or scatter.graph is not body or scatter.inputs[0] is not held:
        return None
    reduction = scatter.attributes.get("reduction")
    if reduction is not None and (reduction.is_ref() or reduction.as_string() != "none"):
        return None
    readers = [*held.uses(), *result.uses()]
    ports = sum(each is held or each is result for each in body.outputs)
    if len(readers) != 1 or ports != 1:
        return None
    index, update = scatter.inputs[1], scatter.inputs[2]
    column = made_by(index, "Unsqueeze")
    if column is None or column.inputs[0] is not counter or rank(counter) != 0:
        return None
    # What a `ScatterND` gives has the shape of what it was given, so that the vector is one in each turn.
    is_vector = rank(at.node.inputs[2 + place]) == 1 and len(at.edit.numbers(column.inputs[1]) or ()) == 1
    return update if is_vector and rank(update) == 0 else None


def _put_together(
    at: Attempt, body: ir.Graph, place: int, given: ir.Value, update: ir.Value
) -> list[ir.Value | None]:
    node = at.node
    for use in body.inputs[2 + place].uses():
        use.node.replace_input_with(use.idx, given)
    # A value may be one output of a body only.
    copy = ir.Value(name=at.edit.fresh_name("written"), shape=update.shape, type=update.type)
    body.append(ir.Node("", "Identity", [update], outputs=[copy], name=at.edit.fresh_name("write")))
    # The body goes over to the new node: what stays with the old one is taken apart.
    attributes = dict(node.attributes)
    del node.attributes["body"]
    outputs = [each for number, each in enumerate(body.outputs) if number != 1 + place]
    inputs = [each for number, each in enumerate(body.inputs) if number != 2 + place]
    at.edit.set_ports(body, inputs, [*outputs, copy])
    outside = [each for number, each in enumerate(node.inputs) if number != 2 + place]
    if len(outside) == 2 and outside[1] is None:
        outside.pop()  # what is left out at the end is not there at all
    like = [each for number, each in enumerate(node.outputs) if number != place]
    results: list[ir.Value | None] = list(
        at.ops("Loop", *outside, outputs=len(like) + 1, like=[*like, None], attributes=attributes)
    )
    written = results.pop()
    turns = at.op("Squeeze", at.op("Shape", written), at.constant([0], "axes"))
    places = at.op("Range", at.constant(0), turns, at.constant(1))
    column = at.op("Unsqueeze", places, at.constant([-1], "axes"))
    results.insert(place, at.op("ScatterND", given, column, written, like=node.outputs[place]))
    return results
