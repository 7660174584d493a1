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
    return op.Add(x, x)


def _chebyshev(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    return op.Sub(op.Mul(_double(x), last), before)


def _hermite(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    return op.Sub(op.Mul(_double(x), last), op.Mul(_double(k), before))


def _hermite_of_probability(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    return op.Sub(op.Mul(x, last), op.Mul(k, before))


def _laguerre(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    factor = op.Add(_double(k), op.Sub(like(1, x), x))
    return op.Div(op.Sub(op.Mul(factor, last), op.Mul(k, before)), op.Add(k, like(1, x)))


def _legendre(x: Tensor, k: Tensor, before: Tensor, last: Tensor) -> Tensor:
    factor = op.Mul(op.Add(_double(k), like(1, x)), x)
    return op.Div(op.Sub(op.Mul(factor, last), op.Mul(k, before)), op.Add(k, like(1, x)))


#: family -> (the polynomial of degree 1, the step from degrees k-1 and k to k+1).
FAMILIES: dict[Family, tuple[First, Step]] = {
    "chebyshev_polynomial_t": (lambda x: x, _chebyshev),
    "chebyshev_polynomial_u": (_double, _chebyshev),
    "chebyshev_polynomial_v": (lambda x: op.Sub(_double(x), like(1, x)), _chebyshev),
    "chebyshev_polynomial_w": (lambda x: op.Add(_double(x), like(1, x)), _chebyshev),
    "hermite_polynomial_h": (_double, _hermite),
    "hermite_polynomial_he": (lambda x: x, _hermite_of_probability),
    "laguerre_polynomial_l": (lambda x: op.Sub(like(1, x), x), _laguerre),
    "legendre_polynomial_p": (lambda x: x, _legendre),
}
#: The degree from which there is no number for a Hermite polynomial.
HERMITE_LIMITS = {DType.FLOAT: 128, DType.DOUBLE: 512}


def polynomial(family: Family, x: Tensor, n: Tensor, *, is_shifted: bool = False) -> Tensor:
    """The polynomial of degree `n` at `x`, both FLOAT or both DOUBLE; `is_shifted`: orthogonal on [0, 1]."""
    # The degree is what is left of it as an integer; no number has none.
    n = op.Where(op.Or(op.IsNaN(n), op.IsInf(n)), like(-1, n), n)
    degree = converted(n, DType.INT64)
    if is_shifted:
        x = op.Sub(_double(x), like(1, x))
    # All of the result's shape, so that a loop keeps it.
    x = op.Add(x, op.Mul(n, like(0, x)))
    degree = op.Expand(degree, op.Shape(x))
    result = _by_recurrence(family, x, degree)
    if family.startswith("hermite"):
        limit = np.int64(HERMITE_LIMITS[dtype_of(x)])
        result = op.Where(op.Greater(degree, limit), like(np.nan, x), result)
    return op.Where(op.Less(degree, np.int64(0)), like(0, x), result)


def _by_recurrence(family: Family, x: Tensor, degree: Tensor) -> Tensor:
    first, step = FAMILIES[family]
    constant_term = op.Expand(like(1, x), op.Shape(x))
    steps = op.ReduceMax(op.Concat(op.Reshape(degree, [-1]), np.zeros(1, np.int64), axis=0), keepdims=0)
    if family.startswith("hermite"):
        steps = op.Min(steps, np.int64(max(HERMITE_LIMITS.values())))
    start = op.Where(op.Equal(degree, np.int64(0)), constant_term, first(x))

    def body(i: Tensor, keep: Tensor, before: Tensor, last: Tensor) -> tuple[Tensor, ...]:
        k = op.Add(i, np.int64(1))
        following = step(x, converted(k, dtype_of(x)), before, last)
        is_wanted = op.Less(k, degree)
        return keep, op.Where(is_wanted, last, before), op.Where(is_wanted, following, last)

    return loop(op.Sub(steps, np.int64(1)), [constant_term, start], body)[1]
