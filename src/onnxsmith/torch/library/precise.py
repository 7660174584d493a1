# pyright: basic
"""Functions in double precision, from operators that ONNX Runtime's CPU has for doubles.

What is here takes and gives DOUBLE tensors; translations cast before, and results are cast to torch's element type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnxsmith.torch.library import approximations as near
from onnxsmith.torch.library.operators import op

PI = float(np.pi)
INFINITY = float("inf")
NAN = float("nan")


def number(value: float) -> Any:
    """A number that double precision holds."""
    return np.float64(value)


def horner(coefficients: Sequence[float], t: Any) -> Any:
    """A polynomial of `t`, highest power first."""
    result: Any = number(coefficients[0])
    for each in coefficients[1:]:
        result = op.Add(op.Mul(t, result), number(each))
    return result


def on_interval(coefficients: Sequence[float], x: Any, low: float, high: float) -> Any:
    """A polynomial that approximates a function for x between two numbers."""
    scale = 2.0 / (high - low)
    return horner(coefficients, op.Sub(op.Mul(x, number(scale)), number(low * scale + 1.0)))


def where(condition: Any, x: Any, y: Any) -> Any:
    """One of two, either of which may be a Python number."""
    chosen = [number(each) if isinstance(each, int | float) else each for each in (x, y)]
    return op.Where(condition, *chosen)


def is_negative(x: Any) -> Any:
    """Whether the sign is minus, of a zero too."""
    return op.Or(op.Less(x, zero(x)), op.Less(op.Reciprocal(x), zero(x)))


def zero(x: Any) -> Any:
    """A zero of the element type of a tensor."""
    return np.zeros((), x.dtype.numpy)


def is_whole(x: Any) -> Any:
    """Whether a number has no fraction."""
    return op.Equal(x, op.Floor(x))


def squared(x: Any) -> Any:
    return op.Mul(x, x)


def log1p(x: Any) -> Any:
    """log(1 + x), of any float type, without losing a small x."""
    one = np.ones((), x.dtype.numpy)
    total = op.Add(x, one)
    plain = op.Log(total)
    lost = op.Div(op.Sub(x, op.Sub(total, one)), total)
    return op.Where(op.Less(op.Abs(x), np.asarray(0.5, x.dtype.numpy)), op.Add(plain, lost), plain)


def expm1(x: Any) -> Any:
    """exp(x) - 1, of any float type, without losing a small x."""
    one, half = np.ones((), x.dtype.numpy), np.asarray(0.5, x.dtype.numpy)
    t = op.Tanh(op.Mul(x, half))
    close = op.Div(op.Add(t, t), op.Sub(one, t))
    return op.Where(op.Less(op.Abs(x), half), close, op.Sub(op.Exp(x), one))


# -- circular functions --------------------------------------------------------------------------------


def atan(x: Any) -> Any:
    size = op.Abs(x)
    is_large = op.Greater(size, number(1.0))
    small = op.Where(is_large, op.Reciprocal(size), size)
    angle = op.Mul(small, on_interval(near.ATAN, squared(small), 0.0, 1.0))
    angle = op.Where(is_large, op.Sub(number(PI / 2), angle), angle)
    return op.Where(op.Less(x, number(0.0)), op.Neg(angle), angle)


def asin(x: Any) -> Any:
    rest = op.Mul(op.Sub(number(1.0), x), op.Add(number(1.0), x))
    return atan(op.Div(x, op.Sqrt(rest)))


def acos(x: Any) -> Any:
    return op.Mul(
        atan(op.Sqrt(op.Div(op.Sub(number(1.0), x), op.Add(number(1.0), x)))),
        number(2.0),
    )


def tan(x: Any) -> Any:
    return op.Div(op.Sin(x), op.Cos(x))


def sinh(x: Any) -> Any:
    grown = expm1(op.Abs(x))
    half = op.Mul(number(0.5), op.Add(grown, op.Div(grown, op.Add(grown, number(1.0)))))
    # Far out the quotient of two infinities has no value, and exp(x) / 2 is all there is.
    half = op.Where(op.Greater(op.Abs(x), number(30.0)), op.Mul(number(0.5), op.Exp(op.Abs(x))), half)
    return op.Mul(op.Sign(x), half)


def cosh(x: Any) -> Any:
    return op.Mul(number(0.5), op.Add(op.Exp(x), op.Exp(op.Neg(x))))


def asinh(x: Any) -> Any:
    size = op.Abs(x)
    square = squared(size)
    grown = op.Div(square, op.Add(number(1.0), op.Sqrt(op.Add(square, number(1.0)))))
    close = log1p(op.Add(size, grown))
    far = op.Add(op.Log(size), number(float(np.log(2.0))))
    return op.Mul(op.Sign(x), op.Where(op.Greater(size, number(1e9)), far, close))


def acosh(x: Any) -> Any:
    over = op.Sub(x, number(1.0))
    close = log1p(op.Add(over, op.Sqrt(op.Mul(over, op.Add(x, number(1.0))))))
    far = op.Add(op.Log(x), number(float(np.log(2.0))))
    value = op.Where(op.Greater(x, number(1e9)), far, close)
    return where(op.Less(x, number(1.0)), NAN, value)


def atanh(x: Any) -> Any:
    return op.Mul(number(0.5), log1p(op.Div(op.Add(x, x), op.Sub(number(1.0), x))))


# -- error functions -----------------------------------------------------------------------------------


def _erfcx_of_positive(x: Any) -> Any:
    """exp(x²) erfc(x) for x >= 0."""
    t = op.Sub(number(1.0), op.Div(number(7.5), op.Add(x, number(3.75))))
    return op.Div(horner(near.ERFCX, t), op.Add(op.Add(x, x), number(1.0)))


def erfcx(x: Any) -> Any:
    positive = _erfcx_of_positive(op.Abs(x))
    mirrored = op.Sub(op.Mul(number(2.0), op.Exp(squared(x))), positive)
    return op.Where(op.Less(x, number(0.0)), mirrored, positive)


def erfc(x: Any) -> Any:
    positive = op.Mul(op.Exp(op.Neg(squared(x))), _erfcx_of_positive(op.Abs(x)))
    return op.Where(op.Less(x, number(0.0)), op.Sub(number(2.0), positive), positive)


def erf(x: Any) -> Any:
    close = op.Mul(x, on_interval(near.ERF_NEAR, squared(x), 0.0, 1.0))
    return op.Where(op.Less(op.Abs(x), number(1.0)), close, op.Sub(number(1.0), erfc(x)))


def log_of_normal(x: Any) -> Any:
    """The logarithm of the normal distribution's probability of less than x."""
    t = op.Mul(x, number(float(np.sqrt(0.5))))
    tail = op.Log(op.Mul(number(0.5), _erfcx_of_positive(op.Abs(t))))
    below = op.Sub(tail, squared(t))
    above = log1p(op.Mul(number(-0.5), erfc(t)))
    return op.Where(op.Less(x, number(-1.0)), below, above)


