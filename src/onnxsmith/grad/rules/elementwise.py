"""Functions of one number, element by element: powers, exponentials, circular and hyperbolic functions, casts."""

from __future__ import annotations

import math

from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.operators import op
from onnxsmith.grad.scaling import divided, scaled
from onnxsmith.grad.steps import Cotangents, Step, dtype_of
from onnxsmith.grad.table import Unary, enter_unary, rule

#: The cotangent of an argument x, of the step, the cotangent g of the result, x and the result y.
_UNARY: dict[str, Unary] = {
    "Neg": lambda step, g, x, y: -g,
    "Abs": lambda step, g, x, y: g * op.Sign(x),  # 0 at 0, as torch has it
    "Reciprocal": lambda step, g, x, y: scaled(step, g, -(y * y)),
    "Sqrt": lambda step, g, x, y: divided(step, g, y * 2.0),
    "Exp": lambda step, g, x, y: scaled(step, g, y),
    "Log": lambda step, g, x, y: divided(step, g, x),
    "Sin": lambda step, g, x, y: g * op.Cos(x),
    "Cos": lambda step, g, x, y: -(g * op.Sin(x)),
    "Tan": lambda step, g, x, y: scaled(step, g, y * y + 1.0),
    "Asin": lambda step, g, x, y: divided(step, g, op.Sqrt(1.0 - x * x)),
    "Acos": lambda step, g, x, y: -divided(step, g, op.Sqrt(1.0 - x * x)),
    "Atan": lambda step, g, x, y: g / (x * x + 1.0),
    "Sinh": lambda step, g, x, y: scaled(step, g, op.Cosh(x)),
    "Cosh": lambda step, g, x, y: scaled(step, g, op.Sinh(x)),
    "Tanh": lambda step, g, x, y: g * (1.0 - y * y),
    "Asinh": lambda step, g, x, y: g / op.Sqrt(x * x + 1.0),
    "Acosh": lambda step, g, x, y: divided(step, g, op.Sqrt(x * x - 1.0)),
    "Atanh": lambda step, g, x, y: divided(step, g, 1.0 - x * x),
    "Erf": lambda step, g, x, y: g * (op.Exp(-(x * x)) * (2.0 / math.sqrt(math.pi))),
}
enter_unary(_UNARY)


@rule("Identity")
def identity(step: Step, g: Tensor) -> Cotangents:
    """Of sequences, too."""
    return (g,)


@rule(
    *("Ceil", "Floor", "Round", "Sign", "Hardmax", "Shape", "Size", "IsNaN", "IsInf", "Not", "OneHot"),
    *("ArgMax", "ArgMin", "NonZero", "EyeLike", "RandomNormalLike", "RandomUniformLike", "Bernoulli"),
    *("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Multinomial", "ConstantOfShape"),
)
def constant_in_steps(step: Step, *g: Tensor | None) -> Cotangents:
    """Functions that change in steps, or not at all: the derivative is zero wherever there is one."""
    return ()


@rule("Cast", "CastLike")
def cast(step: Step, g: Tensor) -> Cotangents:
    dtype = dtype_of(step.input())
    assert dtype is not None  # what depends on a source has an element type
    return (g if dtype_of(g) is dtype else op.Cast(g, to=dtype),)
