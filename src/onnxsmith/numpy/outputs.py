"""`out=`: results that are written into an array that the caller has."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import InputTypeError, ShapeError
from onnxsmith.numpy import sharing
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, as_type, tensors_of
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.requirements import require_same, require_to_fit
from onnxsmith.types.value_types import shapes_differ


def written(result: Array, out: object) -> Array:
    """The result, or, where `out` is given, that array with the elements of the result."""
    if out is None:
        return result
    out = checked_output(result, out)
    if shapes_differ(result.shape, out.shape):
        raise ShapeError(f"out= has the shape {out.shape}, and the result {result.shape}")
    sharing.replace(out, fitted(as_type(result, out.dtype), out, exactly=True))
    return out


def of_places(result: Array, out: object) -> Array:
    """Elements from places, or places: numpy reads `out` as an array of their type, and casts all of it back."""
    if not isinstance(out, Array):
        return written(result, out)
    if not np.can_cast(out.dtype, result.dtype, "safe"):
        raise InputTypeError(f"out= of {out.dtype.name} cannot be read as {result.dtype.name}, as numpy does")
    return written(as_type(result, out.dtype), out)


def checked_output(result: Array, out: object) -> Array:
    """An array that is written to, if the element type of the result goes into its own."""
    if not isinstance(out, Array):
        raise InputTypeError(f"out= is an array of onnxsmith.numpy, not {type(out).__name__}")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise InputTypeError(f"a result of {result.dtype.name} does not go into out= of {out.dtype.name}")
    return out


def fitted(result: Array, out: Array, *, exactly: bool = False) -> Array:
    """A result that goes into an array: where sizes are open, the model refuses one that does not fit.

    `exactly` says that it is not broadcast either.
    """
    if not result.is_symbolic and not out.is_symbolic:
        return result
    for own, wanted in zip(tuple(result.shape)[::-1], tuple(out.shape)[::-1], strict=False):
        if exactly:
            require_same(own, wanted, ValueError("out= has another shape than the result"))
        else:
            require_to_fit(own, wanted)
    mine, theirs = (values.dimensions_of(tensors_of(each).re) for each in (result, out))
    is_same = mine == theirs and None not in mine
    return result if is_same else _in_shape_of(result, sharing.detached(out), exactly)


@recorded()
def _in_shape_of(x: Array, out: Array, exactly: bool) -> Array:
    shape = op.Shape(tensors_of(out).re)

    def reshaped(part: Tensor) -> Tensor:
        # Broadcast, it has as many elements as that shape only if it has that shape.
        return op.Reshape(part if exactly else op.Expand(part, shape), shape, allowzero=1)

    return array_from(tensors_of(x).map(reshaped))
