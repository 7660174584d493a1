"""Models that compute in a narrower element type than the code says: float32 in the place of float64.

Every array that is made while such a model is recorded has the narrower type from the start. Its source does not
matter: a constant of the code, a weight, the result of `np.zeros`, the result of a division of integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.target import RecordingTarget
from onnxsmith.core.tensor import Tensor
from onnxsmith.types.dtypes import DType

#: Under which the shared memory of a model has the element type that it computes in.
NARROW = "the element type that arrays are narrowed to"

_WIDE, _WIDE_COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)


def narrow(scope: RecordingTarget, dtype: DType) -> None:
    """Say that a model that is being recorded computes in an element type where the code says float64."""
    scope.shared[NARROW] = dtype


def narrowed_type(dtype: np.dtype[Any], to: DType | None) -> np.dtype[Any]:
    """The element type that an array has in such a model; complex numbers have none narrower than two of float32."""
    if to is None:
        return dtype
    if dtype == _WIDE_COMPLEX:
        return np.dtype(np.complex64)
    return to.numpy if dtype == _WIDE else dtype


def narrowed(held: np.ndarray[Any, Any] | Tensor | Complex, to: DType) -> Any:
    """The elements of an array, in the narrower type."""
    if isinstance(held, np.ndarray):
        wanted = narrowed_type(held.dtype, to)
        return held if wanted == held.dtype else held.astype(wanted)
    if isinstance(held, Complex):
        if held.dtype is not DType.DOUBLE:
            return held
        return Complex(values.converted(held.real, DType.FLOAT), values.converted(held.imag, DType.FLOAT))
    return values.converted(held, to) if held.dtype is DType.DOUBLE else held
