"""Reductions of universal functions that are more than one step after the other; axes stay, with size 1."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.algorithms import extremes, reductions
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import like
from onnxsmith.numpy.ufunc_steps import Reduce
from onnxsmith.types.dtypes import DType


def truth(x: Tensor) -> Tensor:
    """Where an element is not zero."""
    return x if x.dtype is DType.BOOL else ~op.Equal(x, like(0, x))


def total(x: Field, axes: Sequence[int]) -> Field:
    """The sum; of truth values whether one is true."""
    if x.dtype is DType.BOOL:
        return is_any(x, axes)
    return reductions.total(x, axes, keepdims=True)


def is_any(x: Field, axes: Sequence[int]) -> Field:
    """True if any element is true."""
    return Field(reductions.any_true(truth(x.re), axes, keepdims=True))


def is_all(x: Field, axes: Sequence[int]) -> Field:
    """True if all elements are true."""
    return Field(reductions.all_true(truth(x.re), axes, keepdims=True))


def extreme(*, is_max: bool) -> Reduce:
    """The greatest or the least element; NaN where there is one."""

    def reduce(x: Field, axes: Sequence[int]) -> Field:
        return extremes.extreme(x, axes, True, is_max=is_max)

    return reduce
