"""Operators that pick elements or write to some: `Gather`, `Slice`, `ScatterND`, `TopK`, `OneHot` and their kin."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.content import as_array, from_array
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.schema.inference.rules.elementwise import same_as_input
from onnxsmith.schema.inference.slicing import slice_length
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, TensorType, describe_shape, sizes_differ


@rule("Gather")
def gather(call: Call) -> Result:
    shape, indices, dtype = call.shape(0), call.shape(1), call.dtype(0)
    if shape is None:
        return (tensor(dtype, None),)
    axis = call.axis("axis", 0, 0, len(shape))
    _check_indices(call, axis, shape[axis])
    if indices is None:
        return (tensor(dtype, None),)
    out = shape[:axis] + indices + shape[axis + 1 :]
    return (Known(TensorType(dtype, out), _gathered(call) if len(shape) == 1 else None),)


def _check_indices(call: Call, axis: int, size: Dimension) -> None:
    array = as_array(call.input(1)) if isinstance(size, int) else None
    if array is None or array.dtype.kind not in "iu" or not isinstance(size, int):
        return
    for each in array.ravel().tolist():
        if not -size <= each < size:
            allowed = f"it is from {-size} to {size - 1}" if size else "the axis is empty"
            raise call.index_error(
                f"cannot take index {each} along axis {axis} of {call.described(0)}: {allowed}", 1
            )


def _gathered(call: Call) -> Data:
    index, entries = call.entry(1), call.entries(0)
    if isinstance(index, int) and entries is not None and call.shape(1) == ():
        return entries[index] if -len(entries) <= index < len(entries) else None
    values, indices = as_array(call.input(0)), as_array(call.input(1))
    if values is None or indices is None or indices.dtype.kind not in "iu":
        return None
    try:
        return from_array(np.asarray(values[indices], values.dtype))
    except IndexError:
        return None


@rule("GatherElements")
def gather_elements(call: Call) -> Result:
    shape, indices = call.shape(0), call.shape(1)
    if shape is not None:
        axis = call.axis("axis", 0, 0, len(shape))
        _check_rank_of_indices(call, shape, indices)
        for position, (size, wanted) in enumerate(zip(shape, indices or (), strict=False)):
            if position != axis and isinstance(size, int) and isinstance(wanted, int) and wanted > size:
                raise call.shape_error(
                    f"cannot take {call.described(1)} from {call.described(0)}: "
                    f"axis {position} is {wanted} and {size}",
                    1,
                )
    return (tensor(call.dtype(0), indices),)


def _check_rank_of_indices(call: Call, shape: Shape, indices: Shape | None) -> None:
    if indices is not None and len(indices) != len(shape):
        raise call.shape_error(
            f"needs {call.input_name(0)} and {call.input_name(1)} of one rank, "
            f"not {call.described(0)} and {call.described(1)}",
            1,
        )


@rule("GatherND")
@rule("GatherND", domain="com.microsoft")
def gather_nd(call: Call) -> Result:
    shape, indices, dtype = call.shape(0), call.shape(1), call.dtype(0)
    batch = call.integer("batch_dims", 0)
    if batch < 0:
        raise call.attribute_error("batch_dims", f"cannot have batch_dims={batch}")
    if shape is None or indices is None or not indices or not isinstance(indices[-1], int):
        return (tensor(dtype, None),)
    taken = batch + indices[-1]
    if taken > len(shape):
        raise call.shape_error(
            f"cannot index {call.described(0)} with {call.described(1)}: "
            f"{taken} coordinates for {len(shape)} axes",
            1,
        )
    return (tensor(dtype, indices[:-1] + shape[taken:]),)


@rule("ScatterElements", "Scatter", "ScatterND", "TensorScatter")
def scatter(call: Call) -> Result:
    shape = call.shape(0)
    if shape is not None and call.op.name == "TensorScatter":
        call.axis("axis", -2, 0, len(shape))
        places = call.shape(2) if call.input(2) is not None else None
        if places is not None and (len(places) != 1 or sizes_differ(places[0], shape[0])):
            raise call.shape_error(f"needs one place for each batch, not {call.described(2)}", 2)
    if shape is not None and call.op.name in ("ScatterElements", "Scatter"):
        call.axis("axis", 0, 0, len(shape))
        _check_rank_of_indices(call, shape, call.shape(1))
    return (tensor(call.dtype(0), shape),)


@rule("Slice")
def slice_(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    if shape is None:
        return (tensor(dtype, None),)
    by_input = call.op.since_version >= 10
    if by_input:
        _check_lists(call)
    rank = len(shape)
    starts: Sequence[Dimension] | None = call.entries(1) if by_input else call.integers("starts")
    ends: Sequence[Dimension] | None = call.entries(2) if by_input else call.integers("ends")
    axes = _slice_axes(call, by_input, len(starts or ends or ()), rank)
    steps = call.entries(4) if by_input else None
    if by_input and call.input(4) is not None and steps is None:
        starts = ends = None
    if axes is None:
        return (tensor(dtype, (None,) * rank),)
    out = list(shape)
    for position, axis in enumerate(axes):
        if starts is None or ends is None or position >= len(starts) or position >= len(ends):
            out[axis] = 0 if shape[axis] == 0 else None
            continue
        step = steps[position] if steps is not None and position < len(steps) else 1
        if step == 0:
            raise call.shape_error(f"cannot step by 0 along axis {axis} of {call.described(0)}", 4)
        start, end = starts[position], ends[position]
        out[axis] = slice_length(shape[axis], start, end, step) if isinstance(step, int) else None
    data = _sliced(call, starts, ends, steps) if rank == 1 and out[0] is not None else None
    return (Known(TensorType(dtype, tuple(out)), data),)


def _check_lists(call: Call) -> None:
    """Every axis has one start, one end and one step."""
    lengths = {call.input_name(k): call.length(k) for k in range(1, 5) if call.input(k) is not None}
    known = {name: each for name, each in lengths.items() if each is not None}
    if len(set(known.values())) > 1:
        told = ", ".join(f"{each} in {name}" for name, each in known.items())
        raise call.shape_error(f"needs as many entries in each of its lists, not {told}")


def _slice_axes(call: Call, by_input: bool, count: int, rank: int) -> tuple[int, ...] | None:
    """The axes that are sliced, from the front; None when they are not known."""
    if by_input and call.input(3) is not None:
        entries = call.entries(3)
        numbers = [each for each in entries or () if isinstance(each, int)]
        if entries is None or len(numbers) < len(entries):
            return None
        return call.check_axes(numbers, 3, rank)
    given = None if by_input else call.integers("axes")
    if given is not None:
        return call.check_axes(given, "axes", rank)
    if not count:
        size = call.length(1)
        return tuple(range(size)) if size is not None and size <= rank else None
    if count > rank:
        raise call.shape_error(f"cannot slice {count} axes of {call.described(0)}")
    return tuple(range(count))


def _sliced(
    call: Call,
    starts: Sequence[Dimension] | None,
    ends: Sequence[Dimension] | None,
    steps: Sequence[Dimension] | None,
) -> Data:
    array = as_array(call.input(0))
    if array is None or starts is None or ends is None or len(starts) != 1 or len(ends) != 1:
        return None
    start, end, step = starts[0], ends[0], steps[0] if steps else 1
    if not isinstance(start, int) or not isinstance(end, int) or not isinstance(step, int):
        return None
    return from_array(array[start:end:step])


@rule("TopK")
def top_k(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    count: Dimension = call.integer("k", 0) if call.op.since_version < 10 else call.entry(1)
    if shape is None:
        return tensor(dtype, None), tensor(DType.INT64, None)
    axis = call.axis("axis", -1, 0, len(shape))
    size = shape[axis]
    if isinstance(count, int) and isinstance(size, int) and count > size:
        raise call.shape_error(
            f"cannot take {count} elements along axis {axis} of {call.described(0)}: it has {size}",
            1 if call.op.since_version >= 10 else "k",
        )
    if isinstance(count, int) and count < 0:
        count = None
    out = (*shape[:axis], count, *shape[axis + 1 :])
    return tensor(dtype, out), tensor(DType.INT64, out)


@rule("OneHot")
def one_hot(call: Call) -> Result:
    indices, depth, dtype = call.shape(0), call.entry(1), call.dtype(2)
    if depth is None and (array := call.array(1)) is not None and array.size == 1 and array.dtype.kind == "f":
        number = float(array.item())
        if not math.isfinite(number):
            raise call.shape_error(f"cannot count to a depth of {number}", 1)
        depth = int(number)
    if indices is None:
        return (tensor(dtype, None),)
    rank = len(indices) + 1
    axis = call.integer("axis", -1)
    if not -rank <= axis < rank:
        raise call.attribute_error(
            "axis", f"cannot use axis={axis} on {call.described(0)}: it is from {-rank} to {rank - 1}"
        )
    axis = axis + rank if axis < 0 else axis
    return (tensor(dtype, (*indices[:axis], depth, *indices[axis:])),)


@rule("NonZero")
def non_zero(call: Call) -> Result:
    shape = call.shape(0)
    return (tensor(DType.INT64, (None if shape is None else len(shape), None)),)


@rule("Compress")
def compress(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    if call.attribute("axis") is None:
        return (tensor(dtype, (_count_true(call),)),)
    if shape is None:
        return (tensor(dtype, None),)
    axis = call.axis("axis", 0, 0, len(shape))
    return (tensor(dtype, (*shape[:axis], _count_true(call), *shape[axis + 1 :])),)


def _count_true(call: Call) -> Dimension:
    condition = call.array(1)
    return int(np.count_nonzero(condition)) if condition is not None and condition.dtype == np.bool_ else None


@rule("Unique")
def unique(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    if call.attribute("axis") is None:
        values: Shape | None = (None,)
        length = None if shape is None else symbolic.product(shape)
    elif shape is None:
        values, length = None, None
    else:
        axis = call.axis("axis", 0, 0, len(shape))
        values, length = (*shape[:axis], None, *shape[axis + 1 :]), shape[axis]
    return (
        tensor(dtype, values),
        tensor(DType.INT64, (None,)),
        tensor(DType.INT64, (length,)),
        tensor(DType.INT64, (None,)),
    )


@rule("ReverseSequence", "Trilu")
def rearranged(call: Call) -> Result:
    shape = call.shape(0)
    if shape is not None and len(shape) < 2:
        raise call.shape_error(f"needs at least two axes, not {call.described(0)}", 0)
    if shape is not None and call.op.name == "ReverseSequence":
        _check_lengths(call, shape)
    return same_as_input(call)


def _check_lengths(call: Call, shape: Shape) -> None:
    """One length for each entry of the batch."""
    lengths, axis = call.shape(1), call.integer("batch_axis", 1)
    if lengths is None or axis not in (0, 1):
        return
    count = lengths[0] if len(lengths) == 1 else -1
    if sizes_differ(count, shape[axis]):
        raise call.shape_error(
            f"needs one length for each entry of axis {axis} of {call.described(0)}, not {call.described(1)}",
            1,
        )


@rule("NonMaxSuppression")
def non_max_suppression(call: Call) -> Result:
    return (tensor(DType.INT64, (None, 3)),)


@rule("CenterCropPad")
def center_crop_pad(call: Call) -> Result:
    shape, sizes, dtype = call.shape(0), call.entries(1), call.dtype(0)
    if shape is None:
        return (tensor(dtype, None),)
    given = call.integers("axes")
    axes = tuple(range(len(shape))) if given is None else call.check_axes(given, "axes", len(shape))
    if sizes is not None and len(sizes) != len(axes):
        raise call.shape_error(
            f"needs one size in shape per axis, not {describe_shape(sizes)} for {len(axes)} axes", 1
        )
    out = list(shape)
    for position, axis in enumerate(axes):
        out[axis] = None if sizes is None else sizes[position]
    return (tensor(dtype, tuple(out)),)
