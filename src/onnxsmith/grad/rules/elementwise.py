"""Functions of one number, element by element: powers, exponentials, circular and hyperbolic functions, casts."""

from __future__ import annotations

import math

from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.operators import op
from onnxsmith.grad.scaling import divided, scaled
from onnxsmith.grad.steps import Cotangents, Step, dtype_of
from onnxsmith.grad.table import rule


@rule("Identity")
def identity(step: Step, g: Tensor) -> Cotangents:
    return (g,)


@rule("Neg")
def negation(step: Step, g: Tensor) -> Cotangents:
    return (-g,)


@rule("Abs")
def absolute(step: Step, g: Tensor) -> Cotangents:
    return (g * op.Sign(step.input()),)  # 0 at 0, as torch has it


@rule(
    *("Ceil", "Floor", "Round", "Sign", "Hardmax", "Shape", "Size", "IsNaN", "IsInf", "Not"),
    *("ArgMax", "ArgMin", "NonZero", "EyeLike", "RandomNormalLike", "RandomUniformLike", "Bernoulli"),
    *(
        "Equal",
        "Less",
        "LessOrEqual",
        "Greater",
        "GreaterOrEqual",
        "OneHot",
        "Multinomial",
        "ConstantOfShape",
    ),
)
def constant_in_steps(step: Step, *g: Tensor | None) -> Cotangents:
    """Functions that change in steps, or not at all: the derivative is zero wherever there is one."""
    return ()


@rule("Reciprocal")
def reciprocal(step: Step, g: Tensor) -> Cotangents:
    y = step.output()
    return (scaled(step, g, -(y * y)),)


@rule("Sqrt")
def square_root(step: Step, g: Tensor) -> Cotangents:
    return (divided(step, g, step.output() * 2.0),)


@rule("Exp")
def exponential(step: Step, g: Tensor) -> Cotangents:
    return (scaled(step, g, step.output()),)


@rule("Log")
def logarithm(step: Step, g: Tensor) -> Cotangents:
    return (divided(step, g, step.input()),)


@rule("Sin")
def sine(step: Step, g: Tensor) -> Cotangents:
    return (g * op.Cos(step.input()),)


@rule("Cos")
def cosine(step: Step, g: Tensor) -> Cotangents:
    return (-(g * op.Sin(step.input())),)


@rule("Tan")
def tangent(step: Step, g: Tensor) -> Cotangents:
    y = step.output()
    return (scaled(step, g, y * y + 1.0),)


@rule("Asin")
def arc_sine(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    return (divided(step, g, op.Sqrt(1.0 - x * x)),)


@rule("Acos")
def arc_cosine(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    return (-divided(step, g, op.Sqrt(1.0 - x * x)),)


@rule("Atan")
def arc_tangent(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    return (g / (x * x + 1.0),)


@rule("Sinh")
def hyperbolic_sine(step: Step, g: Tensor) -> Cotangents:
    return (scaled(step, g, op.Cosh(step.input())),)


@rule("Cosh")
def hyperbolic_cosine(step: Step, g: Tensor) -> Cotangents:
    return (scaled(step, g, op.Sinh(step.input())),)


@rule("Tanh")
def hyperbolic_tangent(step: Step, g: Tensor) -> Cotangents:
    y = step.output()
    return (g * (1.0 - y * y),)


@rule("Asinh")
def inverse_hyperbolic_sine(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    return (g / op.Sqrt(x * x + 1.0),)


@rule("Acosh")
def inverse_hyperbolic_cosine(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    return (divided(step, g, op.Sqrt(x * x - 1.0)),)


@rule("Atanh")
def inverse_hyperbolic_tangent(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    return (divided(step, g, 1.0 - x * x),)


@rule("Erf")
def error_function(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    return (g * (op.Exp(-(x * x)) * (2.0 / math.sqrt(math.pi))),)


@rule("Cast", "CastLike")
def cast(step: Step, g: Tensor) -> Cotangents:
    dtype = dtype_of(step.input())
    assert dtype is not None  # what depends on a source has an element type
    return (g if dtype_of(g) is dtype else op.Cast(g, to=dtype),)
