"""`Loop` that writes to a vector at its own counter: what the turns wrote is put there once, after the last one.

A `ScatterND` in the body copies the whole vector in every turn. What is written by each turn is put together by the
`Loop` instead. A turn may read what a few turns before it wrote: those numbers are carried from turn to turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.loop_turns import body_of, loop_states
from onnxsmith.passes.side_by_side.bodies import body_input
from onnxsmith.passes.side_by_side.linear_form import chosen_from
from onnxsmith.passes.values import int_attribute, is_read, made_by, rank
from onnxsmith.schema.elementwise_operators import ELEMENTWISE

#: From here on axes are inputs.
_FIRST_VERSION = 13
#: So many turns back may a turn read.
_FARTHEST = 8


@dataclass(frozen=True, slots=True)
class _Write:
    """A carried vector that each turn writes one place of."""

    #: Which of the carried values it is.
    place: int
    #: What the loop is given.
    given: ir.Value
    #: The number that a turn writes.
    update: ir.Value
    #: How far the place that is written is from the counter.
    offset: int
    #: The nodes that read an element, and how many turns before it was written: 0 by the turn itself, negative by none.
    reads: tuple[tuple[ir.Node, int], ...]

    @property
    def farthest(self) -> int:
        """How many turns back is read at the most."""
        return max([0, *(turns for _, turns in self.reads)])


def written_after_the_loop(at: Attempt) -> Outcome:
    """`Loop` with a vector that turn `i` writes place `i + k` of: written to at once, after the loop."""
    node, body = at.node, body_of(at.node)
    states = None if body is None or node.op_type != "Loop" else loop_states(node, body)
    if body is None or states is None or len(node.outputs) != len(body.outputs) - 1:
        return None
    if at.version < _FIRST_VERSION:
        return None
    for place in range(states):
        found = _written(at, body, place)
        if found is not None and is_read(node.outputs[place]):
            return _put_together(at, body, found)
    return None


def _written(at: Attempt, body: ir.Graph, place: int) -> _Write | None:
    """Find what each turn writes to a vector, where it does so at its counter and reads only what is known then."""
    held, result, counter = body.inputs[2 + place], body.outputs[1 + place], body.inputs[0]
    given, scatter = at.node.inputs[2 + place], made_by(result, "ScatterND")
    if given is None or scatter is None or scatter.graph is not body or scatter.inputs[0] is not held:
        return None
    reduction = scatter.attributes.get("reduction")
    if reduction is not None and (reduction.is_ref() or reduction.as_string() != "none"):
        return None
    index, update = scatter.inputs[1], scatter.inputs[2]
    column = made_by(index, "Unsqueeze")
    if sum(each is held or each is result for each in body.outputs) != 1 or column is None or update is None:
        return None
    offset = _offset(at.edit, column.inputs[0], counter)
    # What a `ScatterND` gives has the shape of what it was given, so that the vector is one in each turn.
    is_vector = rank(given) == 1 and len(at.edit.numbers(column.inputs[1]) or ()) == 1
    if offset is None or offset < 0 or not is_vector or rank(counter) != 0:
        return None
    if not _is_number(update, held, set()):
        return None
    reads: list[tuple[ir.Node, int]] = []
    for vector in (held, result):
        for use in vector.uses():
            if use.node is scatter and vector is held and use.idx == 0:
                continue
            turns = _turns_back(at.edit, use.node, use.idx, counter, offset)
            if turns is None:
                return None
            # Before a turn has written, its own place holds what the loop was given.
            reads.append((use.node, -1 if vector is held and turns == 0 else turns))
    found = _Write(place, given, update, offset, tuple(reads))
    is_known = held.dtype is not None or not found.farthest
    return found if is_known and found.farthest <= _FARTHEST else None


def _is_number(value: ir.Value | None, vector: ir.Value, seen: set[ir.Value]) -> bool:
    """True if a value is a number in each turn, where a carried vector is one.

    Inference knows no rank of what is carried where its size has no name.
    """
    if value is None or value in seen or rank(value) == 0:
        return True
    node = value.producer()
    if rank(value) is not None or node is None or node.domain:
        return False
    if node.op_type == "Gather":
        return node.inputs[0] is vector and _is_number(node.inputs[1], vector, seen)
    parts = chosen_from(node, value) or node.inputs
    found = (node.op_type in ELEMENTWISE or node.op_type == "If") and all(
        _is_number(each, vector, seen) for each in parts
    )
    if found:
        seen.add(value)
    return found


def _turns_back(edit: Editor, node: ir.Node, port: int, counter: ir.Value, offset: int) -> int | None:
    """How many turns before the element was written that a node reads; None where that is not known."""
    if node.op_type != "Gather" or node.domain or port != 0 or int_attribute(node, "axis", 0):
        return None
    index = node.inputs[1]
    place = None if rank(index) != 0 else _offset(edit, index, counter)
    # A place before the first would be counted from the end.
    return None if place is None or place < 0 else offset - place


def _offset(edit: Editor, value: ir.Value | None, counter: ir.Value) -> int | None:
    """How far a number is from the counter, in every turn."""
    if value is counter:
        return 0
    node = made_by(value, "Add", "Sub", "Identity")
    if node is None:
        return None
    if node.op_type == "Identity":
        return _offset(edit, node.inputs[0], counter)
    one, other = node.inputs
    if node.op_type == "Add" and edit.numbers(one) is not None:
        one, other = other, one
    number = None if other is None or not edit.is_fixed(other) or rank(other) else edit.numbers(other)
    before = _offset(edit, one, counter)
    if number is None or before is None:
        return None
    return before + number[0] if node.op_type == "Add" else before - number[0]


def _put_together(at: Attempt, body: ir.Graph, found: _Write) -> list[ir.Value | None]:
    node, place, given = at.node, found.place, found.given
    held, result = body.inputs[2 + place], body.outputs[1 + place]
    before, update = _carried(at, found, held), found.update
    for reader, turns in found.reads:
        if turns < 0:
            reader.replace_input_with(0, given)
            continue
        known = _replace(at, reader, before[turns - 1] if turns else update)
        if reader.outputs[0] is update:  # a turn writes what one before it wrote
            update = known
    scatter = result.producer()
    assert scatter is not None
    scatter.replace_input_with(0, given)
    # A value may be one output of a body only.
    written = _copied(at, body, update, "written")
    after = [_copied(at, body, each, "carried") for each in [update, *before[:-1]][: len(before)]]
    # The body goes over to the new node: what stays with the old one is taken apart.
    attributes = dict(node.attributes)
    del node.attributes["body"]
    states = len(node.inputs) - 2
    outputs = [each for number, each in enumerate(body.outputs) if number != 1 + place]
    inputs = [each for number, each in enumerate(body.inputs) if number != 2 + place]
    at.edit.set_ports(body, [*inputs, *before], [*outputs[:states], *after, *outputs[states:], written])
    outside = [each for number, each in enumerate(node.inputs) if number != 2 + place]
    outside += [_first(at, given, found.offset - turns) for turns in range(1, len(before) + 1)]
    if len(outside) == 2 and outside[1] is None:
        outside.pop()  # what is left out at the end is not there at all
    like: list[ir.Value | None] = [each for number, each in enumerate(node.outputs) if number != place]
    like[states - 1 : states - 1] = [None] * len(before)
    made = list(at.ops("Loop", *outside, outputs=len(like) + 1, like=[*like, None], attributes=attributes))
    numbers = made.pop()
    results: list[ir.Value | None] = [*made[: states - 1], *made[states - 1 + len(before) :]]
    turns = at.op("Squeeze", at.op("Shape", numbers), at.constant([0], "axes"))
    end = at.op("Add", turns, at.constant(found.offset)) if found.offset else turns
    places = at.op("Range", at.constant(found.offset), end, at.constant(1))
    column = at.op("Unsqueeze", places, at.constant([-1], "axes"))
    results.insert(place, at.op("ScatterND", given, column, numbers, like=node.outputs[place]))
    return results


def _carried(at: Attempt, found: _Write, held: ir.Value) -> list[ir.Value]:
    """Inputs of the body for what was written one turn before, two turns before, and so on."""
    if not found.farthest:
        return []
    assert held.dtype is not None
    return [body_input(at, "before", held.dtype) for _ in range(found.farthest)]


def _replace(at: Attempt, reader: ir.Node, known: ir.Value) -> ir.Value:
    """Put a copy of a number where a node reads it: a graph gives no values of the graph around it."""
    old, graph = reader.outputs[0], reader.graph
    assert graph is not None
    copy = ir.Value(name=at.edit.fresh_name("read"), shape=ir.Shape(()), type=old.type)
    graph.insert_before(
        reader, ir.Node("", "Identity", [known], outputs=[copy], name=at.edit.fresh_name("read"))
    )
    old.replace_all_uses_with(copy, replace_graph_outputs=True)
    return copy


def _copied(at: Attempt, body: ir.Graph, value: ir.Value, name: str) -> ir.Value:
    """A value of the body that is its own."""
    copy = ir.Value(name=at.edit.fresh_name(name), shape=value.shape, type=value.type)
    body.append(ir.Node("", "Identity", [value], outputs=[copy], name=at.edit.fresh_name("write")))
    return copy


def _first(at: Attempt, given: ir.Value, place: int) -> ir.Value:
    """An element of what the loop is given; 0 where there is none, and then no turn reads it."""
    part = at.op("Slice", given, at.constant([place]), at.constant([place + 1]), at.constant([0], "axes"))
    zero = at.like(0, given)
    assert zero is not None
    some = at.op("Concat", part, at.op("Unsqueeze", zero, at.constant([0], "axes")), axis=0)
    return at.op("Gather", some, at.constant(0), axis=0)
