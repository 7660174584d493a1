"""Bessel and Airy functions, by polynomials near zero and by damped waves far from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import approximations as near
from onnxsmith.algorithms.special.double import INFINITY, NAN, PI, horner, number, on_interval, squared, where

Function: TypeAlias = Callable[[Tensor], Tensor]

#: Where the polynomials near zero end.
SWITCH = 8.0


def _inverse_of_far(x: Tensor) -> Tensor:
    return op.Reciprocal(op.Max(x, number(SWITCH)))


# -- modified: I and K ---------------------------------------------------------------------------------


@algorithm(has_gradient=True)
def scaled_i0(x: Tensor) -> Tensor:
    """exp(-|x|) I0(x)."""
    size = op.Abs(x)
    inverse = op.Reciprocal(size)
    close = on_interval(near.I0_NEAR, size, 0.0, SWITCH)
    far = op.Mul(op.Sqrt(inverse), on_interval(near.I0_FAR, inverse, 0.0, 1 / SWITCH))
    return op.Where(op.LessOrEqual(size, number(SWITCH)), close, far)


@algorithm(has_gradient=True)
def scaled_i1(x: Tensor) -> Tensor:
    """exp(-|x|) I1(x)."""
    size = op.Abs(x)
    inverse = op.Reciprocal(size)
    # Not by the size and the sign, which have no slope at zero.
    close = op.Mul(x, on_interval(near.I1_NEAR, size, 0.0, SWITCH))
    far = op.Mul(op.Sqrt(inverse), on_interval(near.I1_FAR, inverse, 0.0, 1 / SWITCH))
    return op.Where(op.LessOrEqual(size, number(SWITCH)), close, op.Mul(op.Sign(x), far))


@algorithm(has_gradient=True)
def i0(x: Tensor) -> Tensor:
    return op.Mul(op.Exp(op.Abs(x)), scaled_i0(x))


@algorithm(has_gradient=True)
def i1(x: Tensor) -> Tensor:
    return op.Mul(op.Exp(op.Abs(x)), scaled_i1(x))


def _k0_near(x: Tensor) -> Tensor:
    return op.Sub(
        on_interval(near.K0_NEAR, squared(x), 0.0, 4.0),
        op.Mul(op.Log(op.Mul(number(0.5), x)), i0(x)),
    )


def _k1_near(x: Tensor) -> Tensor:
    return op.Add(
        op.Div(on_interval(near.K1_NEAR, squared(x), 0.0, 4.0), x),
        op.Mul(op.Log(op.Mul(number(0.5), x)), i1(x)),
    )


def _k(name: str, close: Function, coefficients: Sequence[float], is_scaled: bool) -> Function:
    """K0 or K1, perhaps times exp(x)."""

    @algorithm(name=name)
    def function(x: Tensor) -> Tensor:
        inverse = op.Reciprocal(x)
        far = op.Mul(op.Sqrt(inverse), on_interval(coefficients, inverse, 0.0, 0.5))
        nearby = close(op.Min(x, number(2.0)))
        if is_scaled:
            nearby = op.Mul(nearby, op.Exp(x))
        else:
            far = op.Mul(far, op.Exp(op.Neg(x)))
        result = op.Where(op.LessOrEqual(x, number(2.0)), nearby, far)
        result = where(op.Equal(x, number(0.0)), INFINITY, result)
        return where(op.Less(x, number(0.0)), NAN, result)

    return function


k0, k1 = _k("k0", _k0_near, near.K0_FAR, False), _k("k1", _k1_near, near.K1_FAR, False)
scaled_k0 = _k("scaled_k0", _k0_near, near.K0_FAR, True)
scaled_k1 = _k("scaled_k1", _k1_near, near.K1_FAR, True)


# -- of the first and second kind: J and Y -------------------------------------------------------------


def _wave(order: int, x: Tensor, is_second: bool) -> Tensor:
    """J or Y for x >= 8."""
    in_phase, out_of_phase = (near.P0_FAR, near.Q0_FAR) if order == 0 else (near.P1_FAR, near.Q1_FAR)
    inverse = _inverse_of_far(x)
    z = squared(inverse)
    p = on_interval(in_phase, z, 0.0, 1 / 64)
    q = op.Mul(inverse, on_interval(out_of_phase, z, 0.0, 1 / 64))
    angle = op.Sub(x, number((2 * order + 1) * PI / 4))
    sine, cosine = op.Sin(angle), op.Cos(angle)
    amplitude = op.Sqrt(op.Mul(number(2 / PI), inverse))
    if is_second:
        return op.Mul(amplitude, op.Add(op.Mul(p, sine), op.Mul(q, cosine)))
    return op.Mul(amplitude, op.Sub(op.Mul(p, cosine), op.Mul(q, sine)))


def _chosen(x: Tensor, close: Tensor, far: Tensor) -> Tensor:
    return op.Where(op.LessOrEqual(x, number(SWITCH)), close, far)


@algorithm(has_gradient=True)
def j0(x: Tensor) -> Tensor:
    size = op.Abs(x)
    return _chosen(size, on_interval(near.J0_NEAR, squared(x), 0.0, 64.0), _wave(0, size, False))


@algorithm
def j1(x: Tensor) -> Tensor:
    size = op.Abs(x)
    close = op.Mul(size, on_interval(near.J1_NEAR, squared(x), 0.0, 64.0))
    return op.Mul(op.Sign(x), _chosen(size, close, _wave(1, size, False)))


@algorithm(has_gradient=True)
def y0(x: Tensor) -> Tensor:
    logarithm = op.Mul(number(2 / PI), op.Log(x))
    close = op.Add(on_interval(near.Y0_NEAR, squared(x), 0.0, 64.0), op.Mul(logarithm, j0(x)))
    return _on_positive(x, _chosen(x, close, _wave(0, x, True)))


@algorithm
def y1(x: Tensor) -> Tensor:
    logarithm = op.Sub(op.Mul(op.Log(x), j1(x)), op.Reciprocal(x))
    close = op.Add(
        op.Mul(x, on_interval(near.Y1_NEAR, squared(x), 0.0, 64.0)), op.Mul(number(2 / PI), logarithm)
    )
    return _on_positive(x, _chosen(x, close, _wave(1, x, True)))


def _on_positive(x: Tensor, value: Tensor) -> Tensor:
    """Minus infinity at zero, and nothing below."""
    value = where(op.Equal(x, number(0.0)), -INFINITY, value)
    return where(op.Less(x, number(0.0)), NAN, value)


@algorithm
def spherical_j0(x: Tensor) -> Tensor:
    series = [(-1) ** k / float(np.prod(np.arange(1.0, 2 * k + 2))) for k in range(9)]
    close = horner(series[::-1], squared(x))
    far = op.Div(op.Sin(x), x)
    result = op.Where(op.Less(op.Abs(x), number(0.5)), close, far)
    return where(op.IsInf(x), 0.0, result)


# -- Airy ----------------------------------------------------------------------------------------------

#: 2/3 · 4^(3/2): the middle part ends where |x| is 4.
ZETA_OF_4 = 16 / 3


@algorithm
def airy(x: Tensor) -> Tensor:
    size = op.Max(op.Abs(x), number(4.0))
    zeta = op.Mul(op.Mul(size, op.Sqrt(size)), number(2 / 3))
    inverse = op.Reciprocal(zeta)
    amplitude = op.Div(number(1 / float(np.sqrt(PI))), op.Sqrt(op.Sqrt(size)))
    decay = op.Mul(on_interval(near.AIRY_FAR, inverse, 0.0, 1 / ZETA_OF_4), op.Exp(op.Neg(zeta)))
    square = squared(inverse)
    angle = op.Add(zeta, number(PI / 4))
    sine = op.Mul(on_interval(near.AIRY_SINE, square, 0.0, 1 / ZETA_OF_4**2), op.Sin(angle))
    cosine = op.Mul(
        op.Mul(inverse, on_interval(near.AIRY_COSINE, square, 0.0, 1 / ZETA_OF_4**2)), op.Cos(angle)
    )
    right = op.Mul(amplitude, op.Mul(number(0.5), decay))
    left = op.Mul(amplitude, op.Add(sine, cosine))
    middle = on_interval(near.AIRY_NEAR, x, -4.0, 4.0)
    result = op.Where(op.Less(x, number(-4.0)), left, op.Where(op.Greater(x, number(4.0)), right, middle))
    result = where(op.Greater(x, number(103.892)), 0.0, result)  # torch's end, below the smallest double
    return where(op.IsInf(x), NAN, result)
