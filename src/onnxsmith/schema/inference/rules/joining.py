"""Operators that join tensors along an axis or take them apart: `Concat`, `Split`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.broadcasting import meet_dimension
from onnxsmith.schema.inference.call import Call, Result, counted, rule, tensor
from onnxsmith.schema.inference.content import as_array, from_array
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.types.value_types import Dimension, Shape, TensorType, sizes_differ


@rule("Concat")
def concat(call: Call) -> Result:
    positions = range(len(call.inputs))
    dtype = call.dtype(*positions)
    shapes = [call.shape(position) for position in positions]
    first = next((position for position in positions if shapes[position] is not None), None)
    if first is None:
        return (tensor(dtype, None),)
    base = shapes[first] or ()
    if not base:
        raise call.shape_error(f"cannot join scalars: {call.input_name(first)} has no axes", first)
    axis = call.axis("axis", 1, first, len(base))
    out = _joined_shape(call, shapes, base, axis, first)
    return (Known(TensorType(dtype, out), _joined(call, axis) if len(base) == 1 else None),)


def _joined_shape(call: Call, shapes: Sequence[Shape | None], base: Shape, axis: int, first: int) -> Shape:
    out: list[Dimension] = list(base)
    total: Dimension = 0
    for position, shape in enumerate(shapes):
        if shape is None:
            total = None
            continue
        if len(shape) != len(base):
            raise call.shape_error(
                f"cannot join {call.described(first)} and {call.described(position)}: the ranks are "
                f"{len(base)} and {len(shape)}",
                position,
            )
        total = symbolic.add(total, shape[axis])
        if shape != base:
            for other, each in enumerate(shape):
                held = out[other]
                if held == each or other == axis:
                    continue
                if not isinstance(held, int) or not isinstance(each, int):
                    out[other] = None if held == 0 or each == 0 else meet_dimension(held, each)
                elif any(given is not None and 0 in given for given in shapes):
                    out[other] = None  # ONNX Runtime passes over an empty input, whatever its sizes
                else:
                    raise _cannot_join(call, shapes, position, axis, other, held)
    out[axis] = total
    return tuple(out)


def _cannot_join(
    call: Call, shapes: Sequence[Shape | None], position: int, axis: int, other: int, held: int
) -> Exception:
    shape = shapes[position]
    before = next(k for k, each in enumerate(shapes) if each is not None and each[other] == held)
    return call.shape_error(
        f"cannot join {call.described(before)} and {call.described(position)} along axis {axis}: "
        f"axis {other} is {held} and {None if shape is None else shape[other]}",
        position,
    )


def _joined(call: Call, axis: int) -> Data:
    """The content of joined vectors; an input of known length and unknown content leaves its entries open."""
    entries: list[Dimension] = []
    for position, known in enumerate(call.inputs):
        if known is None:
            return None
        if isinstance(known.data, tuple):
            entries.extend(known.data)
            continue
        array = as_array(known)
        if array is None:
            shape = call.shape(position)
            size = shape[0] if shape else None
            if not isinstance(size, int) or size > 64:
                return None
            entries.extend([None] * size)
        elif array.dtype.kind in "iu":
            entries.extend(array.tolist())
        else:
            return _joined_arrays(call, axis)
    if len(entries) > 1024 or (entries and all(each is None for each in entries)):
        return None
    return tuple(entries)


def _joined_arrays(call: Call, axis: int) -> Data:
    arrays = [as_array(known) for known in call.inputs]
    given = [each for each in arrays if each is not None]
    return from_array(np.concatenate(given, axis)) if len(given) == len(arrays) else None


@rule("Split")
def split(call: Call) -> Result:
    shape, dtype, count = call.shape(0), call.dtype(0), call.output_count
    since = call.op.since_version
    sizes: Sequence[Dimension] | None
    if since >= 13 or (since == 1 and call.input(1) is not None):
        sizes = call.entries(1)
        is_open = call.input(1) is not None and sizes is None
    else:
        sizes = call.integers("split")
        is_open = False
    if shape is None:
        return (tensor(dtype, None),) * count
    axis = call.axis("axis", 0, 0, len(shape))
    whole = shape[axis]
    if sizes is None:
        sizes = (None,) * count if is_open else _even(call, axis, whole, count)
    elif len(sizes) != count:
        raise call.shape_error(
            f"has {counted(count, 'output')} but {counted(len(sizes), 'size')} in split",
            1 if since >= 13 else None,
        )
    else:
        total = _sum(sizes)
        if sizes_differ(total, whole):
            raise call.shape_error(
                f"cannot split axis {axis} of {call.described(0)} into {tuple(sizes)}: that is {total}, not {whole}",
                1 if since >= 13 else "split",
            )
    pieces = _pieces(call, sizes) if len(shape) == 1 else [None] * count
    return tuple(
        Known(TensorType(dtype, (*shape[:axis], size, *shape[axis + 1 :])), piece)
        for size, piece in zip(sizes, pieces, strict=True)
    )


def _even(call: Call, axis: int, whole: Dimension, count: int) -> tuple[Dimension, ...]:
    """Equal parts; since opset 18 the last may be smaller, where num_outputs says how many there are."""
    if call.op.since_version < 18 or call.attribute("num_outputs") is None:
        if isinstance(whole, int) and whole % count:
            raise call.shape_error(
                f"cannot split axis {axis} of {call.described(0)} into {count} equal parts", 0
            )
        return (symbolic.floordiv(whole, count),) * count
    parts = call.integer("num_outputs", count)
    if parts != count:
        raise call.attribute_error("num_outputs", f"has {counted(count, 'output')} but num_outputs={parts}")
    size = symbolic.ceildiv(whole, count)
    if isinstance(whole, int) and isinstance(size, int):
        last = whole - size * (count - 1)
        if last < 0:
            return (None,) * count
        return (*(size,) * (count - 1), last)
    if symbolic.is_same(symbolic.mul(symbolic.floordiv(whole, count), count), whole):
        return (symbolic.floordiv(whole, count),) * count
    if count == 2:
        return size, symbolic.sub(whole, size)
    # With few elements the later parts run empty, and runtimes differ on how.
    return (size, *(None,) * (count - 1))


def _sum(sizes: Sequence[Dimension]) -> Dimension:
    total: Dimension = 0
    for each in sizes:
        total = symbolic.add(total, each)
    return total


def _pieces(call: Call, sizes: Sequence[Dimension]) -> list[Data]:
    array = as_array(call.inputs[0])
    lengths = [each for each in sizes if isinstance(each, int)]
    if array is None or array.ndim != 1 or len(lengths) < len(sizes) or sum(lengths) != array.size:
        return [None] * len(sizes)
    ends = list(itertools.accumulate(lengths))
    return [from_array(array[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
