"""Arguments of torch's operators as pairs of a real and an imaginary part."""

from __future__ import annotations

from typing import Any

from onnxsmith.algorithms.complex_numbers.pair import Complex, zeros_like
from onnxsmith.core.semantics.number import Number


def parts_of(value: Any) -> Complex:
    """A value as a pair; a real one has a zero imaginary part. The parts of a literal are literals."""
    parts: Any = Complex
    if isinstance(value, Complex):
        return value
    if isinstance(value, complex):
        return parts(value.real, value.imag)
    if isinstance(value, bool | int | float | Number):
        return parts(value, 0.0)
    return Complex(value, zeros_like(value))
