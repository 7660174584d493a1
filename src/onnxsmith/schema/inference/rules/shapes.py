"""Operators that read a shape, or change it without counting elements: `Shape`, `Transpose`, `Squeeze`, `Flatten`."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.content import moved
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, TensorType


@rule("Identity")
def identity(call: Call) -> Result:
    known = call.inputs[0]
    return None if known is None else (known,)


@rule("Shape")
def shape_of(call: Call) -> Result:
    shape = call.shape(0)
    if shape is None:
        return (tensor(DType.INT64, (None,)),)
    if call.attributes:
        rank = len(shape)
        start, end = call.integer("start", 0), call.integer("end", rank)
        shape = shape[start:end]  # both are clamped to the rank, as Python's slices are
    return (Known(TensorType(DType.INT64, (len(shape),)), shape),)


@rule("Size")
def size_of(call: Call) -> Result:
    shape = call.shape(0)
    return (Known(TensorType(DType.INT64, ()), None if shape is None else symbolic.product(shape)),)


@rule("Flatten")
def flatten(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    if shape is None:
        return (tensor(dtype, (None, None)),)
    rank = len(shape)
    axis = call.integer("axis", 1)
    if not -rank <= axis <= rank:
        raise call.attribute_error(
            "axis", f"cannot use axis={axis} on {call.described(0)}: it is from {-rank} to {rank}"
        )
    axis = axis + rank if axis < 0 else axis
    return (tensor(dtype, (symbolic.product(shape[:axis]), symbolic.product(shape[axis:]))),)


def _axes(call: Call) -> tuple[str | int, Sequence[Dimension] | None]:
    """Where the axes come from, an attribute or since opset 13 an input, and what is known of them."""
    if call.op.since_version < 13:
        return "axes", call.integers("axes")
    entries = call.entries(1)
    if entries is None and (entry := call.entry(1)) is not None:  # a scalar, which runtimes accept
        return 1, (entry,)
    return 1, entries


@rule("Squeeze")
def squeeze(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    source, axes = _axes(call)
    if source == 1 and call.input(1) is not None and (axes is None or not _are_numbers(axes)):
        # Of several axes, some may be the same.
        is_known = bool(shape) and call.length(1) == 1
        return (tensor(dtype, (None,) * (len(shape or ()) - 1) if is_known else None),)
    if shape is None:
        return (tensor(dtype, None),)
    if not axes:
        if not _are_numbers(shape) or (axes is not None and 1 in shape):
            # No axes means all of size 1; an empty list of them means that to some runtimes, to others none.
            return (tensor(dtype, None),)
        out = tuple(each for each in shape if each != 1)
    else:
        numbers = [each for each in axes if isinstance(each, int)]
        removed = call.check_axes(numbers, source, len(shape), may_repeat=True)
        for axis in removed:
            size = shape[axis]
            if isinstance(size, int) and size != 1:
                message = f"cannot drop axis {axis} of {call.described(0)}: its size is {size}, not 1"
                raise call.axes_error(source, message)
        out = tuple(each for position, each in enumerate(shape) if position not in removed)
    return (Known(TensorType(dtype, out), moved(call.inputs[0], out)),)


def _are_numbers(entries: Sequence[Dimension]) -> bool:
    return all(isinstance(each, int) for each in entries)


@rule("Unsqueeze")
def unsqueeze(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    source, axes = _axes(call)
    if axes is None or not _are_numbers(axes) or shape is None:
        count = call.length(1) if axes is None else len(axes)
        return (tensor(dtype, None if shape is None or count is None else (None,) * (len(shape) + count)),)
    numbers = [each for each in axes if isinstance(each, int)]
    rank = len(shape) + len(numbers)
    for axis in numbers:
        if not -rank <= axis < rank:
            allowed = f"an axis of the result is from {-rank} to {rank - 1}"
            raise call.axes_error(source, f"cannot put axis {axis} into {call.described(0)}: {allowed}")
    added = {axis + rank if axis < 0 else axis for axis in numbers}
    if len(added) < len(numbers):
        raise call.axes_error(source, f"names an axis twice in axes={tuple(numbers)}")
    rest = iter(shape)
    out = tuple(1 if position in added else next(rest) for position in range(rank))
    return (Known(TensorType(dtype, out), moved(call.inputs[0], out)),)


@rule("Transpose")
def transpose(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    order = call.integers("perm")
    if shape is None:
        return (tensor(dtype, None if order is None else (None,) * len(order)),)
    if order is None:
        return (tensor(dtype, shape[::-1]),)
    if sorted(order) != list(range(len(shape))):
        allowed = f"it names each of the axes 0 to {len(shape) - 1} once" if shape else "a scalar has no axes"
        raise call.attribute_error("perm", f"cannot use perm={order} on {call.described(0)}: {allowed}")
    return (tensor(dtype, tuple(shape[axis] for axis in order)),)
