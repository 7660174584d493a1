"""By how much two tensors differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.elements import differing, read_only
from onnxsmith.graphs.ir_types import dimensions_of

#: Elements that are compared at once: a comparison makes arrays of its own.
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Magnitude:
    """How far the elements of two tensors of one type and shape are apart.

    >>> from onnxsmith import FLOAT, diff, opset21 as op, trace
    >>> before = trace(lambda a: op.Relu(a) * 2.0, FLOAT["N"])
    >>> after = trace(lambda a: op.Tanh(a) * 3.0, FLOAT["N"])
    >>> found = diff(before, after)
    >>> print(found.of("weight")[0].magnitude)
    1 of 1 elements differ, by up to 1 where the largest is 2
    """

    #: How many elements differ, of how many.
    count: int
    size: int
    #: The largest difference, and the largest element of the first; None where elements are no numbers.
    largest: float | None = None
    scale: float | None = None

    def __str__(self) -> str:
        words = f"{self.count:,} of {self.size:,} elements differ"
        if self.largest is None:
            return words
        if not self.largest:
            return f"{words}, in the signs of zeros"
        return f"{words}, by up to {self.largest:.4g} where the largest is {self.scale:.4g}"


def described_tensor(tensor: ir.TensorProtocol) -> str:
    """Type and shape of a tensor."""
    return f"{tensor.dtype.name}{list(dimensions_of(tensor))}"


def magnitude(left: ir.TensorProtocol, right: ir.TensorProtocol) -> Magnitude | None:
    """By how much tensors of one type and shape differ; None where they do not, as `differing` sees it."""
    one, two = read_only(left).reshape(-1), read_only(right).reshape(-1)
    is_number = one.dtype.kind not in "OSU"
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    count, largest, scale = 0, 0.0, 0.0
    for start in range(0, one.size, _AT_ONCE):
        a, b = one[start : start + _AT_ONCE], two[start : start + _AT_ONCE]
        differs = differing(a, b)
        found = int(np.count_nonzero(differs))
        count += found
        if is_number:
            first = a.astype(wide)
            if found:
                with np.errstate(invalid="ignore", over="ignore"):
                    apart = np.abs(first[differs] - b[differs].astype(wide))
                largest = max(largest, float(np.nan_to_num(apart, nan=np.inf).max()))
            finite = np.abs(first[np.isfinite(first)])
            scale = max(scale, float(finite.max())) if finite.size else scale
    if not count:
        return None
    return Magnitude(count, one.size, largest, scale) if is_number else Magnitude(count, one.size)


def weight_words(left: ir.TensorProtocol, right: ir.TensorProtocol) -> str:
    """How two tensors that are not the same differ."""
    kinds = [described_tensor(each) for each in (left, right)]
    if kinds[0] != kinds[1]:
        return f"{kinds[0]} -> {kinds[1]}"
    apart = magnitude(left, right)
    return "the bytes differ" if apart is None else str(apart)
