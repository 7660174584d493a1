"""Resizing: nearest, linear and cubic interpolation along dimensions, smoothed or not.

ONNX's Resize serves where its coordinates are torch's. Elsewhere each dimension is read at computed places and
weighted: for double, for antialiasing, and for scale factors that are not the ratio of the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from onnxsmith.algorithms import interpolation
from onnxsmith.algorithms.interpolation import CUBIC
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, int64s, rank_of, sizes_of
from onnxsmith.core.operator_protocols import AttributeValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.pooling import spatial_of
from onnxsmith.torch.library.registry import translates
from onnxsmith.types.dtypes import DType

NEAREST = ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
EXACT = ("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d")
LINEAR = ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d")
SMOOTH = ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")

#: Scale factors: one for each dimension, or all of them in a list.
Scale: TypeAlias = float | Sequence[float] | None


@translates(*(f"aten.{name}.{form}" for name in (*NEAREST, *EXACT) for form in ("default", "vec")))
def upsample_nearest(call: Call, x: Tensor, output_size: Sequence[Size] | None, *scales: Scale) -> Tensor:
    spatial = spatial_of(call)
    factors = _factors(call, scales, spatial)
    sizes, outputs = sizes_of(x)[-spatial:], call.output_shape()[-spatial:]
    if rank_of(x) == 4 and all(map(_is_multiple, sizes, outputs, factors)) and _is_resizable(x):
        return _resized(
            call, x, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
        )
    for k in range(spatial):
        if interpolation.is_kept(sizes[k], outputs[k], factors[k]):
            continue
        is_exact = "exact" in call.overload
        places = interpolation.nearest_places(sizes[k], outputs[k], factors[k], is_exact)
        x = op.Gather(x, places, axis=rank_of(x) - spatial + k)
    return x


@translates(*(f"aten.{name}.{form}" for name in LINEAR for form in ("default", "vec")))
def upsample(
    call: Call, x: Tensor, output_size: Sequence[Size] | None, align_corners: bool, *scales: Scale
) -> Tensor:
    spatial = spatial_of(call)
    factors = _factors(call, scales, spatial)
    sizes, outputs = sizes_of(x)[-spatial:], call.output_shape()[-spatial:]
    is_cubic = "cubic" in call.overload
    is_plain = align_corners or all(map(_is_ratio, sizes, outputs, factors))
    if spatial > 1 and is_plain and _is_resizable(x):
        coordinates = "align_corners" if align_corners else "half_pixel"
        if is_cubic:
            return _resized(
                call, x, mode="cubic", coordinate_transformation_mode=coordinates, cubic_coeff_a=CUBIC
            )
        return _resized(call, x, mode="linear", coordinate_transformation_mode=coordinates)
    taps = interpolation.plain_taps(is_cubic=is_cubic, align_corners=align_corners)
    return interpolation.resampled(x, outputs, factors, taps)


@translates(*(f"aten.{name}.{form}" for name in SMOOTH for form in ("default", "vec")))
def upsample_smoothly(
    call: Call, x: Tensor, output_size: Sequence[Size] | None, align_corners: bool, *scales: Scale
) -> Tensor:
    """Interpolation where a smaller result takes in all the elements that it stands for."""
    taps = interpolation.smooth_taps(is_cubic="cubic" in call.overload, align_corners=align_corners)
    return interpolation.resampled(x, call.output_shape()[-2:], _factors(call, scales, 2), taps)


def _resized(call: Call, x: Tensor, **settings: AttributeValue) -> Tensor:
    return op.Resize(x, None, None, int64s(call.output_shape()), **settings)


def _factors(call: Call, scales: Sequence[Scale], spatial: int) -> list[float | None]:
    """The scale factor of each dimension, where one was given."""
    first = scales[0] if call.overload.endswith(".vec") and scales else None
    if isinstance(first, Sequence):
        given: list[float | None] = list(first)
    else:
        given = [each for each in scales if not isinstance(each, Sequence)]
    return given + [None] * (spatial - len(given))


def _is_resizable(x: Tensor) -> bool:
    return x.dtype in (DType.FLOAT, DType.FLOAT16, DType.BFLOAT16)


def _is_multiple(size: Size, output: Size, factor: float | None) -> bool:
    """True if a dimension grows by a whole number, and each element is repeated so often."""
    if isinstance(size, int) and isinstance(output, int):
        return size > 0 and output % size == 0 and (factor is None or factor == output // size)
    return factor is not None and float(factor).is_integer()


def _is_ratio(size: Size, output: Size, factor: float | None) -> bool:
    """True if the scale factor is the ratio of the sizes."""
    if factor is None:
        return True
    if isinstance(size, int) and isinstance(output, int):
        return size * factor == output
    return float(factor).is_integer()
