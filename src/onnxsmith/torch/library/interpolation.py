# pyright: basic
"""Resizing: nearest, linear and cubic interpolation along dimensions, smoothed or not.

ONNX's Resize serves where its coordinates are torch's. Elsewhere each dimension is read at computed places and
weighted: for double, for antialiasing, and for scale factors that are not the ratio of the sizes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.pooling import spatial_of
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant, int64s, rank_of
from onnxsmith.torch.library.windows import counted
from onnxsmith.types.dtypes import DType

_CUBIC = -0.75
_SMOOTH_CUBIC = -0.5

NEAREST = ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
EXACT = ("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d")
LINEAR = ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d")
SMOOTH = ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")


@translates(*(f"aten.{name}.{form}" for name in (*NEAREST, *EXACT) for form in ("default", "vec")))
def upsample_nearest(call: Call, x: Any, output_size: Any, *scales: Any) -> Any:
    spatial = spatial_of(call)
    factors = _factors(call, scales, spatial)
    sizes, outputs = call.shape_of(x)[-spatial:], call.output_shape()[-spatial:]
    if rank_of(x) == 4 and all(map(_is_multiple, sizes, outputs, factors)) and _is_resizable(x):
        return op.Resize(
            x,
            None,
            None,
            int64s(call.output_shape()),
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
    for k in range(spatial):
        if _is_kept(sizes[k], outputs[k], factors[k]):
            continue
        places = _nearest_places(sizes[k], outputs[k], factors[k], "exact" in call.overload)
        x = op.Gather(x, places, axis=rank_of(x) - spatial + k)
    return x


@translates(*(f"aten.{name}.{form}" for name in LINEAR for form in ("default", "vec")))
def upsample(call: Call, x: Any, output_size: Any, align_corners: bool, *scales: Any) -> Any:
    spatial = spatial_of(call)
    factors = _factors(call, scales, spatial)
    sizes, outputs = call.shape_of(x)[-spatial:], call.output_shape()[-spatial:]
    is_cubic = "cubic" in call.overload
    is_plain = align_corners or all(map(_is_ratio, sizes, outputs, factors))
    if spatial > 1 and is_plain and _is_resizable(x):
        return op.Resize(
            x,
            None,
            None,
            int64s(call.output_shape()),
            mode="cubic" if is_cubic else "linear",
            coordinate_transformation_mode="align_corners" if align_corners else "half_pixel",
            **({"cubic_coeff_a": _CUBIC} if is_cubic else {}),
        )

    def taps(size: Any, output: Any, factor: Any, dtype: DType) -> tuple[Any, Any]:
        scale = _scale(size, output, factor, align_corners, dtype)
        numbers = _numbers(output, dtype)
        source = numbers * scale if align_corners else (numbers + _of(0.5, dtype)) * scale - _of(0.5, dtype)
        return _cubic_taps(source, size, dtype) if is_cubic else _linear_taps(source, size, dtype)

    return _resampled(call, x, spatial, factors, taps)


@translates(*(f"aten.{name}.{form}" for name in SMOOTH for form in ("default", "vec")))
def upsample_smoothly(call: Call, x: Any, output_size: Any, align_corners: bool, *scales: Any) -> Any:
    """Interpolation where a smaller result takes in all the elements that it stands for."""
    width = 4 if "cubic" in call.overload else 2

    def taps(size: Any, output: Any, factor: Any, dtype: DType) -> tuple[Any, Any]:
        scale = _scale(size, output, factor, align_corners, dtype)
        return _smooth_taps(scale, size, output, width, dtype)

    return _resampled(call, x, 2, _factors(call, scales, 2), taps)


def _factors(call: Call, scales: tuple[Any, ...], spatial: int) -> list[Any]:
    """The scale factor of each dimension, where one was given."""
    given = scales[0] if call.overload.endswith(".vec") and scales else scales
    given = list(given or ())
    return given + [None] * (spatial - len(given))


def _is_resizable(x: Any) -> bool:
    return x.dtype in (DType.FLOAT, DType.FLOAT16, DType.BFLOAT16)


def _is_multiple(size: Any, output: Any, factor: Any) -> bool:
    """Whether a dimension grows by a whole number, and each element is repeated so often."""
    if isinstance(size, int) and isinstance(output, int):
        return size > 0 and output % size == 0 and (factor is None or factor == output // size)
    return factor is not None and float(factor).is_integer()


def _is_ratio(size: Any, output: Any, factor: Any) -> bool:
    """Whether the scale factor is the ratio of the sizes."""
    if factor is None:
        return True
    if isinstance(size, int) and isinstance(output, int):
        return size * factor == output
    return float(factor).is_integer()


def _is_kept(size: Any, output: Any, factor: Any) -> bool:
    return isinstance(size, int) and isinstance(output, int) and size == output and factor in (None, 1)


# -- numbers, known or not ---------------------------------------------------------------------------------
# The same formulas serve for arrays, where all sizes are known, and for tensors of the graph.


def _is_known(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def _of(value: float, dtype: DType) -> Any:
    return dtype.numpy.type(value)


def _numbers(output: Any, dtype: DType) -> Any:
    if isinstance(output, int):
        return np.arange(output, dtype=dtype.numpy)
    return cast(counted(output), dtype)


def _floor(value: Any) -> Any:
    return np.floor(value) if _is_known(value) else op.Floor(value)


def _clipped(value: Any, low: Any, high: Any) -> Any:
    if all(_is_known(each) for each in (value, low, high)):
        return np.minimum(np.maximum(value, low), high)
    return op.Min(op.Max(value, low), high)


def _where(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b) if _is_known(condition) else op.Where(condition, a, b)


def _absolute(value: Any) -> Any:
    return np.abs(value) if _is_known(value) else op.Abs(value)


def _as_places(value: Any) -> Any:
    return value.astype(np.int64) if _is_known(value) else cast(value, DType.INT64)


def _column(value: Any) -> Any:
    return value[:, None] if _is_known(value) else op.Unsqueeze(value, [1])


def _columns(values: list[Any]) -> Any:
    if all(_is_known(each) for each in values):
        return np.stack(values, axis=1)
    return op.Concat(
        *[_column(each) if _is_known(each) else op.Unsqueeze(each, [1]) for each in values], axis=1
    )


def _size(size: Any, dtype: DType) -> Any:
    return _of(size, dtype) if isinstance(size, int) else cast(size, dtype)


def _scale(size: Any, output: Any, factor: Any, align_corners: bool, dtype: DType) -> Any:
    """How many elements of the input a step of the output is."""
    if align_corners:
        if isinstance(output, int):
            return _size(size - 1, dtype) / _of(output - 1, dtype) if output > 1 else _of(0, dtype)
        steps = op.Max(cast(output - 1, dtype), _of(1, dtype))
        is_one = op.Equal(cast(output, DType.INT64), np.int64(1))
        return op.Where(is_one, _of(0, dtype), op.Div(_as_operand(_size(size - 1, dtype)), steps))
    if factor is not None and factor > 0:
        return _of(1 / factor, dtype)
    a, b = _size(size, dtype), _size(output, dtype)
    return a / b if _is_known(a) and _is_known(b) else op.Div(_as_operand(a), b)


def _as_operand(value: Any) -> Any:
    return constant(value) if _is_known(value) else value


# -- places and weights ------------------------------------------------------------------------------------


def _nearest_places(size: Any, output: Any, factor: Any, is_exact: bool) -> Any:
    dtype = DType.FLOAT
    numbers = _numbers(output, dtype)
    if is_exact:
        numbers = numbers + _of(0.5, dtype)
    scale = _scale(size, output, factor, False, dtype)
    if isinstance(size, int) and isinstance(output, int) and not is_exact:
        # torch takes the ratio from the sizes in these two cases, whatever factor was given.
        scale = _of(1, dtype) if size == output else _of(0.5, dtype) if output == 2 * size else scale
    places = _floor(numbers * scale)
    return _as_places(_clipped(places, _of(0, dtype), _size(size - 1, dtype)))


def _linear_taps(source: Any, size: Any, dtype: DType) -> tuple[Any, Any]:
    zero, one, last = _of(0, dtype), _of(1, dtype), _size(size - 1, dtype)
    source = _clipped(source, zero, last)
    below = _floor(source)
    above = _clipped(below + one, zero, last)
    share = source - below
    return _as_places(_columns([below, above])), _columns([one - share, share])


def _cubic_taps(source: Any, size: Any, dtype: DType) -> tuple[Any, Any]:
    zero, one, last = _of(0, dtype), _of(1, dtype), _size(size - 1, dtype)
    below = _floor(source)
    share = source - below
    distances = [share + one, share, one - share, one - share + one]
    places = [_clipped(below + _of(each, dtype), zero, last) for each in (-1, 0, 1, 2)]
    weights = [
        _cubic_weight(each, is_near, _CUBIC, dtype)
        for each, is_near in zip(distances, (0, 1, 1, 0), strict=True)
    ]
    return _as_places(_columns(places)), _columns(weights)


def _cubic_weight(distance: Any, is_near: Any, a: float, dtype: DType) -> Any:
    """Keys' cubic kernel: one polynomial up to a distance of 1, another from there up to 2."""
    if is_near:
        return ((_of(a + 2, dtype) * distance - _of(a + 3, dtype)) * distance) * distance + _of(1, dtype)
    inner = (_of(a, dtype) * distance - _of(5 * a, dtype)) * distance + _of(8 * a, dtype)
    return inner * distance - _of(4 * a, dtype)