def normal(x: Any) -> Any:
    """The normal distribution's probability of less than x."""
    return op.Mul(number(0.5), erfc(op.Mul(x, number(-float(np.sqrt(0.5))))))


def _inverse_factor(rest: Any) -> Any:
    """erfinv(x) / x, from 1 - x²."""
    w = op.Neg(op.Log(rest))
    root = op.Sqrt(w)
    close = on_interval(near.ERFINV_NEAR, w, 0.0, 6.25)
    far = on_interval(near.ERFINV_FAR, root, 2.5, 5.0)
    farthest = op.Mul(root, on_interval(near.ERFINV_FARTHEST, op.Reciprocal(root), 1 / 28, 1 / 5))
    beyond = op.Where(op.Less(root, number(5.0)), far, farthest)
    return op.Where(op.Less(w, number(6.25)), close, beyond)


def erfinv(x: Any) -> Any:
    return op.Mul(x, _inverse_factor(op.Mul(op.Sub(number(1.0), x), op.Add(number(1.0), x))))


def normal_quantile(p: Any) -> Any:
    """Where the normal distribution has a probability of p below."""
    rest = op.Mul(number(4.0), op.Mul(p, op.Sub(number(1.0), p)))
    centred = op.Sub(op.Add(p, p), number(1.0))
    return op.Mul(number(float(np.sqrt(2.0))), op.Mul(centred, _inverse_factor(rest)))
