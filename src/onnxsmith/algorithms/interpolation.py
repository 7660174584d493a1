"""Resizing: nearest, linear and cubic interpolation along dimensions, smoothed or not.

Each dimension is read at computed places and weighted. ONNX's Resize serves where its coordinates are the same; who
calls this knows when.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.algorithms import known_numbers as numbers
from onnxsmith.algorithms.known_numbers import Numbers, as_operand, as_places, is_known, of, size_as
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, cast, converted, dtype_of, numbers_until, rank_of, sizes_of
from onnxsmith.types.dtypes import DType

#: Keys' parameter, and the one for interpolation that smooths.
CUBIC = -0.75
SMOOTH_CUBIC = -0.5

#: Where each element of the result reads, and with which weights: (output, tap) both.
Taps: TypeAlias = tuple[Numbers, Numbers]
#: From the size of a dimension, that of the result, a scale factor or None, and an element type, to taps.
MakeTaps: TypeAlias = Callable[[Size, Size, float | None, DType], Taps]


def is_kept(size: Size, output: Size, factor: float | None) -> bool:
    """True if a dimension certainly stays as it is."""
    return isinstance(size, int) and isinstance(output, int) and size == output and factor in (None, 1)


def scale_of(size: Size, output: Size, factor: float | None, align_corners: bool, dtype: DType) -> Numbers:
    """How many elements of the input a step of the output is."""
    if align_corners:
        if isinstance(output, int):
            steps = size_as(size - 1, dtype)
            return numbers.divide(steps, of(output - 1, dtype)) if output > 1 else of(0, dtype)
        steps = op.Max(cast(output - 1, dtype), of(1, dtype))
        is_one = op.Equal(cast(output, DType.INT64), np.int64(1))
        return op.Where(is_one, of(0, dtype), op.Div(as_operand(size_as(size - 1, dtype)), steps))
    if factor is not None and factor > 0:
        return of(1 / factor, dtype)
    a, b = size_as(size, dtype), size_as(output, dtype)
    return np.divide(a, b) if is_known(a) and is_known(b) else op.Div(as_operand(a), b)


# -- places and weights ------------------------------------------------------------------------------------


def nearest_places(size: Size, output: Size, factor: float | None, is_exact: bool) -> Numbers:
    """The place that each element of the result is read at; `is_exact` counts from the middle of elements."""
    dtype = DType.FLOAT
    steps = numbers.up_to(output, dtype)
    if is_exact:
        steps = numbers.add(steps, of(0.5, dtype))
    scale = scale_of(size, output, factor, False, dtype)
    if isinstance(size, int) and isinstance(output, int) and not is_exact:
        # torch takes the ratio from the sizes in these two cases, whatever factor was given.
        scale = of(1, dtype) if size == output else of(0.5, dtype) if output == 2 * size else scale
    places = numbers.floor(numbers.multiply(steps, scale))
    return as_places(numbers.clip(places, of(0, dtype), size_as(size - 1, dtype)))


def plain_taps(*, is_cubic: bool, align_corners: bool) -> MakeTaps:
    """Linear or cubic interpolation between the nearest elements."""

    def taps(size: Size, output: Size, factor: float | None, dtype: DType) -> Taps:
        scale = scale_of(size, output, factor, align_corners, dtype)
        steps, half = numbers.up_to(output, dtype), of(0.5, dtype)
        if align_corners:
            source = numbers.multiply(steps, scale)
        else:
            source = numbers.subtract(numbers.multiply(numbers.add(steps, half), scale), half)
        return _cubic_taps(source, size, dtype) if is_cubic else _linear_taps(source, size, dtype)

    return taps


def _linear_taps(source: Numbers, size: Size, dtype: DType) -> Taps:
    zero, one, last = of(0, dtype), of(1, dtype), size_as(size - 1, dtype)
    source = numbers.clip(source, zero, last)
    below = numbers.floor(source)
    above = numbers.clip(numbers.add(below, one), zero, last)
    share = numbers.subtract(source, below)
    weights = numbers.columns([numbers.subtract(one, share), share])
    return as_places(numbers.columns([below, above])), weights


def _cubic_taps(source: Numbers, size: Size, dtype: DType) -> Taps:
    zero, one, last = of(0, dtype), of(1, dtype), size_as(size - 1, dtype)
    below = numbers.floor(source)
    share = numbers.subtract(source, below)
    rest = numbers.subtract(one, share)
    distances = [numbers.add(share, one), share, rest, numbers.add(rest, one)]
    places = [numbers.clip(numbers.add(below, of(each, dtype)), zero, last) for each in (-1, 0, 1, 2)]
    weights = [
        _cubic_weight(each, is_near, CUBIC, dtype)
        for each, is_near in zip(distances, (False, True, True, False), strict=True)
    ]
    return as_places(numbers.columns(places)), numbers.columns(weights)


def _cubic_weight(distance: Numbers, is_near: bool, a: float, dtype: DType) -> Numbers:
    """Keys' cubic kernel: one polynomial up to a distance of 1, another from there up to 2."""
    add, subtract, multiply = numbers.add, numbers.subtract, numbers.multiply
    if is_near:
        inner = subtract(multiply(of(a + 2, dtype), distance), of(a + 3, dtype))
        return add(multiply(multiply(inner, distance), distance), of(1, dtype))
    inner = subtract(multiply(of(a, dtype), distance), of(5 * a, dtype))
    inner = add(multiply(inner, distance), of(8 * a, dtype))
    return subtract(multiply(inner, distance), of(4 * a, dtype))