def _smooth_taps(scale: Any, size: Any, output: Any, width: int, dtype: DType) -> tuple[Any, Any]:
    """All the elements under the kernel, which is stretched where the result is smaller."""
    zero, one, half = _of(0, dtype), _of(1, dtype), _of(0.5, dtype)
    stretch = _clipped(scale, one, _of(np.finfo(dtype.numpy).max, dtype))
    support = stretch * _of(width / 2, dtype)
    center = (_numbers(output, dtype) + half) * scale
    limit = _size(size, dtype)
    first = _clipped(_floor(center - support + half), zero, limit)
    after = _clipped(_floor(center + support + half), zero, limit)
    if _is_known(support):
        within = np.arange(math.ceil(float(support)) * 2 + 1, dtype=dtype.numpy)
    else:
        count = cast(op.Ceil(support), DType.INT64)
        count = op.Add(op.Mul(count, np.int64(2)), np.int64(1))
        within = cast(op.Range(np.int64(0), count, np.int64(1)), dtype)
    places = _column(first) + _as_operand(within) if not _is_known(first) else first[:, None] + within
    distance = _absolute((places - _column(center) + half) / stretch)
    if width == 2:
        weights = _clipped(one - distance, zero, one)
    else:
        near = _cubic_weight(distance, True, _SMOOTH_CUBIC, dtype)
        far = _cubic_weight(distance, False, _SMOOTH_CUBIC, dtype)
        weights = _where(distance < _of(2, dtype), _where(distance < one, near, far), zero)
    weights = _where(places < _column(after), weights, zero)
    if _is_known(weights):
        total = weights.sum(axis=1, keepdims=True)
    else:
        total = op.ReduceSum(weights, np.array([1]), keepdims=1)
    return _as_places(_clipped(places, zero, _size(size - 1, dtype))), weights / total


