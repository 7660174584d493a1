"""Logarithms to other bases, of sums of exponentials, and times their number, in double precision.

They choose between formulas by equality, so that a slope through their nodes is not that of the function: the rules of
gradients know them by name.
"""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.double import log1p, number, zero
from onnxsmith.algorithms.values import like

#: 1 / log(2) and 1 / log(10), as doubles and what is missing from them.
_BITS = (1.4426950408889634, 2.0355273740931033e-17)
_DIGITS = (0.4342944819032518, 1.098319650216765e-17)


@algorithm(has_gradient=True)
def log2(x: Tensor) -> Tensor:
    return _logarithm(x, 2, *_BITS)


@algorithm(has_gradient=True)
def log10(x: Tensor) -> Tensor:
    return _logarithm(x, 10, *_DIGITS)


def _logarithm(x: Tensor, base: float, high: float, low: float) -> Tensor:
    """One that is whole where the number is a power of the base; 1 / log(base) is given in two parts."""
    plain = op.Log(x)
    # What 1 / log(base) is more than its double counts, too.
    found = plain * high + plain * low
    whole = op.Round(found)
    return op.Where(op.Equal(op.Pow(number(base), whole), x), whole, found)


@algorithm(has_gradient=True)
def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    """log(exp(x) + exp(y)), without overflow; equal infinities stay."""
    larger = op.Max(x, y)
    distance = -abs(x - y)
    found = larger + log1p(op.Exp(distance))
    return op.Where(op.Equal(x, y), x + np.log(2.0), found)


@algorithm(has_gradient=True)
def logaddexp2(x: Tensor, y: Tensor) -> Tensor:
    """The same to base 2."""
    larger = op.Max(x, y)
    distance = -abs(x - y)
    more = log1p(op.Pow(number(2), distance)) * (1 / np.log(2.0))
    return op.Where(op.Equal(x, y), x + 1, larger + more)


@algorithm(has_gradient=True)
def entropy(x: Tensor) -> Tensor:
    """-x log(x), of any float type: 0 at 0, and minus infinity below."""
    inside = -(x * op.Log(x))
    beside = op.Where(x < zero(x), like(-np.inf, x), inside)
    return op.Where(op.Equal(x, zero(x)), zero(x), beside)


@algorithm(has_gradient=True)
def xlogy(x: Tensor, y: Tensor) -> Tensor:
    """x log(y), of any float type: 0 where x is 0, unless y is no number."""
    return _product(x, y, op.Log(y))


@algorithm(has_gradient=True)
def xlog1py(x: Tensor, y: Tensor) -> Tensor:
    """x log(1 + y), likewise."""
    return _product(x, y, log1p(y))


def _product(x: Tensor, y: Tensor, logarithm: Tensor) -> Tensor:
    found = op.Where(op.Equal(x, zero(x)), zero(x), x * logarithm)
    return op.Where(op.IsNaN(y), like(np.nan, x), found)
