"""Vectors as signals: `convolve`, `correlate`, `interp`."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import reductions, signals, sorting, values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import AttributeValueError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, as_type, constant_of, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.reductions import is_empty
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_at_least, require_same
from onnxsmith.numpy.sorting import flattened

_MODES = ("full", "same", "valid")


@recorded()
def _convolved(a: Array, v: Array, dtype: NumpyDType, mode: str, is_correlation: bool) -> Array:
    kind = dtypes.onnx_type(dtype)
    x, y = (_working(tensors_of(as_type(each, dtype))) for each in (a, v))
    if is_correlation:
        y = y.conj().map(lambda part: op.Slice(part, [-1], [np.iinfo(np.int64).min], [0], [-1]))
    full = signals.convolved(x, y)
    if dtype.kind == "b":
        full = Field(~op.Equal(full.re, values.like(0, full.re)))
    start, length = _part(op.Shape(x.re), op.Shape(y.re), mode, is_correlation)
    found = full if mode == "full" else full.map(op.Slice, start, start + length, [0])
    return array_from(found.cast(kind))


def _working(x: Field) -> Field:
    return (
        signals.wide_whole(x).cast(reductions.wider(x.dtype)) if x.dtype.is_float else signals.wide_whole(x)
    )


def _part(n: Tensor, m: Tensor, mode: str, is_correlation: bool) -> tuple[Tensor, Tensor]:
    """Where a part of a full convolution begins, and how long it is."""
    less, more = op.Min(n, m), op.Max(n, m)
    before = less - np.array([1])
    if mode == "valid":
        return before, more - before
    half = op.Div(before, np.array([2]))
    if is_correlation:
        # numpy exchanges the two where the second is longer, and turns the result round.
        half = op.Where(n < m, before - half, half)
    return half, more


def _vectors(a: ArrayLike, v: ArrayLike, mode: str) -> tuple[Array, Array]:
    first, second = array_of(a), array_of(v)
    if first.ndim > 1 or second.ndim > 1:
        raise ShapeError("what is convolved has one dimension")
    pair = tuple(flattened(each, None)[0] for each in (first, second))
    for each, name in zip(pair, "av", strict=True):
        if is_empty(each):
            raise AttributeValueError(f"{name} has no elements", culprit=("attribute", name))
        require_at_least(each.shape[0], 1, ValueError(f"{name} cannot be empty"))
    check_choice("mode", mode, *_MODES)
    return pair[0], pair[1]


@public("convolve")
def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Array:
    """The convolution of two vectors: all of it, as long as the longer one, or where they overlap wholly.

    >>> import onnxsmith.numpy as xp
    >>> xp.convolve(xp.asarray([1, 2, 3]), xp.asarray([0, 1]))
    Array([0, 1, 2, 3])
    """
    first, second = _vectors(a, v, mode)
    return _convolved(first, second, np.promote_types(first.dtype, second.dtype), mode, False)


@public("correlate")
def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Array:
    """The cross-correlation of two vectors.

    >>> import onnxsmith.numpy as xp
    >>> xp.correlate(xp.asarray([1, 2, 3]), xp.asarray([0, 1]), "full")
    Array([1, 2, 3, 0])
    """
    given = array_of(a), array_of(v)
    if not all(each.ndim for each in given):
        raise ShapeError("what is correlated has one dimension")
    first, second = _vectors(*given, mode)
    return _convolved(first, second, np.promote_types(first.dtype, second.dtype), mode, True)


# -- between points --------------------------------------------------------------------------------------


@recorded()
def _interpolated(x: Array, points: Array, heights: Array, left: Array | None, right: Array | None) -> Array:
    ends = [None if each is None else tensors_of(each) for each in (left, right)]
    return array_from(signals.between_points(tensor_of(x), tensor_of(points), tensors_of(heights), *ends))


@recorded()
def _periodic(points: Array, heights: Array, period: float) -> tuple[Array, Array]:
    """Points of one period in order, with one more at either end."""
    at = tensor_of(points)
    order = sorting.order(Field(at), 0)
    at = op.Gather(at, order)
    before, behind = op.Slice(at, [-1], [np.iinfo(np.int64).max]), op.Slice(at, [0], [1])
    length = values.like(period, at)
    ends = op.Concat(before - length, at, behind + length, axis=0)

    def turned(part: Tensor) -> Tensor:
        sorted_ = op.Gather(part, order)
        last = op.Slice(sorted_, [-1], [np.iinfo(np.int64).max])
        return op.Concat(last, sorted_, op.Slice(sorted_, [0], [1]), axis=0)

    return array_from(ends), array_from(tensors_of(heights).map(turned))


@public("interp")
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
    period: float | None = None,
) -> Array:
    """Linear interpolation at `x` between points, whose places `xp` rise.

    >>> import onnxsmith.numpy as xp
    >>> xp.interp(2.5, xp.asarray([1, 2, 3]), xp.asarray([3, 2, 0]))
    Array(1.)
    """
    at, points, heights = array_of(x), array_of(xp), array_of(fp)
    if points.ndim != 1 or heights.ndim != 1:
        raise ShapeError("points have one dimension")
    if "c" in (at.dtype.kind, points.dtype.kind):
        raise InputTypeError("places are real numbers")
    sizes = points.shape[0], heights.shape[0]
    if all(isinstance(each, int) for each in sizes) and sizes[0] != sizes[1]:
        raise ShapeError(f"there are {sizes[0]} places and {sizes[1]} heights")
    if is_empty(points):
        raise ShapeError("there are no points")
    require_at_least(sizes[0], 1, ValueError("array of sample points is empty"))
    require_same(*sizes, ValueError("fp and xp are not of the same length."))
    dtype = dtypes.COMPLEX128 if heights.dtype.kind == "c" else dtypes.FLOAT64
    at, points = as_type(at, dtypes.FLOAT64), as_type(points, dtypes.FLOAT64)
    heights = as_type(heights, dtype)
    if period is not None:
        if period == 0:
            raise AttributeValueError("a period is not zero", culprit=("attribute", "period"))
        size = abs(period)
        at, points = at % size, points % size
        points, heights = _periodic(points, heights, float(size))
        return _interpolated(at, points, heights, None, None)
    ends = [None if each is None else constant_of(each, dtype) for each in (left, right)]
    return _interpolated(at, points, heights, *ends)
