"""Sums, products, quotients."""

from __future__ import annotations

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import op
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.ufunc import define, operator
from onnxsmith.types.dtypes import DType


def _add(x: TensorValue, y: TensorValue) -> TensorValue:
    return op.Or(x, y) if x.dtype is DType.BOOL else op.Add(x, y)


def _multiply(x: TensorValue, y: TensorValue) -> TensorValue:
    return op.And(x, y) if x.dtype is DType.BOOL else op.Mul(x, y)


add = define("add", _add, Field.__add__)
subtract = define("subtract", operator("Sub"), Field.__sub__)
multiply = define("multiply", _multiply, Field.__mul__)
divide = define("divide", operator("Div"), Field.__truediv__)
