"""Functions of `onnxsmith.numpy` that give one array here, where their types say that they may give something else."""

from __future__ import annotations

from typing import cast

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import Array, equal
from onnxsmith.numpy import where as numpys_where
from onnxsmith.types.dtypes import DType


def where(condition: Array, yes: Array | float, no: Array | float) -> Array:
    """Of two arrays the one or the other, element by element."""
    return cast(Array, numpys_where(condition, yes, no))


def is_equal(one: Array, other: Array | float) -> Array:
    """True where elements are equal: `==`, which Python's types say gives a bool."""
    return equal(one, other)


def any_is(flags: Tensor) -> Tensor:
    """True if one of some flags holds; False where there are none."""
    whole = op.Reshape(op.Cast(flags, to=DType.INT64), [-1])
    return op.ReduceSum(whole, keepdims=0) > 0
