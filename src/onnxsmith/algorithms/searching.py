"""Searching in a vector that is in order, and whether elements are among others."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.loops import repeat
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.sorting import ordered
from onnxsmith.algorithms.values import as_tensor, cast, converted, dtype_of, like, rank_of, size_of
from onnxsmith.types.dtypes import DType

#: Up to so many, each is compared with every element: an order costs more.
_FEW = 64


@algorithm
def search_sorted(sequence: Tensor, values: Tensor, *, right: bool = False) -> Tensor:
    """How many of a sorted sequence (along its last dimension) are less than each value, or, `right`, not greater.

    By bisection, in as many rounds as the logarithm of the length. A sequence of several dimensions has those of the
    values but for the last. NaN is greater than all others as a value, and less than all others in the sequence.
    """
    if dtype_of(sequence) is DType.BOOL:
        sequence, values = converted(sequence, DType.UINT8), converted(values, DType.UINT8)
    axis = rank_of(sequence) - 1
    length = cast(size_of(sequence, axis), DType.INT64)
    shape = op.Shape(values)
    low = op.Expand(np.int64(0), shape)
    high = op.Expand(length, shape)

    def body(i: Tensor, keep: Tensor, remaining: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, ...]:
        middle = op.Div(low + high, np.int64(2))
        place = op.Min(middle, op.Sub(length, np.int64(1)))
        found = op.Gather(sequence, place) if axis == 0 else op.GatherElements(sequence, place, axis=axis)
        compare = op.Greater if right else op.GreaterOrEqual
        goes_left = compare(found, values) | (low >= high)
        low = op.Where(goes_left, low, middle + 1)
        high = op.Where(goes_left, middle, high)
        remaining = op.Div(remaining, np.int64(2))
        return remaining > 0, remaining, low, high

    begins = as_tensor(length, DType.INT64) > 0
    return repeat(begins, [length, low, high], body)[1]


@algorithm
def places_for(rows: Tensor, values: Tensor, *, right: bool) -> Tensor:
    """Where values would go into an ordered vector: before equal ones, or, `right`, behind them. NaN is last."""
    if not dtype_of(rows).is_float:
        return search_sorted(rows, values, right=right)
    holes = op.ReduceSum(converted(op.IsNaN(rows), DType.INT64), [0], keepdims=1)
    length = op.Shape(rows)
    numbers = length - holes
    found = search_sorted(op.Slice(rows, [0], numbers), values, right=right)
    behind = op.Squeeze(length if right else numbers, [0])
    return op.Where(op.IsNaN(values), behind, found)


@algorithm(by_size=True)
def is_in(x: Field, among: Field) -> Tensor:
    """True if each element is equal to one of a vector; NaN is equal to nothing."""
    size = size_of(among.re, 0)
    if x.im is not None or (isinstance(size, int) and size <= _FEW):
        column = x.map(lambda part: op.Unsqueeze(part, [rank_of(x.re)]))
        equal = op.Equal(column.re, among.re)
        if column.im is not None:
            assert among.im is not None, "both are of one element type"
            equal = equal & op.Equal(column.im, among.im)
        # A sum, since the largest of nothing is not zero.
        count = op.ReduceSum(converted(equal, DType.INT32), [rank_of(equal) - 1], keepdims=0)
        return count > np.int32(0)
    rows = ordered(among, 0).re
    place = places_for(rows, x.re, right=False)
    # One more at the end, so that there is something at every place.
    padded = op.Concat(rows, like(0, rows).reshape(1), axis=0)
    equal = op.Equal(op.Gather(padded, place), x.re)
    return equal & (place < op.Squeeze(op.Shape(rows), [0]))