def _resampled(call: Call, x: Any, spatial: int, factors: list[Any], taps: Any) -> Any:
    """Each dimension in turn: the sums of its elements at places, with weights, (output, tap) both."""
    sizes, outputs = call.shape_of(x)[-spatial:], call.output_shape()[-spatial:]
    given = x.dtype
    dtype = DType.DOUBLE if given is DType.DOUBLE else DType.FLOAT
    x = cast(x, dtype)
    for k in reversed(range(spatial)):
        if _is_kept(sizes[k], outputs[k], factors[k]):
            continue
        axis = rank_of(x) - spatial + k
        # Of bytes, torch has the weights in double precision before it rounds them.
        places, weights = taps(sizes[k], outputs[k], factors[k], DType.DOUBLE if given.is_integer else dtype)
        if given.is_integer:
            weights = _as_fractions(places, weights) if _is_known(weights) else cast(weights, dtype)
        windows = op.Gather(x, places, axis=axis)
        beside = op.Reshape(_as_operand(weights), [0, -1, *([1] * (rank_of(x) - axis - 1))])
        x = op.ReduceSum(op.Mul(windows, beside), np.array([axis + 1]), keepdims=0)
        if given.is_integer:
            bounds = np.iinfo(given.numpy)
            whole = op.Floor(op.Add(x, _of(0.5, dtype)))
            x = op.Clip(whole, _of(bounds.min, dtype), _of(bounds.max, dtype))
    return cast(x, given)


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
