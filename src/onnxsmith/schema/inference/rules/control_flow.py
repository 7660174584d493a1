"""`If`, `Loop`, `Scan` and `SequenceMap`: types of the outputs from those of the bodies' outputs."""

from __future__ import annotations

import numpy as np

from onnxsmith.errors import InferenceError
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.broadcasting import Different, meet_dimension, merge_types
from onnxsmith.schema.inference.call import Call, Result, UnresolvedAttribute, counted, rule, tensor
from onnxsmith.schema.inference.known import NOTHING, BodyOutputs, Known
from onnxsmith.types.value_types import Dimension, SequenceType, TensorType, sizes_differ


def _body(call: Call, name: str) -> BodyOutputs:
    body = call.bodies.get(name)
    if body is None:
        raise UnresolvedAttribute(name)
    return body


@rule("If")
def if_(call: Call) -> Result:
    chosen, other = _body(call, "then_branch"), _body(call, "else_branch")
    if len(chosen) != len(other):
        raise InferenceError(
            f"If gives {counted(len(chosen), 'output')} in then_branch and {len(other)} in else_branch",
            culprit="else_branch",
        )
    condition = call.array(0)
    if condition is not None and condition.size == 1:
        return chosen if condition.item() else other
    out: list[Known] = []
    for position, (left, right) in enumerate(zip(chosen, other, strict=True)):
        try:
            out.append(Known(merge_types(left.type, right.type)))
        except Different as different:
            raise InferenceError(
                f"If gives {different.left.described} in then_branch and {different.right.described} "
                f"in else_branch as output {position}",
                culprit="else_branch",
            ) from None
    return tuple(out)


@rule("Loop")
def loop(call: Call) -> Result:
    body = _body(call, "body")
    initial = call.inputs[2:]
    if len(body) < 1 + len(initial):
        raise InferenceError(
            f"Loop carries {counted(len(initial), 'value')}, but its body gives {counted(len(body), 'output')}: "
            f"a condition and {counted(len(body) - 1, 'value')}",
            culprit="body",
        )
    out: list[Known] = []
    for position, before in enumerate(initial):
        after = body[1 + position]
        if before is None:
            out.append(Known(after.type))
            continue
        try:
            out.append(Known(merge_types(before.type, after.type)))
        except Different as different:
            raise InferenceError(
                f"Loop starts {call.input_name(2 + position)} with {different.left.described}, "
                f"but its body gives {different.right.described}",
                culprit=2 + position,
            ) from None
    turns = _turns(call, body[0])
    out.extend(_stacked(each, turns, 0) for each in body[1 + len(initial) :])
    return tuple(out)


def _turns(call: Call, condition: Known) -> Dimension:
    """How often a loop runs: the trip count, or not at all where that is below 0; if the condition stays true."""
    count = call.entry(0)
    if count is None or (isinstance(count, int) and count < 0):
        return None
    for each in (call.input(1), condition):
        data = each.data if each is not None else None
        if each is not None and not (isinstance(data, np.ndarray) and data.size == 1 and bool(data.item())):
            return None
    return symbolic.maximum(0, count)


def _stacked(known: Known, count: Dimension, axis: int) -> Known:
    """The turns' outputs joined along a new axis."""
    if not isinstance(known.type, TensorType):
        return NOTHING
    shape = known.type.shape
    if shape is None:
        return tensor(known.type.dtype, None)
    place = axis + len(shape) + 1 if axis < 0 else axis
    return tensor(known.type.dtype, (*shape[:place], count, *shape[place:]))


@rule("Scan", since=9)
def scan(call: Call) -> Result:
    body = _body(call, "body")
    scanned = call.integer("num_scan_inputs", 1)
    states = len(call.inputs) - scanned
    in_axes, out_axes = call.integers("scan_input_axes"), call.integers("scan_output_axes")
    length: Dimension = None
    for position in range(scanned):
        shape = call.shape(states + position)
        if shape is None:
            continue
        axis = in_axes[position] if in_axes else 0
        if not -len(shape) <= axis < len(shape):
            raise call.attribute_error(
                "scan_input_axes", f"cannot scan axis {axis} of {call.described(states + position)}"
            )
        size = shape[axis]
        if sizes_differ(size, length):
            raise call.shape_error(
                f"scans inputs of different lengths: {length} before, and {size} "
                f"in {call.described(states + position)}",
                states + position,
            )
        length = meet_dimension(length, size)
    out = [_carried(call, position, body) for position in range(min(states, len(body)))]
    for position, each in enumerate(body[states:]):
        out.append(_stacked(each, length, out_axes[position] if out_axes and position < len(out_axes) else 0))
    return tuple(out)


def _carried(call: Call, position: int, body: BodyOutputs) -> Known:
    before, after = call.inputs[position], body[position]
    if before is None:
        return Known(after.type)
    try:
        return Known(merge_types(before.type, after.type))
    except Different as different:
        raise InferenceError(
            f"Scan starts {call.input_name(position)} with {different.left.described}, "
            f"but its body gives {different.right.described}",
            culprit=position,
        ) from None


@rule("Scan", before=9)
def scan_with_batch(call: Call) -> Result:
    """Before opset 9 every input and output had a batch axis in front, and the scanned axis was the second."""
    body = _body(call, "body")
    scanned = call.integer("num_scan_inputs", 1)
    states = len(call.inputs) - 1 - scanned
    batch: Dimension = None
    length: Dimension = None
    for position in range(1, len(call.inputs)):
        shape = call.shape(position)
        if shape:
            if sizes_differ(batch, shape[0]):
                raise call.shape_error(
                    f"has batches of different sizes: {batch} before, and {shape[0]} in {call.described(position)}",
                    position,
                )
            batch = meet_dimension(batch, shape[0])
            length = meet_dimension(length, shape[1]) if position > states and len(shape) > 1 else length
    out: list[Known] = []
    for position, each in enumerate(body):
        inner = _stacked(each, length, 0) if position >= states else each
        out.append(_stacked(inner, batch, 0))
    return tuple(out)


@rule("SequenceMap")
def sequence_map(call: Call) -> Result:
    return tuple(
        Known(SequenceType(each.type)) if isinstance(each.type, TensorType) else NOTHING
        for each in _body(call, "body")
    )
