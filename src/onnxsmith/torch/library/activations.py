"""Activation functions and softmax."""

from __future__ import annotations

import numpy as np
import torch

from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, axis_of, dtype_of, rank_of
from onnxsmith.core.semantics.number import Number
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.marks import constant_where, is_training
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, is_number
from onnxsmith.types.dtypes import DType


@translates("aten.relu.default")
def relu(call: Call, x: Tensor) -> Tensor:
    # As an extreme it is exact for all integers; ONNX Runtime has Relu for few types.
    return op.Relu(x) if call.dtype.is_float else op.Max(x, 0)


@translates("aten.relu6.default")
def relu6(call: Call, x: Tensor) -> Translated:
    return _without_slope_at(op.Min(relu(call, x), cast(6, call.dtype)), x, 0, 6)


@translates("aten.gelu.default")
def gelu(call: Call, x: Tensor, *, approximate: str = "none") -> Translated:
    if op.has("Gelu"):
        return op.Gelu(x, approximate=approximate)
    if approximate == "tanh":
        cube = x * x * x * 0.044715
        inner = op.Tanh((x + cube) * cast(np.sqrt(2 / np.pi), call.dtype))
    else:
        inner = op.Erf(x * cast(np.sqrt(0.5), call.dtype))
    return x * 0.5 * (inner + 1)


@translates("aten.silu.default")
def silu(call: Call, x: Tensor) -> Translated:
    return x * op.Sigmoid(x)


@translates("aten.sigmoid.default")
def sigmoid(call: Call, x: Tensor) -> Translated:
    return op.Sigmoid(cast(x, call.dtype))


@translates("aten.log_sigmoid.default")
def log_sigmoid(call: Call, x: Tensor) -> Translated:
    return -op.Softplus(-x)


@translates("aten.mish.default")
def mish(call: Call, x: Tensor) -> Translated:
    return x * op.Tanh(op.Softplus(x))


@translates("aten.leaky_relu.default")
def leaky_relu(call: Call, x: Tensor, negative_slope: float | Number = 0.01) -> Translated:
    if not isinstance(negative_slope, Number):
        return op.LeakyRelu(x, alpha=float(negative_slope))
    below = x * cast(negative_slope, call.dtype)
    return op.Where(x < 0, below, x)


@translates("aten.elu.default")
def elu(
    call: Call, x: Tensor, alpha: Numeric = 1.0, scale: Numeric = 1.0, input_scale: Numeric = 1.0
) -> Translated:
    if is_number(scale, 1) and is_number(input_scale, 1) and isinstance(alpha, int | float):
        return op.Elu(x, alpha=float(alpha))
    below = (op.Exp(x * cast(input_scale, call.dtype)) - 1) * cast(alpha, call.dtype)
    return op.Where(x > 0, x, below) * cast(scale, call.dtype)


@translates("aten.selu.default")
def selu(call: Call, x: Tensor) -> Translated:
    return op.Selu(x)


@translates("aten.celu.default")
def celu(call: Call, x: Tensor, alpha: float | Number = 1.0) -> Translated:
    if not isinstance(alpha, Number):
        return op.Celu(x, alpha=float(alpha))
    width = cast(alpha, call.dtype)
    below = (op.Exp(x / width) - 1) * width
    return op.Where(x > 0, x, below)


@translates("aten.hardtanh.default")
def hardtanh(call: Call, x: Tensor, min_val: Numeric = -1, max_val: Numeric = 1) -> Translated:
    return _without_slope_at(
        op.Clip(x, cast(min_val, call.dtype), cast(max_val, call.dtype)), x, min_val, max_val
    )


def _without_slope_at(result: Tensor, x: Tensor, low: Numeric, high: Numeric) -> Tensor:
    """A clipped value whose gradient is 0 at the very bounds too, as in torch; that of `clamp` is 1 there."""
    if not is_training():
        return result
    dtype = dtype_of(x)
    is_outside = (x <= cast(low, dtype)) | (x >= cast(high, dtype))
    return constant_where(is_outside, result)


@translates("aten.hardsigmoid.default")
def hardsigmoid(call: Call, x: Tensor) -> Translated:
    return op.HardSigmoid(x, alpha=1 / 6, beta=0.5)


@translates("aten.hardswish.default")
def hardswish(call: Call, x: Tensor) -> Translated:
    if call.dtype is not DType.DOUBLE:
        return op.HardSwish(x)
    # ONNX Runtime has what HardSwish consists of for single precision only.
    factor = op.Min(op.Max(x + 3, 0), 6)
    return x * factor / 6


@translates("aten.softplus.default")
def softplus(call: Call, x: Tensor, beta: Numeric = 1, threshold: Numeric = 20) -> Translated:
    if is_number(beta, 1) and isinstance(threshold, int | float) and threshold >= 20:
        return op.Softplus(x)
    scaled = x * cast(beta, call.dtype)
    smooth = op.Softplus(scaled) / cast(beta, call.dtype)
    return op.Where(scaled > cast(threshold, call.dtype), x, smooth)


@translates(
    "aten.softmax.int", "aten._softmax.default", "aten._safe_softmax.default", "aten.special_softmax.int"
)
def softmax(call: Call, x: Tensor, dim: int, dtype: torch.dtype | bool | None = None) -> Translated:
    x = cast(x, call.dtype)
    if rank_of(x) == 0:
        return op.Div(x, x)
    result = op.Softmax(x, axis=axis_of(dim, rank_of(x)))
    if call.overload != "aten._safe_softmax.default":
        return result
    # A row of minus infinities has no softmax; here it is zero.
    lowest = op.ReduceMax(x, np.array([dim]), keepdims=1)
    return op.Where(op.Equal(lowest, cast(-np.inf, call.dtype)), 0, result)


@translates("aten.log_softmax.int", "aten._log_softmax.default", "aten.special_log_softmax.int")
def log_softmax(call: Call, x: Tensor, dim: int, dtype: torch.dtype | bool | None = None) -> Translated:
    x = cast(x, call.dtype)
    if rank_of(x) == 0:
        return op.Sub(x, x)
    return op.LogSoftmax(x, axis=axis_of(dim, rank_of(x)))


@translates("aten.glu.default")
def glu(call: Call, x: Tensor, dim: int = -1) -> Translated:
    a, b = several(op.Split, x, outputs=2, axis=axis_of(dim, rank_of(x)), num_outputs=2)
    return a * op.Sigmoid(b)


@translates("aten.prelu.default", "aten._prelu_kernel.default")
def prelu(call: Call, x: Tensor, weight: Tensor) -> Translated:
    rank = rank_of(x)
    if rank_of(weight) == 1 and rank > 2:
        weight = op.Reshape(weight, [-1] + [1] * (rank - 2))
    if rank_of(weight) > rank:
        weight = op.Reshape(weight, np.ones(rank, np.int64))
    return op.PRelu(x, weight)
