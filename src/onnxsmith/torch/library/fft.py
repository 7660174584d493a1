"""Fourier transforms of one and more dimensions, of complex, real and Hermitian tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.fourier import along, half_transform, real_transform, scale_of, transform
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, axis_of, cast, int64s
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import operand, pair
from onnxsmith.torch.library.kinds import Given
from onnxsmith.torch.library.registry import translates, translates_both, translates_complex
from onnxsmith.types.dtypes import DType


def resized(call: Call, z: Field, axis: int, count: Size) -> Field:
    """Cut, or filled up with zeros, to a count along an axis."""
    held = call.size(z.re, axis)
    if isinstance(held, int) and isinstance(count, int) and held == count:
        return z
    if isinstance(held, int) and isinstance(count, int) and held > count:
        return z.map(op.Slice, [0], [count], [axis])
    pads: list[Size] = [0] * (2 * z.rank)
    pads[z.rank + axis] = count - held
    return z.map(lambda part: op.Pad(part, int64s(pads), cast(0, z.dtype)))


def _resized(call: Call, z: Field, dims: Sequence[int], counts: Sequence[Size]) -> Field:
    for axis, count in zip(dims, counts, strict=True):
        z = resized(call, z, axis, count)
    return z


def scaled(z: Field, counts: Sequence[Size], norm: str | None, inverse: bool) -> Field:
    """As `norm` says: the inverse is divided by the count unless told otherwise."""
    factor = scale_of(counts, norm, inverse)
    if factor is None:
        return z
    scale = cast(factor, z.dtype)
    return z.map(lambda part: part * scale)


def _dims(rank: int, s: Sequence[Size] | None, dim: Sequence[int] | None) -> list[int]:
    if dim is not None:
        return [axis_of(each, rank) for each in dim]
    return list(range(rank)) if s is None else list(range(rank - len(s), rank))


def _transformed(z: Field, dims: Sequence[int], counts: Sequence[Size], inverse: bool) -> Field:
    """Complex to complex along dimensions, one after the other."""
    for axis, count in zip(dims, counts, strict=True):
        z = along(z, axis, lambda each, n=count: transform(each, n, inverse))
    return z


FORWARD = ("aten.fft_fft.default", "aten.fft_fft2.default", "aten.fft_fftn.default")
BACKWARD = ("aten.fft_ifft.default", "aten.fft_ifft2.default", "aten.fft_ifftn.default")
HALF = ("aten.fft_rfft.default", "aten.fft_rfft2.default", "aten.fft_rfftn.default")
HALF_BACKWARD = ("aten.fft_ihfft.default", "aten.fft_ihfft2.default", "aten.fft_ihfftn.default")
REAL_BACKWARD = ("aten.fft_irfft.default", "aten.fft_irfft2.default", "aten.fft_irfftn.default")
REAL = ("aten.fft_hfft.default", "aten.fft_hfft2.default", "aten.fft_hfftn.default")


#: The sizes to cut or fill up to, and the dimensions: one of each for a transform of one dimension, else lists.
Sizes: TypeAlias = "Size | Sequence[Size] | None"
Dims: TypeAlias = "int | Sequence[int] | None"


def _asked(call: Call, z: Field, s: Sizes, dim: Dims) -> tuple[list[int], list[Size]]:
    """Dimensions and sizes of a call of one, two or more dimensions."""
    sizes = [s] if isinstance(s, int | Tensor) else s
    axes = [dim] if isinstance(dim, int) else dim
    name = call.overload.split(".")[1]
    if axes is None and not name.endswith("n"):
        axes = [-2, -1] if name.endswith("2") else [-1]
    dims = _dims(z.rank, sizes, axes)
    held = [call.size(z.re, each) for each in dims]
    if sizes is None:
        return dims, held
    return dims, [own if isinstance(n, int) and n == -1 else n for n, own in zip(sizes, held, strict=True)]


@translates_both(*FORWARD, *BACKWARD)
def fft(call: Call, x: Given, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Complex:
    z = operand(x, call.dtype)
    inverse = call.overload in BACKWARD
    dims, counts = _asked(call, z, s, dim)
    z = _resized(call, z, dims, counts)
    return pair(scaled(_transformed(z, dims, counts, inverse), counts, norm, inverse))


@translates(*HALF, *HALF_BACKWARD)
def rfft(call: Call, x: Tensor, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Complex:
    z = operand(x, call.dtype)
    inverse = call.overload in HALF_BACKWARD
    dims, counts = _asked(call, z, s, dim)
    z = _resized(call, z, dims, counts)
    made = along(z, dims[-1], lambda each: half_transform(each.re, counts[-1], inverse))
    made = _transformed(made, dims[:-1], counts[:-1], inverse)
    return pair(scaled(made, counts, norm, inverse))


@translates_both(*REAL_BACKWARD, *REAL)
def irfft(call: Call, x: Given, s: Sizes = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    z = operand(x, call.dtype)
    inverse = call.overload in REAL_BACKWARD
    dims, counts = _asked(call, z, s, dim)
    counts[-1] = call.output_shape()[dims[-1]]
    z = _resized(call, z, dims, [*counts[:-1], counts[-1] // 2 + 1])
    z = _transformed(z, dims[:-1], counts[:-1], inverse)
    # hfft takes the half spectrum of what it gives in conjugate: as the inverse's, forwards.
    made = along(z, dims[-1], lambda each: Field(real_transform(each, counts[-1], inverse)))
    return scaled(made, counts, norm, inverse).re


#: torch's numbers for its ways to scale, as `norm` is for an inverse.
_SCALES = {0: "forward", 1: "ortho", 2: None}


def _scaled_by(z: Field, normalization: int, counts: Sequence[Size]) -> Field:
    return scaled(z, counts, _SCALES[normalization], True)


def _whole(call: Call, x: Given, dim: Sequence[int]) -> tuple[Field, list[int], list[Size]]:
    """The numbers, the dimensions, and the sizes along them, which are not changed."""
    z = operand(x, call.dtype)
    dims = [axis_of(each, z.rank) for each in dim]
    return z, dims, [call.size(z.re, each) for each in dims]


@translates_complex("aten._fft_c2c.default")
def fft_c2c(call: Call, x: Complex, dim: Sequence[int], normalization: int, forward: bool) -> Complex:
    z, dims, counts = _whole(call, x, dim)
    return pair(_scaled_by(_transformed(z, dims, counts, not forward), normalization, counts))


@translates("aten._fft_r2c.default")
def fft_r2c(call: Call, x: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Complex:
    z, dims, counts = _whole(call, x, dim)
    last = counts[-1]
    made = along(
        z,
        dims[-1],
        lambda each: half_transform(each.re, last, False) if onesided else transform(each, last, False),
    )
    made = _transformed(made, dims[:-1], counts[:-1], False)
    return pair(_scaled_by(made, normalization, counts))


@translates_complex("aten._fft_c2r.default")
def fft_c2r(call: Call, x: Complex, dim: Sequence[int], normalization: int, last_dim_size: Size) -> Tensor:
    z, dims, held = _whole(call, x, dim)
    counts = [*held[:-1], last_dim_size]
    z = resized(call, z, dims[-1], last_dim_size // 2 + 1)
    z = _transformed(z, dims[:-1], counts[:-1], True)
    made = along(z, dims[-1], lambda each: Field(real_transform(each, last_dim_size, True)))
    return _scaled_by(made, normalization, counts).re


@translates("aten.fft_fftfreq.default", "aten.fft_rfftfreq.default")
def fftfreq(call: Call, n: Size, d: float = 1.0, *, dtype: torch.dtype | None = None) -> Tensor:
    if "rfftfreq" in call.overload:
        places = op.Range(np.int64(0), cast(n // 2 + 1, DType.INT64), np.int64(1))
    else:
        places = op.Range(np.int64(0), cast(n, DType.INT64), np.int64(1))
        is_late = places >= cast((n + 1) // 2, DType.INT64)
        places = op.Where(is_late, places - cast(n, DType.INT64), places)
    step = op.Mul(cast(n, DType.DOUBLE), np.float64(d))
    return cast(op.Div(cast(places, DType.DOUBLE), step), call.dtype)
