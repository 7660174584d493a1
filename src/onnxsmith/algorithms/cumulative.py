"""Running sums, products and extremes along a dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms.loops import repeat
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    as_column,
    cast,
    converted,
    counted,
    dtype_of,
    expand,
    rank_of,
    size_of,
    sizes_of,
)
from onnxsmith.types.dtypes import DType

#: An associative function of two lists of tensors, an earlier one and a later one.
Combine: TypeAlias = Callable[[Sequence[Tensor], Sequence[Tensor]], list[Tensor]]


def running(values: Sequence[Tensor], axis: int, combine: Combine) -> list[Tensor]:
    """The result of `combine` on all places up to each.

    Each round combines every place with the one that is `distance` before it, and doubles the distance; so the number
    of rounds is the logarithm of the length, which need not be known.
    """
    size = size_of(values[0], axis)
    length = cast(size, DType.INT64)
    places = counted(size)
    column = as_column(places, axis, rank_of(values[0]))

    def body(i: Tensor, keep: Tensor, distance: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        source = op.Max(places - distance, 0)
        before = [op.Gather(each, source, axis=axis) for each in state]
        has_before = column >= distance
        both = combine(before, state)
        after = [op.Where(has_before, a, b) for a, b in zip(both, state, strict=True)]
        distance = distance * 2
        return distance < length, distance, *after

    start = op.Greater(length, np.int64(1)) if not isinstance(size, int) else np.array(size > 1)
    _, *results = repeat(start, [np.array(1, np.int64), *values], body)
    return results


def cumsum(x: Tensor, axis: int) -> Tensor:
    """The sum of all elements up to each."""
    return op.CumSum(x, np.int64(axis))


@algorithm
def cumprod(x: Tensor, axis: int) -> Tensor:
    """The product of all elements up to each."""
    if op.has("CumProd"):
        return op.CumProd(x, np.int64(axis))
    return running([x], axis, lambda a, b: [a[0] * b[0]])[0]


@algorithm
def cummax(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The greatest element so far, and where it is: the last place of equals, and of values that are no number."""
    return _extreme(x, axis, is_max=True)


@algorithm
def cummin(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The least element so far, and where it is: the last place of equals, and of values that are no number."""
    return _extreme(x, axis, is_max=False)


def _extreme(x: Tensor, axis: int, *, is_max: bool) -> tuple[Tensor, Tensor]:
    dtype = dtype_of(x)
    keys = converted(x, DType.UINT8) if dtype is DType.BOOL else x
    column = as_column(counted(size_of(x, axis)), axis, rank_of(x))

    def combine(before: Sequence[Tensor], last: Sequence[Tensor]) -> list[Tensor]:
        compare = op.GreaterOrEqual if is_max else op.LessOrEqual
        takes_last = compare(last[0], before[0])
        if dtype.is_float:
            stays = op.IsNaN(before[0]) & ~op.IsNaN(last[0])
            takes_last = (takes_last | op.IsNaN(last[0])) & ~stays
        return [op.Where(takes_last, a, b) for a, b in zip(last, before, strict=True)]

    keys, places = running([keys, expand(column, sizes_of(x))], axis, combine)
    return converted(keys, dtype), places


@algorithm
def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    """log(exp(x) + exp(y)); equal infinities stay what they are."""
    largest = op.Max(x, y)
    # Of two equal infinities the difference has no value, and none is needed.
    distance = op.Where(op.Equal(x, y), 0, -abs(x - y))
    return largest + op.Log(op.Exp(distance) + 1)


@algorithm
def logcumsumexp(x: Tensor, axis: int) -> Tensor:
    """The logarithm of the sum of exp(x) up to each element."""
    return running([x], axis, lambda a, b: [logaddexp(a[0], b[0])])[0]
