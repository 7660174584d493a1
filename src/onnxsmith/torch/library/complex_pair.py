"""Arguments of torch's operators as pairs of a real and an imaginary part."""

from __future__ import annotations

from onnxsmith.algorithms.complex_numbers.pair import Complex, zeros_like
from onnxsmith.torch.library.kinds import Given


def parts_of(value: Given) -> Complex:
    """A tensor as a pair; a real one has a zero imaginary part."""
    return value if isinstance(value, Complex) else Complex(value, zeros_like(value))
