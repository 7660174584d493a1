"""Helpers for tensors of any element type, and code whose types nobody wrote down."""

from typing import Any, TypeVar

import numpy as np

from onnxsmith import FLOAT, INT64, Tensor
from onnxsmith import opset21 as op

T = TypeVar("T", bound=Tensor)


def gelu(x: Tensor) -> Tensor:
    return op.Mul(op.Mul(x, 0.5), op.Add(op.Erf(op.Div(x, 1.4142135)), 1.0))


def swish(x: T) -> T:
    return x * op.Sigmoid(x)


def tanh_gate(x: Tensor, gate: FLOAT) -> Tensor:
    return op.Tanh(x) * gate + gate * x - x[0] + op.Where(x > gate, x, gate)


def unknown(x: Any, y: Any) -> Any:
    z = op.Add(x, y)
    a, b = op.TopK(z, 3)
    return op.Relu(a) + b.astype(FLOAT) + x @ y


def untyped(x, w):  # type: ignore[no-untyped-def]
    return op.Softmax(op.MatMul(x, w) + 1, axis=-1)


def mixed(x: FLOAT, i: INT64) -> FLOAT:
    y = gelu(x)
    return op.Add(x, y) + op.Gather(y, i) + swish(x) + gelu(op.Relu(x))


print(gelu, swish, tanh_gate, unknown, untyped, mixed, np.ones(3))
