"""Activations that models spell out, as rules: both forms of Gelu, bounds, and the softmax of a logarithm."""

from __future__ import annotations

import functools
import math

from onnxsmith.core.tensor import Tensor
from onnxsmith.passes.fusions.operators import op
from onnxsmith.passes.rules.match import Match
from onnxsmith.passes.rules.recording import either
from onnxsmith.passes.rules.rule import Rule
from onnxsmith.types.dtypes import DType

_FLOATS = (DType.FLOAT, DType.FLOAT16, DType.BFLOAT16, DType.DOUBLE)


def _is_float(match: Match) -> bool:
    return match["x"].dtype in _FLOATS


# -- Gelu ----------------------------------------------------------------------------------------------------


def _gelu(x: Tensor) -> Tensor:
    return op.Gelu(x)


def _gelu_by_tanh(x: Tensor) -> Tensor:
    return op.Gelu(x, approximate="tanh")


def _half_product(x: Tensor, gate: Tensor) -> Tensor:
    """`x * gate / 2`, wherever the half stands."""
    return either(
        either(x * 0.5, x / 2.0) * gate,
        x * either(gate * 0.5, gate / 2.0),
        (x * gate) * 0.5,
        (x * gate) / 2.0,
    )


def gelu(x: Tensor) -> Tensor:
    """By the error function."""
    scaled = either(x * math.sqrt(0.5), x / math.sqrt(2.0))
    return _half_product(x, op.Erf(scaled) + 1.0)


def gelu_by_tanh(x: Tensor) -> Tensor:
    """By its approximation: `tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))`."""
    factor, weight = math.sqrt(2 / math.pi), 0.044715
    square = either(x * x, x**2)
    cube = either(x**3, x * square)
    term = either(cube * weight, x * (square * weight), square * (x * weight), x * (x * (x * weight)))
    growth = either(square * weight, x * (x * weight)) + 1.0
    inner = either((x + term) * factor, (x * factor) * growth, (x * growth) * factor, x * (growth * factor))
    return _half_product(x, op.Tanh(inner) + 1.0)


# -- bounds --------------------------------------------------------------------------------------------------


def relu_below(x: Tensor, high: Tensor) -> Tensor:
    """`Relu` with an upper bound."""
    return op.Clip(op.Relu(x), None, high)


def relu_above(x: Tensor, *, low: float) -> Tensor:
    """`Relu` with a lower bound besides."""
    return op.Clip(op.Relu(x), low)


def relu_between(x: Tensor, high: Tensor, *, low: float) -> Tensor:
    """`Relu` with both."""
    return op.Clip(op.Relu(x), low, high)


def _clipped_from_zero(x: Tensor, high: Tensor | None = None, *, low: float = 0.0) -> Tensor:
    return op.Clip(x, max(low, 0.0), high)


def minimum_of_maximum(x: Tensor, *, low: float, high: float) -> Tensor:
    """Two bounds, one after the other."""
    return op.Min(op.Max(x, low), high)


def _clipped(x: Tensor, *, low: float, high: float) -> Tensor:
    return op.Clip(x, low, high)


def _are_bounds(match: Match) -> bool:
    return _is_float(match) and not match["x"].is_constant and match["low"] <= match["high"]


# -- softmax -------------------------------------------------------------------------------------------------


def softmax_as_one(x: Tensor, *, axis: int) -> Tensor:
    """Softmax by way of its logarithm."""
    return op.Exp(op.LogSoftmax(x, axis=axis))


def _softmax(x: Tensor, *, axis: int) -> Tensor:
    return op.Softmax(x, axis=axis)


@functools.cache
def activations() -> tuple[Rule, ...]:
    """The rules, made when they are first needed."""
    return (
        Rule(gelu, _gelu, _is_float, "gelu"),
        Rule(gelu_by_tanh, _gelu_by_tanh, _is_float, "gelu"),
        Rule([relu_below, relu_above, relu_between], _clipped_from_zero, _is_float, "clip of relu"),
        Rule(minimum_of_maximum, _clipped, _are_bounds, "minimum of maximum"),
        Rule(softmax_as_one, _softmax, name="softmax as one"),
    )
