"""numpy's methods that make one element of many, each defined once for both kinds of tensor.

Element types are numpy's: small integers add up in 64 bits, the mean of integers is float64.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.operands import (
    Axes,
    dtype_of,
    needed_rank,
    operators_for,
    rank_of,
    read_axes,
    read_axis,
    shape_of,
)
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.value import TensorValue
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeTypeError, DTypeNotAllowedError, ShapeError
from onnxsmith.schema.inference import symbolic
from onnxsmith.types.dtypes import DType

#: Integers that ONNX, or ONNX Runtime, does not order, and the type in which it does. uint64 fits no other.
_ORDERED_AS = {
    DType.BOOL: DType.INT32,
    DType.INT4: DType.INT32,
    DType.UINT4: DType.INT32,
    DType.INT2: DType.INT32,
    DType.UINT2: DType.INT32,
    DType.INT16: DType.INT32,
    DType.UINT16: DType.INT32,
    DType.UINT32: DType.INT64,
}


def sum(x: TensorValue, axis: Axes = None, keepdims: bool = False) -> TensorValue:
    """`x.sum(axis, keepdims)`; the sum of nothing is 0."""
    return _accumulate("Sum", x, axis, keepdims)


def prod(x: TensorValue, axis: Axes = None, keepdims: bool = False) -> TensorValue:
    """`x.prod(axis, keepdims)`; the product of nothing is 1."""
    return _accumulate("Prod", x, axis, keepdims)


def _accumulate(kind: str, x: TensorValue, axis: Axes, keepdims: bool) -> TensorValue:
    op, dtype = operators_for(x), dtype_of(x)
    axes = read_axes(axis, x, kind.lower())
    refuse_text(kind.lower(), dtype)
    if dtype is None or not (dtype.is_integer or dtype is DType.BOOL):
        return _reduce(op, kind, x, axes, keepdims)
    # Integers wrap alike with and without a sign, and ONNX Runtime has no unsigned sums.
    result = _reduce(op, kind, _cast(op, x, DType.INT64), axes, keepdims)
    return _cast(op, result, DType.UINT64) if dtype.kind == "unsigned" else result


def mean(x: TensorValue, axis: Axes = None, keepdims: bool = False) -> TensorValue:
    """`x.mean(axis, keepdims)`; the mean of nothing is NaN."""
    op, dtype = operators_for(x), dtype_of(x)
    axes = read_axes(axis, x, "mean")
    refuse_text("mean", dtype)
    y = _cast(op, x, DType.DOUBLE) if dtype is not None and (dtype.is_integer or dtype is DType.BOOL) else x
    if _is_of_nothing(y, axes):
        return op.Div(_reduce(op, "Sum", y, axes, keepdims), 0.0)  # ONNX leaves open what ReduceMean gives
    return _reduce(op, "Mean", y, axes, keepdims)


def var(x: TensorValue, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> TensorValue:
    """`x.var(axis, ddof, keepdims)`: the mean of the squared distances from the mean; of nothing it is NaN."""
    op, dtype = operators_for(x), dtype_of(x)
    axes = read_axes(axis, x, "var")
    refuse_text("var", dtype)
    try:
        freedom = np.array(ddof, np.float64)
    except (TypeError, ValueError):
        raise AttributeTypeError(
            f"ddof is a number, not {described_type(type(ddof))}", culprit=("attribute", "ddof")
        ) from None
    y = _cast(op, x, DType.DOUBLE) if dtype is not None and (dtype.is_integer or dtype is DType.BOOL) else x
    distance = op.Sub(y, mean(y, axes, keepdims=True))
    squares = op.Mul(distance, distance)
    if freedom.ndim == 0 and freedom == 0:
        return mean(squares, axes, keepdims)
    count = _count(op, y, axes)
    left = op.Max(op.Sub(count, freedom), np.array(0.0, np.float64))
    total = _reduce(op, "Sum", squares, axes, keepdims)
    return op.Div(total, portable.cast_like(op, left, total))


def std(x: TensorValue, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> TensorValue:
    """`x.std(axis, ddof, keepdims)`: the square root of the variance."""
    return root_of_variance(operators_for(x), var(x, axis, ddof, keepdims))


def root_of_variance(op: StandardOperators, variance: TensorValue) -> TensorValue:
    """The deviation, whose gradient is 0 for equal values, as in torch; that of the root is no number there."""
    is_zero = op.Equal(variance, 0.0)
    return op.Where(is_zero, 0.0, op.Sqrt(op.Where(is_zero, 1.0, variance)))


def _count(op: StandardOperators, x: TensorValue, axes: tuple[int, ...] | None) -> TensorValue:
    """How many elements one of a reduction is made of, as a DOUBLE."""
    shape = op.Shape(x)
    sizes = shape if axes is None else op.Gather(shape, portable.integers(axes))
    return op.Cast(portable.reduce(op, "Prod", sizes, None, False), to=DType.DOUBLE)


def max(x: TensorValue, axis: Axes = None, keepdims: bool = False) -> TensorValue:
    """`x.max(axis, keepdims)`; ONNX leaves open what becomes of NaN."""
    return _extremum("Max", x, axis, keepdims)


def min(x: TensorValue, axis: Axes = None, keepdims: bool = False) -> TensorValue:
    """`x.min(axis, keepdims)`; ONNX leaves open what becomes of NaN."""
    return _extremum("Min", x, axis, keepdims)


def _extremum(kind: str, x: TensorValue, axis: Axes, keepdims: bool) -> TensorValue:
    op, dtype = operators_for(x), dtype_of(x)
    axes = read_axes(axis, x, kind.lower())
    refuse_text(kind.lower(), dtype)
    if _is_of_nothing(x, axes):
        raise ShapeError(f"{kind.lower()}() of no elements has no value: {x.type.described}")
    wide = ordered_as(op, dtype)
    if wide is None:
        return _reduce(op, kind, x, axes, keepdims)
    return op.Cast(_reduce(op, kind, op.Cast(x, to=wide), axes, keepdims), to=dtype)


def ordered_as(op: StandardOperators, dtype: DType | None) -> DType | None:
    """The type in which elements are ordered; None for their own."""
    if dtype is None:
        return None
    is_small = dtype in (DType.INT8, DType.UINT8)
    return DType.INT32 if is_small and not _allows(op, dtype) else _ORDERED_AS.get(dtype)


def argmax(x: TensorValue, axis: int | None = None, keepdims: bool = False) -> TensorValue:
    """`x.argmax(axis, keepdims)`; the first of equals."""
    return _position("ArgMax", x, axis, keepdims)


def argmin(x: TensorValue, axis: int | None = None, keepdims: bool = False) -> TensorValue:
    """`x.argmin(axis, keepdims)`; the first of equals."""
    return _position("ArgMin", x, axis, keepdims)


def _position(kind: str, x: TensorValue, axis: int | None, keepdims: bool) -> TensorValue:
    op, dtype, keepdims = operators_for(x), dtype_of(x), _flag(keepdims)
    refuse_text(kind.lower(), dtype)
    axes = read_axes(axis, x, kind.lower())
    if _is_of_nothing(x, axes):
        raise ShapeError(f"{kind.lower()}() of no elements has no value: {x.type.described}")
    wide = _ORDERED_AS.get(dtype) if dtype is not None else None
    y = x if wide is None else op.Cast(x, to=wide)
    operator = getattr(op, kind)
    if axis is None:
        flat = y if rank_of(y) == 1 else op.Reshape(y, portable.integers((-1,)))
        if not keepdims:
            return operator(flat, axis=0, keepdims=0)
        ones = portable.integers((1,) * needed_rank(x, f"{kind.lower()} with keepdims and no axis"))
        return op.Reshape(operator(flat, axis=0), ones)
    number = read_axis(axis, rank_of(x) or 0) if rank_of(x) is not None else axis
    return operator(y, axis=number) if keepdims else operator(y, axis=number, keepdims=0)


def any(x: TensorValue, axis: Axes = None, keepdims: bool = False) -> TensorValue:
    """`x.any(axis, keepdims)`; none of nothing is true."""
    op, axes, truth = _truth("any", x, axis)
    # Counted in 64 bits, where no number of elements overflows; 0 for nothing, where a maximum would be undefined.
    count = _reduce(op, "Sum", op.Cast(truth, to=DType.INT64), axes, keepdims)
    return op.Cast(count, to=DType.BOOL)


def all(x: TensorValue, axis: Axes = None, keepdims: bool = False) -> TensorValue:
    """`x.all(axis, keepdims)`; all of nothing are true."""
    op, axes, truth = _truth("all", x, axis)
    return op.Cast(_reduce(op, "Prod", op.Cast(truth, to=DType.INT32), axes, keepdims), to=DType.BOOL)


def _truth(
    name: str, x: TensorValue, axis: Axes
) -> tuple[StandardOperators, tuple[int, ...] | None, TensorValue]:
    op = operators_for(x)
    refuse_text(name, dtype_of(x))
    return op, read_axes(axis, x, name), _cast(op, x, DType.BOOL)


def refuse_text(name: str, dtype: DType | None) -> None:
    """Refuse a method of numbers on texts."""
    if dtype is DType.STRING:
        raise DTypeNotAllowedError(f"{name}() is for numbers and bool, not {dtype.spelling}")


def _reduce(
    op: StandardOperators, kind: str, x: TensorValue, axes: tuple[int, ...] | None, keepdims: bool
) -> TensorValue:
    """Over no axes at all nothing is reduced, as in numpy; ONNX would reduce over all of them."""
    keeps = _flag(keepdims)
    return x if axes == () else portable.reduce(op, kind, x, axes, keeps)


def _flag(keepdims: object) -> bool:
    """True if dimensions are kept; as in numpy, a whole number says so, too."""
    if isinstance(keepdims, int | np.bool_ | np.integer):
        return bool(cast(int, keepdims))
    raise AttributeTypeError(
        f"keepdims is True or False, not {described_type(type(keepdims))}", culprit=("attribute", "keepdims")
    )


def _allows(op: StandardOperators, dtype: DType) -> bool:
    return f"tensor({dtype.onnx_name})" in op.ReduceMax.definition.inputs[0].types


def _cast(op: StandardOperators, x: TensorValue, dtype: DType) -> TensorValue:
    return x if dtype_of(x) is dtype else op.Cast(x, to=dtype)


def _is_of_nothing(x: TensorValue, axes: tuple[int, ...] | None) -> bool:
    """True if the reduced elements are known to be none."""
    shape = shape_of(x)
    if shape is None:
        return False
    return symbolic.product(shape if axes is None else [shape[each] for each in axes]) == 0
