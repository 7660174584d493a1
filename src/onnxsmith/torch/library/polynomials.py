# pyright: basic
"""Orthogonal polynomials of a degree that is a tensor, by their recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant
from onnxsmith.types.dtypes import DType


def _number(x: Any, value: float) -> Any:
    return np.asarray(value, x.dtype.numpy)


def _double(x: Any) -> Any:
    return op.Add(x, x)


def _chebyshev(x: Any, k: Any, before: Any, last: Any) -> Any:
    return op.Sub(op.Mul(_double(x), last), before)


def _hermite(x: Any, k: Any, before: Any, last: Any) -> Any:
    return op.Sub(op.Mul(_double(x), last), op.Mul(_double(k), before))


def _hermite_of_probability(x: Any, k: Any, before: Any, last: Any) -> Any:
    return op.Sub(op.Mul(x, last), op.Mul(k, before))


def _laguerre(x: Any, k: Any, before: Any, last: Any) -> Any:
    factor = op.Add(_double(k), op.Sub(_number(x, 1), x))
    return op.Div(op.Sub(op.Mul(factor, last), op.Mul(k, before)), op.Add(k, _number(x, 1)))


def _legendre(x: Any, k: Any, before: Any, last: Any) -> Any:
    factor = op.Mul(op.Add(_double(k), _number(x, 1)), x)
    return op.Div(op.Sub(op.Mul(factor, last), op.Mul(k, before)), op.Add(k, _number(x, 1)))


#: family -> (the polynomial of degree 1, the step from degrees k-1 and k to k+1).
FAMILIES: dict[str, tuple[Callable[[Any], Any], Callable[..., Any]]] = {
    "chebyshev_polynomial_t": (lambda x: x, _chebyshev),
    "chebyshev_polynomial_u": (_double, _chebyshev),
    "chebyshev_polynomial_v": (lambda x: op.Sub(_double(x), _number(x, 1)), _chebyshev),
    "chebyshev_polynomial_w": (lambda x: op.Add(_double(x), _number(x, 1)), _chebyshev),
    "hermite_polynomial_h": (_double, _hermite),
    "hermite_polynomial_he": (lambda x: x, _hermite_of_probability),
    "laguerre_polynomial_l": (lambda x: op.Sub(_number(x, 1), x), _laguerre),
    "legendre_polynomial_p": (lambda x: x, _legendre),
}
#: The degree from which torch has no number for a Hermite polynomial.
HERMITE_LIMITS = {DType.FLOAT: 128, DType.DOUBLE: 512}

OVERLOADS = {
    f"aten.special_{prefix}{family}{suffix}": (family, prefix != "")
    for family in FAMILIES
    for prefix in (("", "shifted_") if family.startswith("chebyshev") else ("",))
    for suffix in (".default", ".x_scalar", ".n_scalar")
}


@translates(*OVERLOADS)
def polynomial(call: Call, x: Any, n: Any) -> Any:
    family, is_shifted = OVERLOADS[call.overload]
    dtype = call.dtype if call.dtype is DType.DOUBLE else DType.FLOAT
    x, n = (each if isinstance(each, Value) else constant(each) for each in (cast(x, dtype), cast(n, dtype)))
    # The degree is what is left of it as an integer; no number has none.
    n = op.Where(op.Or(op.IsNaN(n), op.IsInf(n)), _number(n, -1), n)
    degree = cast(n, DType.INT64)
    if is_shifted:
        x = op.Sub(_double(x), _number(x, 1))
    # All of the result's shape, so that a loop keeps it.
    x = op.Add(x, op.Mul(n, _number(x, 0)))
    degree = op.Expand(degree, op.Shape(x))
    result = _by_recurrence(family, x, degree)
    if family.startswith("hermite"):
        result = op.Where(op.Greater(degree, np.int64(HERMITE_LIMITS[dtype])), _number(x, np.nan), result)
    return op.Where(op.Less(degree, np.int64(0)), _number(x, 0), result)


def _by_recurrence(family: str, x: Any, degree: Any) -> Any:
    first, step = FAMILIES[family]
    constant_term = op.Expand(_number(x, 1), op.Shape(x))
    steps = op.ReduceMax(op.Concat(op.Reshape(degree, [-1]), np.zeros(1, np.int64), axis=0), keepdims=0)
    if family.startswith("hermite"):
        steps = op.Min(steps, np.int64(max(HERMITE_LIMITS.values())))
    start = op.Where(op.Equal(degree, np.int64(0)), constant_term, first(x))

    def body(i: Any, keep: Any, before: Any, last: Any) -> Any:
        k = op.Add(i, np.int64(1))
        following = step(x, cast(k, x.dtype), before, last)
        is_wanted = op.Less(k, degree)
        return keep, op.Where(is_wanted, last, before), op.Where(is_wanted, following, last)

    _, result = op.Loop(
        op.Sub(steps, np.int64(1)), np.array(True), constant_term, start, body=body, outputs=2
    )
    return result
