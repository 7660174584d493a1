"""Short-time Fourier transforms: those of pieces of a signal, and the signal from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.complex_numbers.pair import packed
from onnxsmith.algorithms.fourier import half_transform, real_transform, transform
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, cast, constant, int64s, like, rank_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import operand, pair
from onnxsmith.torch.library.fft import resized, scaled
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.registry import translates_both, translates_complex
from onnxsmith.types.dtypes import DType

#: ONNX's names for torch's ways to go past the ends of a signal.
_PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@dataclass(frozen=True, slots=True)
class Pieces:
    """How a signal is cut into pieces, which may overlap."""

    #: How many numbers a piece has.
    size: int
    #: How far apart they begin.
    hop: int
    #: How many of its numbers, in the middle, the window has.
    width: int

    @staticmethod
    def of(size: int, hop: int | None, width: int | None) -> Pieces:
        """With what torch has where nothing is said."""
        return Pieces(size, size // 4 if hop is None else hop, size if width is None else width)

    def places(self, count: Size) -> Tensor:
        """For each of so many pieces, where its numbers stand in the signal."""
        starts = op.Range(np.int64(0), cast(count, DType.INT64), np.int64(1)) * self.hop
        return op.Unsqueeze(starts, [1]) + np.arange(self.size)[None, :]

    def window(self, window: Given | None, dtype: DType) -> Field | None:
        """The window in the middle of a piece; ones where there is none, or None if they fill it."""
        if window is None and self.width == self.size:
            return None
        made = Field(constant(np.ones(self.width, dtype.numpy))) if window is None else operand(window, dtype)
        left = (self.size - self.width) // 2
        if self.size == self.width:
            return made
        pads = int64s([left, self.size - self.width - left])
        return made.map(lambda part: op.Pad(part, pads, cast(0, dtype)))


def _frames(signal: Field, pieces: Pieces, count: Size) -> Field:
    """The pieces of a signal, along a new last dimension but one."""
    places = pieces.places(count)
    return signal.map(lambda part: op.Gather(part, places, axis=rank_of(part) - 1))


def _padded(signal: Field, amount: int, mode: str) -> Field:
    """A signal with more numbers before its beginning and behind its end."""
    widths = [0] * (signal.rank - 1) + [amount]
    extra = [cast(0, signal.dtype)] if mode == "constant" else []
    return signal.map(lambda part: op.Pad(part, int64s([*widths, *widths]), *extra, mode=_PAD_MODES[mode]))


def _stft(
    call: Call,
    signal: Field,
    pieces: Pieces,
    window: Given | None,
    normalized: bool,
    onesided: bool | None,
) -> Translated:
    frame_axis = call.rank - (1 if call.is_complex else 2)
    z = _frames(signal, pieces, call.output_shape()[frame_axis])
    shape = pieces.window(window, signal.dtype)
    z = z if shape is None else z * shape
    size = pieces.size
    is_half = not z.is_complex if onesided is None else onesided
    made = half_transform(z.re, size, False) if is_half else transform(z, size, False)
    if normalized:
        made = scaled(made, [size], "ortho", False)
    result = pair(made.transposed())
    if call.is_complex:
        return result
    return packed(result)


@translates_both("aten.stft.default")
def stft(
    call: Call,
    x: Given,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Given | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Translated:
    if align_to_window:
        raise call.refuse("frames that are aligned to the window")
    pieces = Pieces.of(n_fft, hop_length, win_length)
    return _stft(call, operand(x, call.dtype), pieces, window, normalized, onesided)


@translates_both("aten.stft.center")
def stft_center(
    call: Call,
    x: Given,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Given | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Translated:
    if align_to_window:
        raise call.refuse("frames that are aligned to the window")
    signal = operand(x, call.dtype)
    signal = _padded(signal, n_fft // 2, pad_mode) if center else signal
    pieces = Pieces.of(n_fft, hop_length, win_length)
    return _stft(call, signal, pieces, window, normalized, onesided)


@translates_complex("aten.istft.default")
def istft(
    call: Call,
    x: Given,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Given | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Translated:
    """Every frame back, times the window, added where they overlap, over what the windows squared add up to."""
    z = operand(x, call.dtype).transposed()  # frames, frequencies
    pieces = Pieces.of(n_fft, hop_length, win_length)
    frames = call.shape_of(z.re)[-2]
    if normalized:
        z = z.map(lambda part: part * cast(math.sqrt(n_fft), z.dtype))
    if return_complex:
        made = transform(z, n_fft, True)
    else:  # of a whole spectrum the first half is taken
        made = Field(real_transform(resized(call, z, z.rank - 1, n_fft // 2 + 1), n_fft, True))
    made = scaled(made, [n_fft], None, True)
    found = pieces.window(window, z.dtype)
    if found is not None and found.is_complex:
        raise call.refuse("a complex window")
    shape = np.ones(n_fft, z.dtype.numpy) if found is None else found.re
    made = made.map(lambda part: part * shape)
    batch = call.shape_of(made.re)[:-2]
    weights = op.Expand(op.Mul(shape, shape), int64s([frames, n_fft]))
    start = n_fft // 2 if center else 0

    def wanted(part: Tensor) -> Tensor:
        return op.Slice(part, [start], int64s([start + call.output_shape()[-1]]), [-1])

    # The ends that are not wanted may have no weight at all, and no gradient is to go through a division by it.
    norm = wanted(_overlapped(weights, pieces, [], frames))
    made = made.map(lambda part: op.Div(wanted(_overlapped(part, pieces, batch, frames)), norm))
    if length is not None or center:
        made = resized(call, made, made.rank - 1, call.output_shape()[-1])
    return made.as_value()


def _overlapped(frames: Tensor, pieces: Pieces, batch: Sequence[Size], count: Size) -> Tensor:
    """Pieces added up at their places."""
    places = op.Reshape(pieces.places(count), [-1])
    total = pieces.size + pieces.hop * (count - 1)
    flat = op.Reshape(frames, int64s([*batch, -1]))
    zeros = op.Expand(like(0, frames), int64s([*batch, total]))
    places = op.Expand(places, int64s([*batch, count * pieces.size]))
    return op.ScatterElements(zeros, places, flat, axis=len(batch), reduction="add")
