"""numpy's methods that move or convert elements, each defined once for both kinds of tensor.

Sums and the like are in `reductions`, `int(x)` and the like in `conversions`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.operands import (
    Axes,
    as_tensor,
    data_of,
    dtype_of,
    is_array,
    is_static,
    needed_rank,
    operators_for,
    rank_of,
    read_axes,
    read_axis,
    shape_of,
)
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics import dimensions
from onnxsmith.core.value import (
    Array,
    NumberValue,
    Operand,
    PythonNumber,
    Size,
    TensorOrArray,
    TensorValue,
    Value,
)
from onnxsmith.errors import AttributeTypeError, AttributeValueError, DTypeNotAllowedError, ShapeError
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.promote import is_literal, literal_array
from onnxsmith.types.annotations import DTypeLike, read_dtype
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, describe_shape

#: A size that is known, one that the model computes, or one that no node was made for yet.
ShapeEntry: TypeAlias = SupportsIndex | TensorValue | dimensions.OpenDimension
#: An argument of `reshape`: an entry, or all of them.
ShapePart: TypeAlias = ShapeEntry | Array | Sequence[ShapeEntry]


def rank(x: TensorValue) -> int:
    """`x.ndim`; UnknownRankError where the graph does not know it."""
    return needed_rank(x, "x.ndim")


def size(x: TensorValue) -> PythonNumber:
    """`x.size`: an int, or a number that the model knows."""
    shape = shape_of(x)
    count = None if shape is None else symbolic.product(shape)
    return count if isinstance(count, int) else operators_for(x).Size(x).as_number()


def transpose(x: TensorValue, *axes: Axes) -> TensorValue:
    """`x.transpose()`, `x.transpose(1, 0)` and `x.transpose((1, 0))`."""
    op = operators_for(x)
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], list | tuple)):
        axes = () if axes[0] is None else tuple(axes[0])
        if not axes and rank_of(x):
            raise AttributeValueError(f"transpose needs {rank_of(x)} axes, or none at all")
    if not axes:
        return x if rank_of(x) in (0, 1) else op.Transpose(x)
    order = tuple(read_axis(cast(int, each), rank_of(x) or len(axes)) for each in axes)  # which checks it
    if rank_of(x) not in (None, len(order)) or sorted(order) != list(range(len(order))):
        has = "a tensor of unknown rank" if rank_of(x) is None else f"a tensor of {rank_of(x)} dimensions"
        raise AttributeValueError(f"transpose needs each axis once: {axes} does not order {has}")
    if rank_of(x) is not None and order == tuple(range(len(order))):
        return x
    is_reversed = rank_of(x) is not None and order == tuple(reversed(range(len(order))))
    return op.Transpose(x) if is_reversed else op.Transpose(x, perm=order)


def swapaxes(x: TensorValue, first: int, second: int) -> TensorValue:
    """`x.swapaxes(0, 1)`"""
    order = list(range(needed_rank(x, "swapaxes")))
    a, b = read_axis(first, len(order)), read_axis(second, len(order))
    order[a], order[b] = order[b], order[a]
    return transpose(x, tuple(order)) if order else x


def astype(x: TensorValue, dtype: DTypeLike) -> TensorValue:
    """`x.astype(FLOAT)`"""
    wanted = read_dtype(dtype)
    if wanted is None:
        shown = dtype.__name__ if isinstance(dtype, type) else repr(dtype)
        raise AttributeTypeError(
            f"astype needs an element type, and {shown} is none",
            help="FLOAT, FLOAT.dtype, np.float32 or 'float32'",
        )
    return x if dtype_of(x) is wanted else operators_for(x).Cast(x, to=wanted)


def squeeze(x: TensorValue, axis: Axes = None) -> TensorValue:
    """`x.squeeze()` and `x.squeeze(axis)`."""
    op, shape = operators_for(x), shape_of(x)
    axes = read_axes(axis, x, "squeeze")
    if axes is None and shape is not None and is_static(shape):
        axes = tuple(each for each, length in enumerate(shape) if length == 1)
    for each in axes or ():
        length = shape[each] if shape is not None else None
        if isinstance(length, int) and length != 1:
            raise ShapeError(
                f"only dimensions of size 1 can be squeezed, and axis {each} of shape "
                f"{describe_shape(cast(Shape, shape))} has size {length}"
            )
    return portable.squeeze(op, x, axes)


#: ONNX Runtime holds no 16-bit integers between bounds.
_CLIPPED_AS = {DType.INT16: DType.INT32, DType.UINT16: DType.INT32}


def clip(x: TensorValue, low: Operand | None = None, high: Operand | None = None) -> TensorValue:
    """`x.clip(low, high)`; where low exceeds high, the result is high, as in numpy."""
    op, dtype = operators_for(x, low, high), dtype_of(x)
    if low is None and high is None:
        return x
    if dtype is not None and not dtype.is_integer and not dtype.is_float:
        raise DTypeNotAllowedError(f"clip is for numbers, not {dtype.spelling}")
    bounds = [_bound(op, each, dtype) for each in (low, high)]
    wide = None if dtype is None else _CLIPPED_AS.get(dtype)
    if wide is not None and all(each is None or dtype_of(each) is dtype for each in bounds):
        low, high = (_converted(op, each, wide) for each in bounds)
        return op.Cast(_clip(op, op.Cast(x, to=wide), low, high), to=dtype)
    return _clip(op, x, *bounds)


def _bound(op: StandardOperators, bound: Operand | None, dtype: DType | None) -> Operand | None:
    if isinstance(bound, NumberValue) and dtype is not None:
        return bound.as_dtype(dtype)
    if bound is None or dtype is None or not is_literal(bound):
        return bound
    return literal_array(op.Clip.definition, 1, bound, dtype)


def _converted(op: StandardOperators, value: Operand | None, dtype: DType) -> Operand | None:
    if value is None:
        return None
    return value.astype(dtype.numpy) if is_array(value) else op.Cast(value, to=dtype)


def _clip(op: StandardOperators, x: TensorValue, low: Operand | None, high: Operand | None) -> TensorValue:
    if all(each is None or rank_of(each) == 0 for each in (low, high)):
        return portable.clip(op, x, low, high)
    if low is not None:
        x = op.Max(x, low)
    return x if high is None else op.Min(x, high)


# -- reshape -------------------------------------------------------------------------------------------


def reshape(x: TensorValue, shape: tuple[ShapePart, ...]) -> TensorValue:
    """`x.reshape(2, -1)`, `x.reshape((2, -1))`, `x.reshape(n, 4)`, `x.reshape(shape_tensor)`; a 0 is a size of 0."""
    if len(shape) == 1 and isinstance(shape[0], list | tuple):
        given = cast("Sequence[Any]", shape[0])
        shape = given.entries if isinstance(given, dimensions.Dimensions) else tuple(given)
    elif len(shape) == 1 and (isinstance(shape[0], Value) or is_array(shape[0])) and rank_of(shape[0]) != 0:
        return _reshape_to_tensor(x, shape[0])
    entries = tuple(_read_entry(each) for each in cast("tuple[ShapeEntry, ...]", shape))
    return _reshape_to_entries(x, entries)


def _read_entry(entry: ShapeEntry) -> Size | dimensions.OpenDimension:
    """An entry of a shape: an int where it is known, else a scalar tensor or one that is not made yet."""
    if isinstance(entry, dimensions.OpenDimension):
        return entry
    if isinstance(entry, Value):
        entry = as_tensor(entry)
        dtype, rank = dtype_of(entry), rank_of(entry)
        if (dtype is not None and not dtype.is_integer) or rank not in (0, None):
            shown = entry.known.type
            raise AttributeTypeError(
                f"a dimension is an int or an integer scalar tensor, not a tensor {shown!r}"
            )
        known = dimensions.symbolic_size(entry) if entry.is_symbolic else int(entry)
        return known if isinstance(known, int) else entry
    if isinstance(entry, bool | float) or not hasattr(entry, "__index__"):
        raise AttributeTypeError(f"a dimension is an int or an integer scalar tensor, not {entry!r}")
    try:
        return operator.index(entry)
    except TypeError:  # arrays and classes have the method, too
        raise AttributeTypeError(
            f"a dimension is an int or an integer scalar tensor, not {entry!r}"
        ) from None


def _reshape_to_tensor(x: TensorValue, shape: TensorOrArray) -> TensorValue:
    """The shape is one 1-D tensor: what is known of it is used, and a 0 in it is a size."""
    if isinstance(data := data_of(shape), np.ndarray):
        if data.ndim != 1 or data.dtype.kind not in "iu":
            raise AttributeTypeError(
                f"a shape is a 1-D integer tensor, not {data.dtype} of shape {data.shape}"
            )
        return _reshape_to_entries(x, tuple(int(each) for each in data))
    op = operators_for(x, shape)
    sizes = data if isinstance(data, tuple) else None
    keeps_zero = sizes is None or _may_be_zero(sizes, shape_of(x))
    return portable.reshape(op, x, portable.as_int64(op, shape), keeps_zero=keeps_zero)


def _reshape_to_entries(x: TensorValue, entries: tuple[Size | dimensions.OpenDimension, ...]) -> TensorValue:
    shape = shape_of(x)
    sizes = tuple(dimensions.symbolic_size(each) for each in entries)
    _check_reshape(sizes, shape)
    if shape is not None and is_static(shape) and sizes == shape:
        return x
    op = operators_for(x, *(each for each in entries if isinstance(each, Value)))
    if not is_static(entries):
        constant = _as_constant(sizes, shape)
        if constant is not None:
            return portable.reshape(op, x, portable.integers(constant))
    keeps_zero = _may_be_zero(sizes, shape)
    made = [each.value() if isinstance(each, dimensions.OpenDimension) else each for each in entries]
    return portable.reshape(op, x, portable.vector(op, made), keeps_zero=keeps_zero)


def _check_reshape(sizes: Sequence[Dimension], shape: Shape | None) -> None:
    """Refuse what cannot work for any input, in the words a numpy user knows."""
    written = describe_shape(tuple(sizes))
    if any(isinstance(each, int) and each < -1 for each in sizes):
        raise ShapeError(f"cannot reshape to {written}: a dimension cannot be negative, except one -1")
    if sizes.count(-1) > 1:
        raise ShapeError(f"cannot reshape to {written}: only one dimension can be left open with -1")
    total = None if shape is None else symbolic.product(shape)
    if shape is None or not isinstance(total, int):
        return
    others = [each for each in sizes if each != -1]
    count = symbolic.product(others)
    if not isinstance(count, int):
        return
    fits = count != 0 and total % count == 0 if -1 in sizes else total == count
    if not fits:
        raise ShapeError(
            f"cannot reshape a tensor of {total} elements, {describe_shape(shape)}, to {written}"
        )


def _may_be_zero(sizes: Sequence[Dimension], shape: Shape | None) -> bool:
    """True if some entry is, or may turn out to be, a 0 that does not mean the input's own dimension there."""
    for position, each in enumerate(sizes):
        if isinstance(each, int) and each != 0:
            continue
        copied = shape[position] if shape is not None and position < len(shape) else None
        if not symbolic.is_same(each, copied):
            return True
    return False


def _as_constant(sizes: Sequence[Dimension], shape: Shape | None) -> list[int] | None:
    """A shape without tensors that means the same, if there is one.

    A size that is the input's own in that place is a 0, and one that follows from the others is the -1.
    """
    if shape is None or 0 in sizes:
        return None
    constant: list[Dimension] = [
        0
        if isinstance(each, str) and position < len(shape) and symbolic.is_same(each, shape[position])
        else each
        for position, each in enumerate(sizes)
    ]
    open_positions = [position for position, each in enumerate(constant) if not isinstance(each, int)]
    if len(open_positions) == 1 and -1 not in constant and 0 not in constant:
        # A size of 0 beside the -1 would leave it undecided; and a wrong size must stay an error.
        whole, written = symbolic.product(shape), symbolic.product(sizes)
        if symbolic.is_same(whole, written):
            constant[open_positions[0]] = -1
    return list(constant) if is_static(constant) else None
