"""The order of real and complex elements along an axis, exactly: NaN comes last, and equal elements keep their order.

Complex numbers are in the order of their real parts, then of their imaginary ones. Those with a NaN stand at the end:
with a NaN in the imaginary part alone, in the real one alone, in both. Descending, all of it is the other way round,
but for equal elements.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, converted, dtype_of, int64s, like, size_of
from onnxsmith.types.dtypes import DType

#: The end of a slice that has none.
END = np.iinfo(np.int64).max
#: More than every number of fewer bits, and less than infinity.
_BEYOND = 1e300


def sort_keys(x: Field) -> list[Tensor]:
    """Keys without NaN, whose place ONNX Runtime leaves open, that give the order; the last one decides first."""
    dtype = dtype_of(x.re)
    if not dtype.is_float:
        return [converted(x.re, DType.UINT8) if dtype is DType.BOOL else x.re]
    holes = op.IsNaN(x.re)
    if x.im is not None:
        others = op.IsNaN(x.im)
        zero = like(0, x.re)
        twice = converted(holes, DType.INT32) * np.int32(2)
        kind = twice + converted(others, DType.INT32)
        return [op.Where(others, zero, x.im), op.Where(holes, zero, x.re), kind]
    if dtype is DType.DOUBLE:
        return [op.Where(holes, like(np.inf, x.re), x.re), converted(holes, DType.INT32)]
    # In doubles there is room between infinity and all numbers: infinity goes there, and NaN takes its place.
    wide = op.Min(converted(x.re, DType.DOUBLE), np.float64(_BEYOND))
    return [op.Where(holes, np.float64(np.inf), wide)]


def _first(key: Tensor, axis: int, descending: bool, count: Size | None = None) -> tuple[Tensor, Tensor]:
    """The first element by a key without NaN, and its place; of equal ones the one that stood first."""
    taken = int64s([size_of(key, axis) if count is None else count])
    # ONNX says that of equal values the one with the lower index comes first.
    values, places = several(op.TopK, key, taken, outputs=2, axis=axis, largest=int(descending))
    return values, places


def order_by(
    keys: Sequence[Tensor], axis: int, *, descending: bool = False, count: Size | None = None
) -> Tensor:
    """The order by several keys without NaN, the last of which decides first."""
    *others, last = keys
    places: Tensor | None = None
    for key in others:
        moved = key if places is None else op.GatherElements(key, places, axis=axis)
        found = _first(moved, axis, descending)[1]
        places = found if places is None else op.GatherElements(places, found, axis=axis)
    if places is None:
        return _first(last, axis, descending, count)[1]
    found = _first(op.GatherElements(last, places, axis=axis), axis, descending, count)[1]
    return op.GatherElements(places, found, axis=axis)


@algorithm
def order(x: Field, axis: int, *, descending: bool = False) -> Tensor:
    """Where the elements stand that come first, second, …, along an axis."""
    return order_by(sort_keys(x), axis, descending=descending)


@algorithm
def ordered(x: Field, axis: int, *, descending: bool = False) -> Field:
    """The elements in order along an axis."""
    if x.im is None:
        return Field(sort(x.re, axis, descending=descending)[0])
    places = order(x, axis, descending=descending)
    return x.map(op.GatherElements, places, axis=axis)


@algorithm
def sort(
    x: Tensor, axis: int, *, descending: bool = False, count: Size | None = None
) -> tuple[Tensor, Tensor]:
    """Real values in order along an axis, and where they stood. The first `count` if given."""
    keys = sort_keys(Field(x))
    if not dtype_of(x).is_float:
        values, places = _first(keys[0], axis, descending, count)
        return converted(values, dtype_of(x)), places
    places = order_by(keys, axis, descending=descending, count=count)
    return op.GatherElements(x, places, axis=axis), places


def topk(
    x: Tensor, count: Size, axis: int, *, largest: bool = True, is_sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """The `count` largest or smallest numbers, and where they stood. Where NaN comes is left open: see `sort`."""
    values, places = several(
        op.TopK, x, int64s([count]), outputs=2, axis=axis, largest=int(largest), sorted=int(is_sorted)
    )
    return values, places


@algorithm
def kth_value(x: Tensor, k: Size, axis: int) -> tuple[Tensor, Tensor]:
    """The value that is number `k` in order, counted from 1, and where it stood; the axis is kept."""
    values, places = sort(x, axis, count=k)
    return op.Slice(values, [-1], [END], [axis]), op.Slice(places, [-1], [END], [axis])
