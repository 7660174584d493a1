"""`out=`: results that are written into an array that the caller has."""

from __future__ import annotations

import numpy as np

from onnxsmith.errors import InputTypeError, ShapeError
from onnxsmith.numpy import sharing
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import as_type


def written(result: Array, out: object) -> Array:
    """The result, or, where `out` is given, that array with the elements of the result."""
    if out is None:
        return result
    if not isinstance(out, Array):
        raise InputTypeError(f"out= is an array of onnxsmith.numpy, not {type(out).__name__}")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise InputTypeError(f"a result of {result.dtype.name} does not go into out= of {out.dtype.name}")
    if not _fits(result, out):
        raise ShapeError(f"out= has the shape {out.shape}, and the result {result.shape}")
    sharing.replace(out, as_type(result, out.dtype))
    return out


def _fits(result: Array, out: Array) -> bool:
    """Whether the shapes are the same, as far as they are known."""
    return result.ndim == out.ndim and all(
        mine == theirs
        for mine, theirs in zip(result.shape, out.shape, strict=True)
        if isinstance(mine, int) and isinstance(theirs, int)
    )
