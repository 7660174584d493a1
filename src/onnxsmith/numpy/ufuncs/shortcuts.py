"""Reductions that ONNX has operators for; axes stay, with size 1."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import converted, dtype_of, like
from onnxsmith.core.value import TensorOrArray, TensorValue
from onnxsmith.numpy.ufunc_steps import Reduce
from onnxsmith.types.dtypes import DType


def truth(x: TensorValue) -> TensorValue:
    """Where an element is not zero."""
    return x if x.dtype is DType.BOOL else op.Not(op.Equal(x, like(0, x)))


def _is_any(x: TensorValue, axes: TensorOrArray) -> TensorValue:
    """Where one of the elements is true; none of none is."""
    return op.Greater(op.ReduceSum(converted(truth(x), DType.INT64), axes), np.int64(0))


def _is_all(x: TensorValue, axes: TensorOrArray) -> TensorValue:
    return op.Not(_is_any(op.Not(truth(x)), axes))


def total(x: Field, axes: TensorOrArray) -> Field:
    """The sum; of truth values whether one is true."""
    if x.dtype is DType.BOOL:
        return Field(_is_any(x.re, axes))
    return x.map(lambda part: op.ReduceSum(part, axes))


def is_any(x: Field, axes: TensorOrArray) -> Field:
    """Whether an element is true."""
    return Field(_is_any(x.re, axes))


def is_all(x: Field, axes: TensorOrArray) -> Field:
    """Whether all elements are true."""
    return Field(_is_all(x.re, axes))


def extreme(name: str) -> Reduce:
    """The greatest or the least element; NaN where there is one."""

    def reduce(x: Field, axes: TensorOrArray) -> Field:
        found = getattr(op, name)(x.re, axes)
        if not dtype_of(x.re).is_float:
            return Field(found)
        return Field(op.Where(_is_any(op.IsNaN(x.re), axes), like(np.nan, x.re), found))

    return reduce