def smooth_taps(*, is_cubic: bool, align_corners: bool) -> MakeTaps:
    """All the elements under the kernel, which is stretched where the result is smaller."""
    width = 4 if is_cubic else 2

    def taps(size: Size, output: Size, factor: float | None, dtype: DType) -> Taps:
        scale = scale_of(size, output, factor, align_corners, dtype)
        return _smooth_taps(scale, size, output, width, dtype)

    return taps


def _smooth_taps(scale: Numbers, size: Size, output: Size, width: int, dtype: DType) -> Taps:
    add, subtract = numbers.add, numbers.subtract
    zero, one, half = of(0, dtype), of(1, dtype), of(0.5, dtype)
    stretch = numbers.clip(scale, one, of(np.finfo(dtype.numpy).max, dtype))
    support = numbers.multiply(stretch, of(width / 2, dtype))
    center = numbers.multiply(add(numbers.up_to(output, dtype), half), scale)
    limit = size_as(size, dtype)
    first = numbers.clip(numbers.floor(add(subtract(center, support), half)), zero, limit)
    after = numbers.clip(numbers.floor(add(add(center, support), half)), zero, limit)
    within: Numbers
    if is_known(support):
        within = np.arange(math.ceil(float(support)) * 2 + 1, dtype=dtype.numpy)
    else:
        count = converted(op.Ceil(support), DType.INT64)
        count = count * 2 + 1
        within = converted(numbers_until(count), dtype)
    places = add(numbers.column(first), within)
    distance = numbers.absolute(numbers.divide(add(subtract(places, numbers.column(center)), half), stretch))
    if width == 2:
        weights = numbers.clip(subtract(one, distance), zero, one)
    else:
        near = _cubic_weight(distance, True, SMOOTH_CUBIC, dtype)
        far = _cubic_weight(distance, False, SMOOTH_CUBIC, dtype)
        is_inside = numbers.less(distance, of(2, dtype))
        weights = numbers.where(is_inside, numbers.where(numbers.less(distance, one), near, far), zero)
    weights = numbers.where(numbers.less(places, numbers.column(after)), weights, zero)
    total: Numbers
    if is_known(weights):
        total = weights.sum(axis=1, keepdims=True)
    else:
        total = op.ReduceSum(weights, np.array([1]), keepdims=1)
    places = as_places(numbers.clip(places, zero, size_as(size - 1, dtype)))
    return places, numbers.divide(weights, total)


# -- the result --------------------------------------------------------------------------------------------


def resampled(x: Tensor, outputs: Sequence[Size], factors: Sequence[float | None], taps: MakeTaps) -> Tensor:
    """The last dimensions in new sizes, each in turn: the sums of its elements at places, with weights."""
    spatial = len(outputs)
    sizes = sizes_of(x)[-spatial:]
    given = dtype_of(x)
    dtype = DType.DOUBLE if given is DType.DOUBLE else DType.FLOAT
    x = converted(x, dtype)
    for k in reversed(range(spatial)):
        if is_kept(sizes[k], outputs[k], factors[k]):
            continue
        axis = rank_of(x) - spatial + k
        # Of bytes, torch has the weights in double precision before it rounds them.
        places, weights = taps(sizes[k], outputs[k], factors[k], DType.DOUBLE if given.is_integer else dtype)
        if given.is_integer:
            weights = _rounded(places, weights, dtype)
        windows = op.Gather(x, places, axis=axis)
        beside = op.Reshape(as_operand(weights), [0, -1, *([1] * (rank_of(x) - axis - 1))])
        x = op.ReduceSum(windows * beside, np.array([axis + 1]), keepdims=0)
        if given.is_integer:
            bounds = np.iinfo(given.numpy)
            whole = op.Floor(x + of(0.5, dtype))
            x = op.Clip(whole, of(bounds.min, dtype), of(bounds.max, dtype))
    return converted(x, given)


def _rounded(places: Numbers, weights: Numbers, dtype: DType) -> Numbers:
    if is_known(weights) and is_known(places):
        return _as_fractions(np.asarray(places), np.asarray(weights))
    return converted(as_operand(weights), dtype)


def _as_fractions(places: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Weights as torch has them for bytes: 16-bit integers over a power of two, as great as they allow."""
    weights = weights.copy()
    for tap in range(1, weights.shape[1]):  # beyond the border all of them are the border's
        is_same = places[:, tap] == places[:, tap - 1]
        weights[:, tap] += np.where(is_same, weights[:, tap - 1], 0)
        weights[:, tap - 1] = np.where(is_same, 0, weights[:, tap - 1])
    digits = 0
    while digits < 22 and int(0.5 + float(weights.max()) * (1 << (digits + 1))) < 1 << 15:
        digits += 1
    scaled = weights * (1 << digits)
    return (np.trunc(scaled + np.copysign(0.5, scaled)) / (1 << digits)).astype(np.float32)
