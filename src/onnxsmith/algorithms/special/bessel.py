"""Bessel and Airy functions, by polynomials near zero and by damped waves far from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import approximations as near
from onnxsmith.algorithms.special.double import INFINITY, NAN, PI, horner, on_interval, squared, where

Function: TypeAlias = Callable[[Tensor], Tensor]

#: Where the polynomials near zero end.
SWITCH = 8.0


def _inverse_of_far(x: Tensor) -> Tensor:
    return op.Reciprocal(op.Max(x, SWITCH))


# -- modified: I and K ---------------------------------------------------------------------------------


@algorithm(has_gradient=True)
def scaled_i0(x: Tensor) -> Tensor:
    """exp(-|x|) I0(x)."""
    size = abs(x)
    inverse = op.Reciprocal(size)
    close = on_interval(near.I0_NEAR, size, 0.0, SWITCH)
    far = op.Sqrt(inverse) * on_interval(near.I0_FAR, inverse, 0.0, 1 / SWITCH)
    return op.Where(size <= SWITCH, close, far)


@algorithm(has_gradient=True)
def scaled_i1(x: Tensor) -> Tensor:
    """exp(-|x|) I1(x)."""
    size = abs(x)
    inverse = op.Reciprocal(size)
    # Not by the size and the sign, which have no slope at zero.
    close = x * on_interval(near.I1_NEAR, size, 0.0, SWITCH)
    far = op.Sqrt(inverse) * on_interval(near.I1_FAR, inverse, 0.0, 1 / SWITCH)
    return op.Where(size <= SWITCH, close, op.Sign(x) * far)


@algorithm(has_gradient=True)
def i0(x: Tensor) -> Tensor:
    return op.Exp(abs(x)) * scaled_i0(x)


@algorithm(has_gradient=True)
def i1(x: Tensor) -> Tensor:
    return op.Exp(abs(x)) * scaled_i1(x)


def _k0_near(x: Tensor) -> Tensor:
    return on_interval(near.K0_NEAR, squared(x), 0.0, 4.0) - op.Log(0.5 * x) * i0(x)


def _k1_near(x: Tensor) -> Tensor:
    return on_interval(near.K1_NEAR, squared(x), 0.0, 4.0) / x + op.Log(0.5 * x) * i1(x)


def _k(name: str, close: Function, coefficients: Sequence[float], is_scaled: bool) -> Function:
    """K0 or K1, perhaps times exp(x)."""

    @algorithm(name=name)
    def function(x: Tensor) -> Tensor:
        inverse = op.Reciprocal(x)
        far = op.Sqrt(inverse) * on_interval(coefficients, inverse, 0.0, 0.5)
        nearby = close(op.Min(x, 2.0))
        if is_scaled:
            nearby = nearby * op.Exp(x)
        else:
            far = far * op.Exp(-x)
        result = op.Where(x <= 2.0, nearby, far)
        result = where(op.Equal(x, 0.0), INFINITY, result)
        return where(x < 0.0, NAN, result)

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
    q = inverse * on_interval(out_of_phase, z, 0.0, 1 / 64)
    angle = x - ((2 * order + 1) * PI / 4)
    sine, cosine = op.Sin(angle), op.Cos(angle)
    amplitude = op.Sqrt((2 / PI) * inverse)
    if is_second:
        return amplitude * (p * sine + q * cosine)
    return amplitude * (p * cosine - q * sine)


def _chosen(x: Tensor, close: Tensor, far: Tensor) -> Tensor:
    return op.Where(x <= SWITCH, close, far)


@algorithm(has_gradient=True)
def j0(x: Tensor) -> Tensor:
    size = abs(x)
    return _chosen(size, on_interval(near.J0_NEAR, squared(x), 0.0, 64.0), _wave(0, size, False))


@algorithm
def j1(x: Tensor) -> Tensor:
    size = abs(x)
    close = size * on_interval(near.J1_NEAR, squared(x), 0.0, 64.0)
    return op.Sign(x) * _chosen(size, close, _wave(1, size, False))


@algorithm(has_gradient=True)
def y0(x: Tensor) -> Tensor:
    logarithm = (2 / PI) * op.Log(x)
    close = on_interval(near.Y0_NEAR, squared(x), 0.0, 64.0) + logarithm * j0(x)
    return _on_positive(x, _chosen(x, close, _wave(0, x, True)))


@algorithm
def y1(x: Tensor) -> Tensor:
    logarithm = op.Log(x) * j1(x) - op.Reciprocal(x)
    close = x * on_interval(near.Y1_NEAR, squared(x), 0.0, 64.0) + (2 / PI) * logarithm
    return _on_positive(x, _chosen(x, close, _wave(1, x, True)))


def _on_positive(x: Tensor, value: Tensor) -> Tensor:
    """Minus infinity at zero, and nothing below."""
    value = where(op.Equal(x, 0.0), -INFINITY, value)
    return where(x < 0.0, NAN, value)


@algorithm
def spherical_j0(x: Tensor) -> Tensor:
    series = [(-1) ** k / float(np.prod(np.arange(1.0, 2 * k + 2))) for k in range(9)]
    close = horner(series[::-1], squared(x))
    far = op.Sin(x) / x
    result = op.Where(abs(x) < 0.5, close, far)
    return where(op.IsInf(x), 0.0, result)


# -- Airy ----------------------------------------------------------------------------------------------

#: 2/3 · 4^(3/2): the middle part ends where |x| is 4.
ZETA_OF_4 = 16 / 3


@algorithm
def airy(x: Tensor) -> Tensor:
    size = op.Max(abs(x), 4.0)
    zeta = size * op.Sqrt(size) * (2 / 3)
    inverse = op.Reciprocal(zeta)
    amplitude = (1 / float(np.sqrt(PI))) / op.Sqrt(op.Sqrt(size))
    decay = on_interval(near.AIRY_FAR, inverse, 0.0, 1 / ZETA_OF_4) * op.Exp(-zeta)
    square = squared(inverse)
    angle = zeta + (PI / 4)
    sine = on_interval(near.AIRY_SINE, square, 0.0, 1 / ZETA_OF_4**2) * op.Sin(angle)
    cosine = inverse * on_interval(near.AIRY_COSINE, square, 0.0, 1 / ZETA_OF_4**2) * op.Cos(angle)
    right = amplitude * (0.5 * decay)
    left = amplitude * (sine + cosine)
    middle = on_interval(near.AIRY_NEAR, x, -4.0, 4.0)
    result = op.Where(x < -4.0, left, op.Where(x > 4.0, right, middle))
    result = where(x > 103.892, 0.0, result)  # torch's end, below the smallest double
    return where(op.IsInf(x), NAN, result)
