"""Activation functions. At kinks the derivative is the one that torch takes, which is mostly that of the left side."""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.operators import op
from onnxsmith.grad.scaling import chosen
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.grad.table import Unary, enter_unary, rule

#: The cotangent of an argument x, of the step, the cotangent g of the result, x and the result y.
_UNARY: dict[str, Unary] = {
    "Relu": lambda step, g, x, y: chosen(y > 0.0, g),
    "LeakyRelu": lambda step, g, x, y: op.Where(x > 0.0, g, g * step.number("alpha")),
    "Elu": lambda step, g, x, y: op.Where(x > 0.0, g, g * (y + step.number("alpha"))),
    "ThresholdedRelu": lambda step, g, x, y: chosen(x > step.number("alpha"), g),
    "HardSigmoid": lambda step, g, x, y: chosen(op.And(y > 0.0, y < 1.0), g * step.number("alpha")),
    "Sigmoid": lambda step, g, x, y: g * (y * (1.0 - y)),
    "Softplus": lambda step, g, x, y: g * op.Sigmoid(x),
}
enter_unary(_UNARY)


@rule("PRelu", broadcasts=True)
def parametric_relu(step: Step, g: Tensor) -> Cotangents:
    x, slope = step.input(0), step.input(1)
    is_positive = x > 0.0
    return lambda: op.Where(is_positive, g, g * slope), lambda: op.Where(is_positive, 0.0, g * x)


@rule("Selu")
def scaled_exponential_linear(step: Step, g: Tensor) -> Cotangents:
    alpha, gamma = step.number("alpha"), step.number("gamma")
    return (op.Where(step.input() > 0.0, g * gamma, g * (step.output() + alpha * gamma)),)


@rule("Celu")
def continuous_exponential_linear(step: Step, g: Tensor) -> Cotangents:
    alpha = step.number("alpha")
    return (op.Where(step.input() > 0.0, g, g * (step.output() / alpha + 1.0)),)


@rule("HardSwish")
def hard_swish(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    inner = op.Where(x < 3.0, g * (x / 3.0 + 0.5), g)
    return (chosen(x > -3.0, inner),)


@rule("Shrink")
def shrink(step: Step, g: Tensor) -> Cotangents:
    x, bound = step.input(), step.number("lambd")
    return (chosen(op.Or(x < -bound, x > bound), g),)


@rule("Softsign")
def softsign(step: Step, g: Tensor) -> Cotangents:
    spread = op.Abs(step.input()) + 1.0
    return (g / (spread * spread),)


@rule("Swish")
def swish(step: Step, g: Tensor) -> Cotangents:
    alpha = step.number("alpha", 1.0)
    s = op.Sigmoid(step.input() * alpha)
    y = step.output()
    return (g * (s + y * (1.0 - s) * alpha),)


@rule("Mish")
def mish(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    t = op.Tanh(op.Softplus(x))
    return (g * (t + x * op.Sigmoid(x) * (1.0 - t * t)),)


@rule("Gelu")
def gelu(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    if step.text("approximate", "none") == "tanh":
        root = math.sqrt(2.0 / math.pi)
        t = op.Tanh((x + x * x * x * 0.044715) * root)
        inner = (x * x * (3 * 0.044715) + 1.0) * root
        return (g * ((t + 1.0) * 0.5 + x * (1.0 - t * t) * inner * 0.5),)
    below = (op.Erf(x * math.sqrt(0.5)) + 1.0) * 0.5
    density = op.Exp(x * x * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))
    return (g * (below + x * density),)


@rule("Softmax")
def softmax(step: Step, g: Tensor) -> Cotangents:
    y, axis = step.output(), np.array([step.integer("axis", -1)])
    if step.is_masked:  # a row that is left out may be of -inf alone, and is not a number then
        y = op.Where(op.IsNaN(y), 0.0, y)
    weighted = g * y
    return (weighted - y * op.ReduceSum(weighted, axis, keepdims=1),)


@rule("LogSoftmax")
def logarithm_of_softmax(step: Step, g: Tensor) -> Cotangents:
    axis = np.array([step.integer("axis", -1)])
    return (g - op.Exp(step.output()) * op.ReduceSum(g, axis, keepdims=1),)


@rule("Dropout", outputs=2)
def dropout(step: Step, g: Tensor, *_: Tensor | None) -> Cotangents:
    training = step.content(2)
    if not step.has(2) or (training is not None and not training.item()):
        return (g,)
    # What is left is scaled by the same number everywhere; what was dropped is zero, and so is what was zero before.
    ratio = step.optional(1)
    kept = 1.0 - (op.Cast(ratio, to=g.dtype) if ratio is not None else 0.5)
    dropped = chosen(step.output(1), g / kept)
    return (op.Where(step.input(2), dropped, g),)
