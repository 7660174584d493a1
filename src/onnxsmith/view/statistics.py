"""Statistics of weights: a few numbers and a histogram, of a sample or of all elements.

Weights are read where they lie. A sample touches a few pages of each; all elements are gone through piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import onnx_ir as ir

from onnxsmith.types.dtypes import DType

#: An array of any element type.
_Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

SAMPLE = 4096
#: Elements of a sample that lie side by side, so that a file is read at a few places only.
_RUN = 256
_PIECE = 1 << 20
_BINS = 32
#: Tensors of packed elements, which are unpacked whole, are left out beyond this.
_MOST_PACKED_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers about the finite elements of a tensor."""

    low: float
    high: float
    mean: float
    deviation: float
    #: The part that is zero.
    zeros: float
    #: How many are infinite or not a number.
    odd: int
    bins: tuple[int, ...]
    #: How many elements were looked at; 0 for all.
    sampled: int


def statistics_of(tensor: ir.TensorProtocol, *, is_full: bool) -> Statistics | None:
    """Numbers about a tensor; None where it has no numbers, or they cannot be read."""
    if tensor.dtype in (ir.DataType.STRING, ir.DataType.UNDEFINED) or not tensor.size:
        return None
    is_packed = DType(int(tensor.dtype)).bits < 8
    if is_packed and tensor.nbytes > _MOST_PACKED_BYTES:
        return None
    try:
        elements = np.asarray(tensor.numpy()).reshape(-1)
        if elements.dtype.kind == "c":
            return None
        if is_full or elements.size <= SAMPLE:
            return _gathered(elements, 0)
        return _gathered(_sample(elements), SAMPLE)
    except Exception:  # a stranger's tensor: its data may be missing or too short
        return None


def _sample(elements: _Array) -> _Array:
    """Runs of elements, spread evenly over the tensor."""
    starts = np.linspace(0, elements.size - _RUN, SAMPLE // _RUN).astype(np.int64)
    return np.concatenate([elements[start : start + _RUN] for start in starts.tolist()])


def _pieces(elements: _Array) -> Iterator[np.ndarray[Any, np.dtype[np.float64]]]:
    for start in range(0, elements.size, _PIECE):
        yield elements[start : start + _PIECE].astype(np.float64)


def _gathered(elements: _Array, sampled: int) -> Statistics | None:
    low, high, total, zeros, count = np.inf, -np.inf, 0.0, 0, 0
    with np.errstate(all="ignore"):
        for piece in _pieces(elements):
            finite = piece[np.isfinite(piece)]
            if finite.size:
                low, high = min(low, float(finite.min())), max(high, float(finite.max()))
                total += float(finite.sum())
                zeros += int(finite.size - np.count_nonzero(finite))
                count += finite.size
        if not count:
            return None
        mean, squares = total / count, 0.0
        bins = np.zeros(_BINS, np.int64)
        span = (low, high) if high > low else (low - 0.5, high + 0.5)
        has_bins = (
            bool(np.isfinite(span[1] - span[0]))
            and (high - low) > np.spacing(max(abs(low), abs(high))) * _BINS
        )
        for piece in _pieces(elements):
            finite = piece[np.isfinite(piece)]
            squares += float(np.square(finite - mean).sum())
            if has_bins:
                bins += np.histogram(finite, _BINS, span)[0]
        deviation = float(np.sqrt(squares / count))
    numbers = [each if np.isfinite(each) else 0.0 for each in (mean, deviation)]
    return Statistics(
        low,
        high,
        numbers[0],
        numbers[1],
        zeros / count,
        int(elements.size - count),
        tuple(bins.tolist()) if has_bins else (),
        sampled,
    )
