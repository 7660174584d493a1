"""Fourier transforms of one and more dimensions, of complex, real and Hermitian tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.fourier import half_transform, real_transform, transform
from onnxsmith.core.semantics.number import Number
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import operand, pair
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import axis_of, cast, int64s, rank_of
from onnxsmith.types.dtypes import DType


def along(z: Field, axis: int, function: Callable[[Field], Field]) -> Field:
    """A function of the last axis on another one."""
    last = z.rank - 1
    if axis == last:
        return function(z)
    order = list(range(z.rank))
    order[axis], order[last] = last, axis
    turned = function(z.map(lambda part: op.Transpose(part, perm=order)))
    return turned.map(lambda part: op.Transpose(part, perm=order))


def resized(call: Call, z: Field, axis: int, count: Any) -> Field:
    """Cut, or filled up with zeros, to a count along an axis."""
    held = call.size(z.re, axis)
    if isinstance(held, int) and isinstance(count, int) and held == count:
        return z
    if isinstance(held, int) and isinstance(count, int) and held > count:
        return z.map(lambda part: op.Slice(part, [0], [count], [axis]))
    pads: list[Any] = [0] * (2 * z.rank)
    pads[z.rank + axis] = count - held
    return z.map(lambda part: op.Pad(part, int64s(pads), cast(0, z.dtype)))


def scaled(z: Field, counts: Sequence[Any], norm: str | None, inverse: bool) -> Field:
    """As `norm` says: the inverse is divided by the count unless told otherwise."""
    root = norm == "ortho"
    if not root and (norm == "forward") == inverse:
        return z
    count: Any = 1
    for each in counts:
        count = count * each
    if isinstance(count, Number):
        number = cast(count, DType.DOUBLE)
        factor = cast(op.Reciprocal(op.Sqrt(number) if root else number), z.dtype)
    else:
        factor = cast(1 / (math.sqrt(count) if root else count) if count else 1.0, z.dtype)
    return z.map(lambda part: op.Mul(part, factor))


def _dims(rank: int, s: Any, dim: Any) -> list[int]:
    if dim is not None:
        return [axis_of(each, rank) for each in dim]
    return list(range(rank)) if s is None else list(range(rank - len(s), rank))


def _counts(call: Call, z: Field, s: Any, dims: list[int]) -> list[Any]:
    held = [call.size(z.re, each) for each in dims]
    if s is None:
        return held
    return [own if isinstance(n, int) and n == -1 else n for n, own in zip(s, held, strict=True)]


def _complex(
    call: Call, x: Any, counts: list[Any], dims: list[int], norm: str | None, inverse: bool
) -> Field:
    """Complex to complex along dimensions."""
    z = operand(x, call.dtype) if not isinstance(x, Field) else x
    for axis, count in zip(dims, counts, strict=True):
        z = resized(call, z, axis, count)
    for axis, count in zip(dims, counts, strict=True):
        z = along(z, axis, lambda each, n=count: transform(each, n, inverse))
    return scaled(z, counts, norm, inverse)


FORWARD = ("aten.fft_fft.default", "aten.fft_fft2.default", "aten.fft_fftn.default")
BACKWARD = ("aten.fft_ifft.default", "aten.fft_ifft2.default", "aten.fft_ifftn.default")
HALF = ("aten.fft_rfft.default", "aten.fft_rfft2.default", "aten.fft_rfftn.default")
HALF_BACKWARD = ("aten.fft_ihfft.default", "aten.fft_ihfft2.default", "aten.fft_ihfftn.default")
REAL_BACKWARD = ("aten.fft_irfft.default", "aten.fft_irfft2.default", "aten.fft_irfftn.default")
REAL = ("aten.fft_hfft.default", "aten.fft_hfft2.default", "aten.fft_hfftn.default")


def _asked(call: Call, z: Field, s: Any, dim: Any) -> tuple[list[int], Any]:
    """Dimensions and sizes of a call of one, two or more dimensions."""
    name = call.overload.split(".")[1]
    if name.endswith("2"):
        return _dims(z.rank, s, [-2, -1] if dim is None else dim), s
    if name.endswith("n"):
        return _dims(z.rank, s, dim), s
    return [axis_of(-1 if dim is None else dim, z.rank)], None if s is None else [s]


@translates_complex(*FORWARD, *BACKWARD)
@translates(*FORWARD, *BACKWARD)
def fft(call: Call, x: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    z = operand(x, call.dtype)
    dims, s = _asked(call, z, s, dim)
    return pair(_complex(call, z, _counts(call, z, s, dims), dims, norm, call.overload in BACKWARD))


@translates(*HALF, *HALF_BACKWARD)
def rfft(call: Call, x: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    z = operand(x, call.dtype)
    inverse = call.overload in HALF_BACKWARD
    dims, s = _asked(call, z, s, dim)
    counts = _counts(call, z, s, dims)
    for axis, count in zip(dims, counts, strict=True):
        z = resized(call, z, axis, count)
    made = along(z, dims[-1], lambda each: half_transform(each.re, counts[-1], inverse))
    for axis, count in zip(dims[:-1], counts[:-1], strict=True):
        made = along(made, axis, lambda each, n=count: transform(each, n, inverse))
    return pair(scaled(made, counts, norm, inverse))


@translates_complex(*REAL_BACKWARD, *REAL)
@translates(*REAL_BACKWARD, *REAL)
def irfft(call: Call, x: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    z = operand(x, call.dtype)
    inverse = call.overload in REAL_BACKWARD
    dims, s = _asked(call, z, s, dim)
    counts = _counts(call, z, s, dims)
    counts[-1] = call.output_shape()[dims[-1]]
    for axis, count in zip(dims, [*counts[:-1], counts[-1] // 2 + 1], strict=True):
        z = resized(call, z, axis, count)
    for axis, count in zip(dims[:-1], counts[:-1], strict=True):
        z = along(z, axis, lambda each, n=count: transform(each, n, inverse))
    # hfft takes the half spectrum of what it gives in conjugate: as the inverse's, forwards.
    made = along(z, dims[-1], lambda each: Field(real_transform(each, counts[-1], inverse)))
    return scaled(made, counts, norm, inverse).re


#: torch's numbers for its ways to scale, as `norm` is for an inverse.
_SCALES = {0: "forward", 1: "ortho", 2: None}


def _scaled_by(z: Field, normalization: int, counts: list[Any]) -> Field:
    return scaled(z, counts, _SCALES[normalization], True)


@translates_complex("aten._fft_c2c.default")
def fft_c2c(call: Call, x: Any, dim: Any, normalization: int, forward: bool) -> Any:
    z = operand(x, call.dtype)
    dims = [axis_of(each, z.rank) for each in dim]
    counts = [call.size(z.re, each) for each in dims]
    for axis, count in zip(dims, counts, strict=True):
        z = along(z, axis, lambda each, n=count: transform(each, n, not forward))
    return pair(_scaled_by(z, normalization, counts))


@translates("aten._fft_r2c.default")
def fft_r2c(call: Call, x: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    z = operand(x, call.dtype)
    dims = [axis_of(each, z.rank) for each in dim]
    counts = [call.size(z.re, each) for each in dims]
    last = counts[-1]
    made = along(
        z,
        dims[-1],
        lambda each: half_transform(each.re, last, False) if onesided else transform(each, last, False),
    )
    for axis, count in zip(dims[:-1], counts[:-1], strict=True):
        made = along(made, axis, lambda each, n=count: transform(each, n, False))
    return pair(_scaled_by(made, normalization, counts))


@translates_complex("aten._fft_c2r.default")
def fft_c2r(call: Call, x: Any, dim: Any, normalization: int, last_dim_size: Any) -> Any:
    z = operand(x, call.dtype)
    dims = [axis_of(each, z.rank) for each in dim]
    counts = [*(call.size(z.re, each) for each in dims[:-1]), last_dim_size]
    z = resized(call, z, dims[-1], last_dim_size // 2 + 1)
    for axis, count in zip(dims[:-1], counts[:-1], strict=True):
        z = along(z, axis, lambda each, n=count: transform(each, n, True))
    made = along(z, dims[-1], lambda each: Field(real_transform(each, last_dim_size, True)))
    return _scaled_by(made, normalization, counts).re


@translates("aten.fft_fftfreq.default", "aten.fft_rfftfreq.default")
def fftfreq(call: Call, n: Any, d: float = 1.0, *, dtype: Any = None) -> Any:
    if "rfftfreq" in call.overload:
        places = op.Range(np.int64(0), cast(n // 2 + 1, DType.INT64), np.int64(1))
    else:
        places = op.Range(np.int64(0), cast(n, DType.INT64), np.int64(1))
        is_late = op.GreaterOrEqual(places, cast((n + 1) // 2, DType.INT64))
        places = op.Where(is_late, op.Sub(places, cast(n, DType.INT64)), places)
    step = op.Mul(cast(n, DType.DOUBLE), np.float64(d))
    return cast(op.Div(cast(places, DType.DOUBLE), step), call.dtype)


# -- short-time transforms ------------------------------------------------------------------------------------


def _window(call: Call, window: Any, length: int, size: int, dtype: DType) -> Any:
    """The window in the middle of a frame; ones where there is none, or None if they fill it."""
    if window is None and length == size:
        return None
    window = np.ones(length, dtype.numpy) if window is None else cast(window, dtype)
    left = (size - length) // 2
    if left == 0 and size == length:
        return window
    return op.Pad(window, int64s([left, size - length - left]), cast(0, dtype))


def _frames(signal: Field, count: Any, size: int, hop: int) -> Field:
    """Pieces of a signal that begin every `hop` numbers, along a new last dimension but one."""
    starts = op.Mul(op.Range(np.int64(0), cast(count, DType.INT64), np.int64(1)), np.int64(hop))
    places = op.Add(op.Unsqueeze(starts, [1]), np.arange(size)[None, :])
    return signal.map(lambda part: op.Gather(part, places, axis=rank_of(part) - 1))


def _stft(
    call: Call,
    x: Any,
    n_fft: int,
    hop: Any,
    length: Any,
    window: Any,
    normalized: bool,
    onesided: Any,
    pads: Any,
) -> Any:
    signal = operand(x, call.dtype)
    hop = n_fft // 4 if hop is None else hop
    length = n_fft if length is None else length
    if pads is not None:
        amount, mode = pads
        widths = [0] * (signal.rank - 1) + [amount]
        extra = [cast(0, signal.dtype)] if mode == "constant" else []
        onnx_mode = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[
            mode
        ]
        signal = signal.map(lambda part: op.Pad(part, int64s([*widths, *widths]), *extra, mode=onnx_mode))
    frame_axis = call.rank - (1 if call.is_complex else 2)
    count = call.output_shape()[frame_axis]
    z = _frames(signal, count, n_fft, hop)
    shape = _window(call, window, length, n_fft, signal.dtype)
    if isinstance(shape, Complex):
        z = z * operand(shape, signal.dtype)
    elif shape is not None:
        z = z.map(lambda part: op.Mul(part, shape))
    is_half = not z.is_complex if onesided is None else onesided
    made = half_transform(z.re, n_fft, False) if is_half else transform(z, n_fft, False)
    if normalized:
        made = scaled(made, [n_fft], "ortho", False)
    result = pair(made.transposed())
    if call.is_complex:
        return result
    return op.Concat(op.Unsqueeze(result.real, [-1]), op.Unsqueeze(result.imag, [-1]), axis=-1)


@translates_complex("aten.stft.default")
@translates("aten.stft.default")
def stft(
    call: Call,
    x: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    normalized: bool = False,
    onesided: Any = None,
    return_complex: Any = None,
    align_to_window: Any = None,
) -> Any:
    if align_to_window:
        raise call.refuse("frames that are aligned to the window")
    return _stft(call, x, n_fft, hop_length, win_length, window, normalized, onesided, None)


@translates_complex("aten.stft.center")
@translates("aten.stft.center")
def stft_center(
    call: Call,
    x: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: Any = None,
    return_complex: Any = None,
    align_to_window: Any = None,
) -> Any:
    if align_to_window:
        raise call.refuse("frames that are aligned to the window")
    pads = (n_fft // 2, pad_mode) if center else None
    return _stft(call, x, n_fft, hop_length, win_length, window, normalized, onesided, pads)


@translates_complex("aten.istft.default")
def istft(
    call: Call,
    x: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: Any = None,
    length: Any = None,
    return_complex: bool = False,
) -> Any:
    """Every frame back, times the window, added where they overlap, over what the windows squared add up to."""
    z = operand(x, call.dtype).transposed()  # frames, frequencies
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    frames = call.shape_of(z.re)[-2]
    if normalized:
        z = z.map(lambda part: op.Mul(part, cast(math.sqrt(n_fft), z.dtype)))
    if return_complex:
        made = transform(z, n_fft, True)
    else:  # of a whole spectrum the first half is taken
        made = Field(real_transform(resized(call, z, z.rank - 1, n_fft // 2 + 1), n_fft, True))
    made = scaled(made, [n_fft], None, True)
    shape = _window(call, window, width, n_fft, z.dtype)
    shape = np.ones(n_fft, z.dtype.numpy) if shape is None else shape
    made = made.map(lambda part: op.Mul(part, shape))
    total = n_fft + hop * (frames - 1)
    batch = call.shape_of(made.re)[:-2]
    weights = op.Expand(op.Mul(shape, shape), int64s([frames, n_fft]))
    norm = _overlapped(weights, [], frames, n_fft, hop, total)
    made = made.map(lambda part: op.Div(_overlapped(part, batch, frames, n_fft, hop, total), norm))
    start = n_fft // 2 if center else 0
    made = made.map(
        lambda part: op.Slice(part, [start], int64s([start + call.output_shape()[-1]]), [rank_of(part) - 1])
    )
    if length is not None or center:
        made = resized(call, made, made.rank - 1, call.output_shape()[-1])
    return made.as_value()


def _overlapped(frames: Any, batch: list[Any], count: Any, size: int, hop: int, total: Any) -> Any:
    """Frames added up at their places."""
    starts = op.Mul(op.Range(np.int64(0), cast(count, DType.INT64), np.int64(1)), np.int64(hop))
    places = op.Reshape(op.Add(op.Unsqueeze(starts, [1]), np.arange(size)[None, :]), [-1])
    flat = op.Reshape(frames, int64s([*batch, -1]))
    zeros = op.Expand(cast(0, frames.dtype), int64s([*batch, total]))
    places = op.Expand(places, int64s([*batch, count * size]))
    return op.ScatterElements(zeros, places, flat, axis=len(batch), reduction="add")
