"""Orthogonal polynomials of a degree that is a tensor, by their recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.loops import loop
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted, dtype_of, like
from onnxsmith.types.dtypes import DType

Family: TypeAlias = Literal[
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
]
#: The polynomial of degree 1.
First: TypeAlias = Callable[[Tensor], Tensor]
#: From degrees k-1 and k to k+1: of x, k and the two.
Step: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def _double(x: Tensor) -> Tensor:
    return x + x


def _chebyshev(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    return _double(x) * last - before


def _hermite(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    return _double(x) * last - _double(k) * before


def _hermite_of_probability(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    return x * last - k * before


def _laguerre(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    factor = _double(k) + (1 - x)
    return (factor * last - k * before) / (k + 1)


def _legendre(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    factor = (_double(k) + 1) * x
    return (factor * last - k * before) / (k + 1)


#: family -> (the polynomial of degree 1, the step from degrees k-1 and k to k+1).
FAMILIES: dict[Family, tuple[First, Step]] = {
    "chebyshev_polynomial_t": (lambda x: x, _chebyshev),
    "chebyshev_polynomial_u": (_double, _chebyshev),
    "chebyshev_polynomial_v": (lambda x: _double(x) - 1, _chebyshev),
    "chebyshev_polynomial_w": (lambda x: _double(x) + 1, _chebyshev),
    "hermite_polynomial_h": (_double, _hermite),
    "hermite_polynomial_he": (lambda x: x, _hermite_of_probability),
    "laguerre_polynomial_l": (lambda x: 1 - x, _laguerre),
    "legendre_polynomial_p": (lambda x: x, _legendre),
}
#: The degree from which there is no number for a Hermite polynomial.
HERMITE_LIMITS = {DType.FLOAT: 128, DType.DOUBLE: 512}


def polynomial(family: Family, x: Tensor, n: Tensor, *, is_shifted: bool = False) -> Tensor:
    """The polynomial of degree `n` at `x`, both FLOAT or both DOUBLE; `is_shifted`: orthogonal on [0, 1]."""
    # The degree is what is left of it as an integer; no number has none.
    n = op.Where(op.IsNaN(n) | op.IsInf(n), -1, n)
    degree = converted(n, DType.INT64)
    if is_shifted:
        x = _double(x) - 1
    # All of the result's shape, so that a loop keeps it.
    x = x + n * 0
    degree = op.Expand(degree, op.Shape(x))
    result = _by_recurrence(family, x, degree)
    if family.startswith("hermite"):
        limit = np.int64(HERMITE_LIMITS[dtype_of(x)])
        result = op.Where(degree > limit, like(np.nan, x), result)
    return op.Where(degree < 0, like(0, x), result)


def _by_recurrence(family: Family, x: Tensor, degree: Tensor) -> Tensor:
    first, step = FAMILIES[family]
    constant_term = op.Expand(like(1, x), op.Shape(x))
    steps = op.ReduceMax(op.Concat(op.Reshape(degree, [-1]), np.zeros(1, np.int64), axis=0), keepdims=0)
    if family.startswith("hermite"):
        steps = op.Min(steps, np.int64(max(HERMITE_LIMITS.values())))
    start = op.Where(op.Equal(degree, 0), constant_term, first(x))

    def body(i: Tensor, keep: Tensor, before: Tensor, last: Tensor) -> tuple[Tensor, ...]:
        k = i + 1
        following = step(x, converted(k, dtype_of(x)), before, last)
        is_wanted = k < degree
        return keep, op.Where(is_wanted, last, before), op.Where(is_wanted, following, last)

    return loop(steps - 1, [constant_term, start], body)[1]
