"""Chains of nodes that only move elements: transposes that cancel, reshapes of reshapes, axes that come and go."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Outcome
from onnxsmith.passes.values import (
    Dimension,
    dimensions,
    fixed_shape,
    int_attribute,
    ints_attribute,
    made_by,
    rank,
    readers,
)


def transpose_of_transpose(at: Attempt) -> Outcome:
    """Two transposes: one, or none where they cancel."""
    inner = made_by(at.input(0), "Transpose")
    if inner is None or inner.inputs[0] is None:
        return None
    outer_order, inner_order = ints_attribute(at.node, "perm"), ints_attribute(inner, "perm")
    size = rank(inner.inputs[0])
    if size is None:
        size = len(outer_order or inner_order or ()) or None
    if size is None:
        return None
    backwards = tuple(reversed(range(size)))
    outer_order, inner_order = outer_order or backwards, inner_order or backwards
    if len(outer_order) != size or len(inner_order) != size:
        return None
    order = [inner_order[each] for each in outer_order]
    if order == list(range(size)):
        return inner.inputs[0]
    return at.op("Transpose", inner.inputs[0], perm=order)


def transpose_as_reshape(at: Attempt) -> Outcome:
    """A transpose that only moves dimensions of size 1, of a fixed shape: a reshape, which moves nothing."""
    shape, order = fixed_shape(at.input(0)), ints_attribute(at.node, "perm")
    if shape is None or order is None or at.version < 5 or 0 in shape:
        return None
    moved = [axis for axis in order if shape[axis] != 1]
    if moved != sorted(moved):
        return None
    return at.op("Reshape", at.input(0), at.constant([shape[axis] for axis in order], "shape"))


def reshape_of_reshape(at: Attempt) -> Outcome:
    """A reshape of what only has another shape of the same elements: one reshape of those."""
    inner = made_by(at.input(0), "Reshape", "Flatten", "Squeeze", "Unsqueeze")
    source = None if inner is None else inner.inputs[0]
    wanted = at.numbers(1) if at.version >= 5 else None
    if inner is None or source is None or wanted is None:
        return None
    if 0 in wanted:
        if int_attribute(at.node, "allowzero", 0):
            return None
        target = _without_zeros(wanted, dimensions(at.input(0)), dimensions(source))
        if target is None:
            return None
        wanted = target
    return at.op("Reshape", source, at.constant(list(wanted), "shape"))


def _without_zeros(
    wanted: tuple[int, ...], middle: tuple[Dimension, ...] | None, source: tuple[Dimension, ...] | None
) -> tuple[int, ...] | None:
    """A shape whose zeros, each a size of the tensor in between, are told as sizes of the tensor before it."""
    if middle is None:
        return None
    result: list[int] = []
    for place, size in enumerate(wanted):
        if size != 0:
            result.append(size)
            continue
        own = middle[place] if place < len(middle) else None
        if isinstance(own, int) and own > 0:
            result.append(own)
        elif own is not None and source is not None and place < len(source) and source[place] == own:
            result.append(0)
        else:
            return None
    return tuple(result)


def transpose_between_reshapes(at: Attempt) -> Outcome:
    """Matrices that are turned while the dimensions before them are one: turned as they are.

    `(…, s, d)` becomes `(n, s, d)`, then `(n, d, s)`, then `(a, b, d, s)`.
    """
    turning = made_by(at.input(0), "Transpose")
    joining = made_by(turning.inputs[0], "Reshape") if turning is not None else None
    if turning is None or joining is None or ints_attribute(turning, "perm") != (0, 2, 1):
        return None
    middle, result, source = (
        dimensions(each) for each in (turning.inputs[0], at.node.outputs[0], joining.inputs[0])
    )
    if (
        middle is None
        or result is None
        or source is None
        or len(result) < 4
        or None in (*middle[1:], *result)
    ):
        return None
    if source[-2:] != middle[1:] or result[-2:] != (middle[2], middle[1]):
        return None
    before = (*result[:-2], *middle[1:])
    parted = joining.inputs[0]
    if source != before:
        sizes = [each if isinstance(each, int) else -1 for each in before]
        if sizes.count(-1) > 1 or 0 in sizes:
            return None
        parted = at.op("Reshape", parted, at.constant(sizes, "shape"))
        parted.type = at.node.outputs[0].type
        parted.shape = ir.Shape(before)
    order = list(range(len(result)))
    order[-2:] = order[-1], order[-2]
    return at.op("Transpose", parted, perm=order)


def reshape_with_fixed_sizes(at: Attempt) -> Outcome:
    """A reshape whose result has at most one open size: a constant shape."""
    result = dimensions(at.node.outputs[0])
    if at.version < 5 or result is None or at.edit.is_constant(at.input(1)) or at.input(1) is None:
        return None
    source = dimensions(at.input(0))
    wanted: list[int] = []
    is_open = False
    for place, size in enumerate(result):
        if isinstance(size, int):
            if size == 0:
                return None
            wanted.append(size)
        elif size is not None and source is not None and place < len(source) and source[place] == size:
            wanted.append(0)  # the size of the input in this place
        elif not is_open:
            is_open = True
            wanted.append(-1)
        else:
            return None
    if is_open and 0 in wanted:
        return None  # where the size that is copied is 0, nothing says what -1 is
    return at.op("Reshape", at.input(0), at.constant(wanted, "shape"))


def squeeze_of_unsqueeze(at: Attempt) -> Outcome:
    """Axes that are put in and taken out again."""
    inner = made_by(at.input(0), "Unsqueeze" if at.node.op_type == "Squeeze" else "Squeeze")
    if inner is None or inner.inputs[0] is None:
        return None
    mine, theirs = _axes(at, at.node), _axes(at, inner)
    wide = rank(at.input(0)) if at.node.op_type == "Squeeze" else rank(inner.inputs[0])
    if mine is None or theirs is None:
        return None
    if wide is not None:
        mine, theirs = tuple(a % wide for a in mine), tuple(a % wide for a in theirs)
    return (
        inner.inputs[0] if sorted(mine) == sorted(theirs) and min((*mine, *theirs), default=0) >= 0 else None
    )


def _axes(at: Attempt, node: ir.Node) -> tuple[int, ...] | None:
    """The axes of a `Squeeze` or `Unsqueeze`, where they are known."""
    if at.version < 13:
        return ints_attribute(node, "axes")
    return at.edit.numbers(node.inputs[1]) if len(node.inputs) > 1 else None


def unsqueeze_of_unsqueeze(at: Attempt) -> Outcome:
    """Axes that are put in one after the other: all at once."""
    inner = made_by(at.input(0), "Unsqueeze")
    if inner is None or inner.inputs[0] is None or readers(inner.outputs[0]) > 1:
        return None
    size = rank(inner.inputs[0])
    mine, theirs = _axes(at, at.node), _axes(at, inner)
    if size is None or mine is None or theirs is None:
        return None
    middle = size + len(theirs)
    last = middle + len(mine)
    outer = {each % last for each in mine}
    kept = [place for place in range(last) if place not in outer]
    axes = sorted(outer | {kept[each % middle] for each in theirs})
    if at.version >= 13:
        return at.op("Unsqueeze", inner.inputs[0], at.constant(axes, "axes"))
    return at.op("Unsqueeze", inner.inputs[0], axes=axes)


def concat_of_concat(at: Attempt) -> Outcome:
    """Tensors that are joined along the axis that they are joined along afterwards."""
    axis = int_attribute(at.node, "axis", 1)
    size = rank(at.node.outputs[0])

    def place(number: int) -> int:
        return number if size is None else number % size

    flat: list[ir.Value | None] = []
    is_changed = False
    for value in at.node.inputs:
        inner = made_by(value, "Concat")
        is_joined = (
            inner is not None
            and value is not None
            and readers(value) == 1
            and place(int_attribute(inner, "axis", 1)) == place(axis)
        )
        if inner is not None and is_joined:
            flat.extend(inner.inputs)
            is_changed = True
        else:
            flat.append(value)
    return at.op("Concat", *flat, axis=axis) if is_changed else None


def slice_of_slice(at: Attempt) -> Outcome:
    """Slices of other axes, one after the other: one slice."""
    inner = made_by(at.input(0), "Slice")
    if at.version < 10 or inner is None or inner.inputs[0] is None or readers(inner.outputs[0]) > 1:
        return None
    size = rank(at.input(0))
    parts = [_slice_parts(at, each.inputs) for each in (inner, at.node)]
    if size is None or any(each is None for each in parts):
        return None
    first, second = ([(s, e, a % size, t) for s, e, a, t in part or ()] for part in parts)
    if {each[2] for each in first} & {each[2] for each in second}:
        return None
    starts, ends, axes, steps = zip(*first, *second, strict=True)
    names = ("starts", "ends", "axes", "steps")
    constants = [
        at.constant(list(each), name) for each, name in zip((starts, ends, axes, steps), names, strict=True)
    ]
    return at.op("Slice", inner.inputs[0], *constants)


def _slice_parts(at: Attempt, inputs: Sequence[ir.Value | None]) -> list[tuple[int, int, int, int]] | None:
    """Start, end, axis and step of each axis that a slice is of, where all are known."""
    values = inputs[1:]
    given = [at.edit.numbers(each) for each in values]
    if any(each is None for each, value in zip(given, values, strict=True) if value is not None):
        return None
    starts, ends = given[:2]
    if starts is None or ends is None:
        return None
    axes = given[2] if len(given) > 2 and given[2] is not None else tuple(range(len(starts)))
    steps = given[3] if len(given) > 3 and given[3] is not None else (1,) * len(starts)
    return list(zip(starts, ends, axes, steps, strict=True))


LAYOUTS = {
    "Transpose": [transpose_of_transpose, transpose_as_reshape],
    "Reshape": [transpose_between_reshapes, reshape_of_reshape, reshape_with_fixed_sizes],
    "Squeeze": [squeeze_of_unsqueeze],
    "Unsqueeze": [squeeze_of_unsqueeze, unsqueeze_of_unsqueeze],
    "Concat": [concat_of_concat],
    "Slice": [slice_of_slice],
}
