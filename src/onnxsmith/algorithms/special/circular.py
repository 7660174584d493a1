"""Circular and hyperbolic functions and their inverses, in double precision."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.special import approximations as near
from onnxsmith.algorithms.special.double import NAN, PI, expm1, log1p, number, on_interval, squared, where
from onnxsmith.core.value import TensorValue


@algorithm
def atan(x: TensorValue) -> TensorValue:
    size = op.Abs(x)
    is_large = op.Greater(size, number(1.0))
    small = op.Where(is_large, op.Reciprocal(size), size)
    angle = op.Mul(small, on_interval(near.ATAN, squared(small), 0.0, 1.0))
    angle = op.Where(is_large, op.Sub(number(PI / 2), angle), angle)
    return op.Where(op.Less(x, number(0.0)), op.Neg(angle), angle)


@algorithm
def asin(x: TensorValue) -> TensorValue:
    rest = op.Mul(op.Sub(number(1.0), x), op.Add(number(1.0), x))
    return atan(op.Div(x, op.Sqrt(rest)))


@algorithm
def acos(x: TensorValue) -> TensorValue:
    return op.Mul(
        atan(op.Sqrt(op.Div(op.Sub(number(1.0), x), op.Add(number(1.0), x)))),
        number(2.0),
    )


@algorithm
def tan(x: TensorValue) -> TensorValue:
    return op.Div(op.Sin(x), op.Cos(x))


@algorithm
def sinh(x: TensorValue) -> TensorValue:
    grown = expm1(op.Abs(x))
    half = op.Mul(number(0.5), op.Add(grown, op.Div(grown, op.Add(grown, number(1.0)))))
    # Far out the quotient of two infinities has no value, and exp(x) / 2 is all there is.
    half = op.Where(op.Greater(op.Abs(x), number(30.0)), op.Mul(number(0.5), op.Exp(op.Abs(x))), half)
    return op.Mul(op.Sign(x), half)


@algorithm
def cosh(x: TensorValue) -> TensorValue:
    return op.Mul(number(0.5), op.Add(op.Exp(x), op.Exp(op.Neg(x))))


@algorithm
def asinh(x: TensorValue) -> TensorValue:
    size = op.Abs(x)
    square = squared(size)
    grown = op.Div(square, op.Add(number(1.0), op.Sqrt(op.Add(square, number(1.0)))))
    close = log1p(op.Add(size, grown))
    far = op.Add(op.Log(size), number(float(np.log(2.0))))
    return op.Mul(op.Sign(x), op.Where(op.Greater(size, number(1e9)), far, close))


@algorithm
def acosh(x: TensorValue) -> TensorValue:
    over = op.Sub(x, number(1.0))
    close = log1p(op.Add(over, op.Sqrt(op.Mul(over, op.Add(x, number(1.0))))))
    far = op.Add(op.Log(x), number(float(np.log(2.0))))
    value = op.Where(op.Greater(x, number(1e9)), far, close)
    return where(op.Less(x, number(1.0)), NAN, value)


@algorithm
def atanh(x: TensorValue) -> TensorValue:
    return op.Mul(number(0.5), log1p(op.Div(op.Add(x, x), op.Sub(number(1.0), x))))
