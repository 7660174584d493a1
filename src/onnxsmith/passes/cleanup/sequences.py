"""Sequences that are put together and taken apart in one graph: the tensors in them, without the sequence."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Outcome
from onnxsmith.passes.values import dimensions, int_attribute, made_by


def element_of_built(at: Attempt) -> Outcome:
    """`SequenceAt` of a `SequenceConstruct`: the tensor."""
    built = made_by(at.input(0), "SequenceConstruct")
    place = at.numbers(1)
    if built is None or place is None or not -len(built.inputs) <= place[0] < len(built.inputs):
        return None
    return built.inputs[place[0]]


def element_of_split(at: Attempt) -> Outcome:
    """`SequenceAt` of a `SplitToSequence` of known sizes: one part of a `Split`."""
    split = made_by(at.input(0), "SplitToSequence")
    place = at.numbers(1)
    if split is None or place is None or at.version < 13 or split.inputs[0] is None:
        return None
    shape = dimensions(split.inputs[0])
    axis = int_attribute(split, "axis", 0)
    total = shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None
    parts = at.edit.numbers(split.inputs[1]) if len(split.inputs) > 1 else None
    is_given = len(split.inputs) > 1 and split.inputs[1] is not None
    if not isinstance(total, int) or (is_given and parts is None):
        return None
    ends = _ends(total, parts, is_vector=is_given and (dimensions(split.inputs[1]) or ()) != ())
    index = place[0]
    if ends is None or not -len(ends) <= index < len(ends):
        return None
    if any(made_by_index(at, use.node) is None for use in split.outputs[0].uses()):
        return None  # it is needed as a sequence, too
    sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    # Each element makes the same node; common subexpressions are shared afterwards.
    parts_made = at.ops("Split", split.inputs[0], at.constant(sizes, "sizes"), outputs=len(ends), axis=axis)
    part = parts_made[index]
    if is_given or int_attribute(split, "keepdims", 1):
        return part
    return at.op("Squeeze", part, at.constant([axis], "axes"))


def made_by_index(at: Attempt, node: ir.Node) -> tuple[int, ...] | None:
    """The index of a `SequenceAt`, where it is known; None for any other node."""
    is_element = node.op_type == "SequenceAt" and not node.domain
    return at.edit.numbers(node.inputs[1]) if is_element else None


def _ends(total: int, parts: tuple[int, ...] | None, *, is_vector: bool) -> list[int] | None:
    """Where each part ends."""
    if parts is None:
        return list(range(1, total + 1))
    if is_vector:
        ends: list[int] = []
        for each in parts:
            ends.append((ends[-1] if ends else 0) + each)
        return ends if not ends or ends[-1] == total else None
    size = parts[0]
    if size <= 0:
        return None
    return [min(start + size, total) for start in range(0, total, size)]


def joined_again(at: Attempt) -> Outcome:
    """`ConcatFromSequence` of a `SequenceConstruct`: `Concat`, of tensors that get an axis where it is a new one."""
    built = made_by(at.input(0), "SequenceConstruct")
    axis = int_attribute(at.node, "axis", 0)
    if built is None or at.version < 13:
        return None
    if not int_attribute(at.node, "new_axis", 0):
        return at.op("Concat", *built.inputs, axis=axis)
    axes = at.constant([axis], "axes")
    return at.op("Concat", *(at.op("Unsqueeze", each, axes) for each in built.inputs), axis=axis)


def length_of_built(at: Attempt) -> Outcome:
    """`SequenceLength` of a `SequenceConstruct`: a number."""
    built = made_by(at.input(0), "SequenceConstruct")
    return None if built is None else at.constant(len(built.inputs), "length")


SEQUENCES = {
    "SequenceAt": [element_of_built, element_of_split],
    "ConcatFromSequence": [joined_again],
    "SequenceLength": [length_of_built],
}
