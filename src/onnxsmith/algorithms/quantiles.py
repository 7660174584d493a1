"""Quantiles along the last axis by the methods of Hyndman and Fan and four others, and medians between two elements.

They follow the definitions with numpy's order of operations, so that a fraction that falls onto an element finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.reductions import wider
from onnxsmith.algorithms.sorting import ordered, sort
from onnxsmith.algorithms.values import as_tensor, converted, dtype_of, like, rank_of, size_of
from onnxsmith.types.dtypes import DType

#: The name of a method.
Method: TypeAlias = str
#: Where a quantile stands among `n` elements, counted from 0, between two of them or at one.
_Place: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def _by(alpha: float, beta: float) -> _Place:
    """The place of a method of Hyndman and Fan that two numbers describe."""

    def place(n: Tensor, q: Tensor) -> Tensor:
        shift = op.Add(like(alpha, q), q * like(1 - alpha - beta, q))
        return n * q + shift - 1

    return place


def _from_first_to_last(n: Tensor, q: Tensor) -> Tensor:
    return (n - 1) * q


def _inverse(n: Tensor, q: Tensor) -> Tensor:
    return n * q - 1


def _at_boundaries(place: Tensor, takes_lower: Callable[[Tensor], Tensor]) -> Tensor:
    lower = op.Floor(place)
    part = place - lower
    found = op.Where(op.Equal(part, like(0, place)) & takes_lower(place), lower, lower + 1)
    return op.Max(found, like(0, place))


def _inverted_cdf(n: Tensor, q: Tensor) -> Tensor:
    return _at_boundaries(_inverse(n, q), lambda place: op.Equal(place, place))


def _closest(n: Tensor, q: Tensor) -> Tensor:
    def is_odd(place: Tensor) -> Tensor:
        half = op.Floor(place) * 0.5
        return ~op.Equal(op.Floor(half), half)

    return _at_boundaries(_inverse(n, q) - 0.5, is_odd)


def _midpoint(n: Tensor, q: Tensor) -> Tensor:
    place = _from_first_to_last(n, q)
    return 0.5 * (op.Floor(place) + op.Ceil(place))


#: Methods that take elements as they are.
TAKEN: Mapping[Method, _Place] = MappingProxyType(
    {
        "inverted_cdf": _inverted_cdf,
        "closest_observation": _closest,
        "lower": lambda n, q: op.Floor(_from_first_to_last(n, q)),
        "higher": lambda n, q: op.Ceil(_from_first_to_last(n, q)),
        "nearest": lambda n, q: op.Round(_from_first_to_last(n, q)),
    }
)
_BETWEEN: Mapping[Method, _Place] = MappingProxyType(
    {
        "averaged_inverted_cdf": _inverse,
        "interpolated_inverted_cdf": _by(0, 1),
        "hazen": _by(0.5, 0.5),
        "weibull": _by(0, 0),
        "linear": _from_first_to_last,
        "median_unbiased": _by(1 / 3, 1 / 3),
        "normal_unbiased": _by(3 / 8, 3 / 8),
        "midpoint": _midpoint,
    }
)
#: Methods whose places are all between the first and the last element.
_WITHIN = frozenset({"lower", "higher", "nearest", "linear", "midpoint"})
#: All methods by name.
METHODS: tuple[Method, ...] = (*TAKEN, *_BETWEEN)


def _weight(method: Method, place: Tensor, lower: Tensor) -> Tensor:
    """How far a quantile is from the element below it to that above."""
    part = place - lower
    if method == "averaged_inverted_cdf":
        return op.Where(op.Equal(part, like(0, part)), like(0.5, part), like(1, part))
    if method == "midpoint":
        return op.Where(op.Equal(op.Floor(place), place), like(0, part), like(0.5, part))
    return part


def _valid_count(rows: Tensor, dtype: DType) -> Tensor:
    """How many elements along the last axis, which is kept, are numbers."""
    numbers = converted(~op.IsNaN(rows), DType.INT64)
    return converted(op.ReduceSum(numbers, [rank_of(rows) - 1], keepdims=1), dtype)


@algorithm
def quantile(
    x: Tensor,
    q: Tensor,
    method: Method = "linear",
    dtype: DType | None = None,
    *,
    ignores_nan: bool = False,
    takes_next: bool = True,
) -> Tensor:
    """Quantiles along the last axis, in whose place they stand, in an element type; `q` is a vector of fractions.

    Where something is no number, so are all quantiles, unless that is ignored. There is at least one element. A
    quantile that falls onto an element is made of it and the next one, as numpy does: infinity there makes NaN of it.
    Without `takes_next` it is that element, as torch does.
    """
    axis = rank_of(x) - 1
    dtype = dtype or dtype_of(x)
    has_nan = dtype_of(x).is_float
    rows = ordered(Field(x), axis).re
    is_each = ignores_nan and has_nan
    count = _valid_count(x, dtype_of(q)) if is_each else as_tensor(size_of(x, axis), dtype_of(q))
    zero, last = like(0, q), count - 1
    if is_each:
        last = op.Max(last, zero)
    # Others find places before the first and behind the last element, too; and so does every one among no elements.
    is_within = method in _WITHIN and not is_each

    def within(place: Tensor) -> Tensor:
        return place if is_within else op.Max(op.Min(place, last), zero)

    def take(place: Tensor) -> Tensor:
        index = converted(place, DType.INT64)
        return op.GatherElements(rows, index, axis=axis) if is_each else op.Gather(rows, index, axis=axis)

    if method in TAKEN:
        result = converted(take(within(TAKEN[method](count, q))), dtype)
    else:
        place = _BETWEEN[method](count, q)
        lower = op.Floor(place)
        steps = takes_next or method == "averaged_inverted_cdf"  # the mean of an element and the next
        upper = op.Min(lower + 1, last) if steps else op.Ceil(place)
        # Before the first and behind the last element both are the same.
        clipped = within(lower)
        weight = converted(_weight(method, place, clipped), dtype)
        result = _between(take(clipped), take(within(upper)), weight)
    if has_nan and not ignores_nan:
        end = op.Gather(rows, np.array([-1]), axis=axis)
        result = op.Where(op.IsNaN(end), like(np.nan, result), result)
    return result


@algorithm
def weighted_quantile(x: Tensor, q: Tensor, weights: Tensor, *, ignores_nan: bool = False) -> Tensor:
    """Quantiles along the last axis with a weight for each element: the first up to which a fraction of them stands.

    `weights` has the shape of `x` and is in double precision, as the fractions `q`, a vector.
    """
    axis = rank_of(x) - 1
    has_nan = dtype_of(x).is_float
    if has_nan and ignores_nan:
        weights = op.Where(op.IsNaN(x), 0, weights)
    rows, places = sort(x, axis)
    sums = op.CumSum(op.GatherElements(weights, places, axis=axis), np.int64(axis))
    share = op.Unsqueeze(op.Div(sums, op.Gather(sums, np.array([-1]), axis=axis)), [axis])
    # What has no weight before the first that has is never taken.
    is_before = (share < op.Unsqueeze(q, [1])) | op.Equal(share, like(0, share))
    index = op.ReduceSum(converted(is_before, DType.INT64), [axis + 1], keepdims=0)
    last = as_tensor(size_of(x, axis), DType.INT64) - 1
    result = op.GatherElements(rows, op.Min(index, last), axis=axis)
    if has_nan and not ignores_nan:
        end = op.Gather(rows, np.array([-1]), axis=axis)
        result = op.Where(op.IsNaN(end), like(np.nan, result), result)
    return result


def _between(low: Tensor, high: Tensor, weight: Tensor) -> Tensor:
    """low + weight (high - low), from the nearer end, in the type of the weight; steps are in that of the elements."""
    dtype = dtype_of(weight)
    step = converted(high - low, dtype)
    from_low = converted(low, dtype) + step * weight
    from_high = converted(high, dtype) - step * (1 - weight)
    return op.Where(weight >= 0.5, from_high, from_low)


def median(x: Tensor, dtype: DType, *, ignores_nan: bool = False) -> Tensor:
    """The median along the last axis, which goes, in an element type of fractions: the mean of two in the middle.

    Of no elements it is NaN; where something is no number, too, unless that is ignored.
    """
    axis = rank_of(x) - 1
    x = converted(x, dtype)
    count = _valid_count(x, DType.INT64) if ignores_nan else op.Shape(x, start=axis, end=axis + 1)
    # One more at the end, so that there is something to find among no elements.
    hole_shape = op.Concat(*([op.Shape(x, start=0, end=axis)] if axis else []), np.array([1]), axis=0)
    rows = op.Concat(ordered(Field(x), axis).re, op.Expand(like(np.nan, x), hole_shape), axis=axis)
    zero, one, two = np.int64(0), np.int64(1), np.int64(2)
    lower = op.Div(op.Max(count - one, zero), two)
    upper = op.Div(count, two)

    def take(place: Tensor) -> Tensor:
        found = (
            op.GatherElements(rows, place, axis=axis) if ignores_nan else op.Gather(rows, place, axis=axis)
        )
        return op.Squeeze(converted(found, wider(dtype)), [axis])

    middle = take(lower)
    both = middle + take(upper)
    # One element in the middle is the median as it is: twice the number may be past the range.
    is_one = op.Squeeze(op.Equal(lower, upper), [axis if ignores_nan else 0])
    result = converted(op.Where(is_one, middle, both * 0.5), dtype)
    if ignores_nan:
        return result
    end = take(op.Max(count - one, zero))
    return op.Where(op.IsNaN(end), like(np.nan, result), result)
