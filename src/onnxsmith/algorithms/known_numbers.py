"""Arithmetic on numbers that are arrays while all of them are known, and tensors of the graph from there on.

The same formulas serve for both; what is known costs no node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from onnxsmith.algorithms.operators import Tensor, TensorOperator, op
from onnxsmith.algorithms.values import Size, cast, constant, converted, counted
from onnxsmith.core.value import Array
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from typing_extensions import TypeIs

#: An array where all is known, else a tensor.
Numbers: TypeAlias = "Array | np.generic[Any] | Tensor"


def is_known(value: Numbers) -> TypeIs[Array | np.generic[Any]]:
    """True if numbers are known now."""
    return isinstance(value, np.ndarray | np.generic)


def of(value: float, dtype: DType) -> Array:
    """One number."""
    return np.asarray(value, dtype.numpy)


def size_as(size: Size, dtype: DType) -> Numbers:
    """A size as a number of an element type."""
    return of(size, dtype) if isinstance(size, int) else cast(size, dtype)


def up_to(size: Size, dtype: DType) -> Numbers:
    """The numbers from 0 up to a size."""
    return np.arange(size, dtype=dtype.numpy) if isinstance(size, int) else converted(counted(size), dtype)


def as_operand(value: Numbers) -> Tensor:
    """Numbers as a tensor of the graph."""
    return value if isinstance(value, Tensor) else constant(value)


def _of_two(
    a: Numbers, b: Numbers, on_arrays: Callable[[Any, Any], Any], on_tensors: TensorOperator
) -> Numbers:
    return on_arrays(a, b) if is_known(a) and is_known(b) else on_tensors(a, b)


def add(a: Numbers, b: Numbers) -> Numbers:
    return _of_two(a, b, np.add, op.Add)


def subtract(a: Numbers, b: Numbers) -> Numbers:
    return _of_two(a, b, np.subtract, op.Sub)


def multiply(a: Numbers, b: Numbers) -> Numbers:
    return _of_two(a, b, np.multiply, op.Mul)


def divide(a: Numbers, b: Numbers) -> Numbers:
    return _of_two(a, b, np.divide, op.Div)


def less(a: Numbers, b: Numbers) -> Numbers:
    return _of_two(a, b, np.less, op.Less)


def floor(value: Numbers) -> Numbers:
    return np.floor(value) if is_known(value) else op.Floor(value)


def absolute(value: Numbers) -> Numbers:
    return np.abs(value) if is_known(value) else op.Abs(value)


def clip(value: Numbers, low: Numbers, high: Numbers) -> Numbers:
    if is_known(value) and is_known(low) and is_known(high):
        return np.minimum(np.maximum(value, low), high)
    return op.Min(op.Max(value, low), high)


def where(condition: Numbers, a: Numbers, b: Numbers) -> Numbers:
    if is_known(condition) and is_known(a) and is_known(b):
        return np.where(condition, a, b)
    return op.Where(condition, a, b)


def as_places(value: Numbers) -> Numbers:
    """Numbers as INT64."""
    return np.asarray(value).astype(np.int64) if is_known(value) else converted(value, DType.INT64)


def column(value: Numbers) -> Numbers:
    """A vector as a matrix of one column."""
    return np.asarray(value)[:, None] if is_known(value) else op.Unsqueeze(value, [1])


def columns(values: Sequence[Numbers]) -> Numbers:
    """Vectors side by side."""
    arrays = [each for each in values if is_known(each)]
    if len(arrays) == len(values):
        return np.stack(arrays, axis=1)
    return op.Concat(*[column(each) for each in values], axis=1)
