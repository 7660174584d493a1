# pyright: basic
"""The gamma function's relatives: by Stirling's and Euler and Maclaurin's series, far enough from zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.precise import INFINITY, NAN, PI, horner, is_whole, number, squared, where
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant, rank_of
from onnxsmith.types.dtypes import DType

#: Bernoulli's numbers B2, B4, …
BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)
#: From where on the series are good.
FAR = 10


def _next_ten(x: Any) -> Any:
    """x, x + 1, … x + 9 along a new last dimension."""
    return op.Add(op.Unsqueeze(x, [-1]), np.arange(FAR, dtype=np.float64))


def _over_last(name: str, x: Any) -> Any:
    """A reduction of the last dimension; counted from the front, since ONNX Runtime misses -1 in empty tensors."""
    return getattr(op, name)(x, [rank_of(x) - 1], keepdims=0)


def _shifted(x: Any) -> tuple[Any, Any]:
    """Whether x is too small for a series, and x or x + 10."""
    is_small = op.Less(x, number(FAR))
    return is_small, op.Add(x, where(is_small, float(FAR), 0.0))


def _from_nearest(x: Any) -> Any:
    """x less the nearest integer: what sine and tangent of pi x need."""
    return op.Sub(x, op.Round(x))


def lgamma_of_positive(x: Any) -> Any:
    is_small, y = _shifted(x)
    inverse = op.Reciprocal(y)
    series = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1)]
    tail = op.Mul(inverse, horner(series[::-1], squared(inverse)))
    logarithm = op.Log(y)
    stirling = op.Add(op.Mul(op.Sub(y, number(0.5)), op.Sub(logarithm, number(1.0))), tail)
    stirling = op.Add(stirling, number(0.5 * float(np.log(2 * PI)) - 0.5))
    product = _over_last("ReduceProd", _next_ten(op.Min(x, number(FAR))))
    return op.Sub(stirling, where(is_small, op.Log(product), 0.0))


def lgamma(x: Any) -> Any:
    is_left = op.Less(x, number(0.5))
    right = lgamma_of_positive(op.Where(is_left, op.Sub(number(1.0), x), x))
    sine = op.Abs(op.Sin(op.Mul(number(PI), _from_nearest(x))))
    left = op.Sub(op.Sub(number(float(np.log(PI))), op.Log(sine)), right)
    return where(op.IsInf(x), INFINITY, op.Where(is_left, left, right))


@translates("aten.lgamma.default", "prims.lgamma.default", "aten.special_gammaln.default")
def log_gamma(call: Call, x: Any) -> Any:
    return lgamma(cast(x, DType.DOUBLE))


@translates("aten.mvlgamma.default", "aten.special_multigammaln.default")
def log_gamma_of_several(call: Call, x: Any, p: int) -> Any:
    x = cast(x, DType.DOUBLE)
    points = op.Sub(op.Unsqueeze(x, [-1]), np.arange(p, dtype=np.float64) / 2)
    total = _over_last("ReduceSum", lgamma(points))
    return op.Add(total, number(p * (p - 1) / 4 * float(np.log(PI))))


def digamma(x: Any) -> Any:
    is_left = op.Less(x, number(0.0))
    y = op.Where(is_left, op.Sub(number(1.0), x), x)
    is_small, far = _shifted(y)
    inverse = op.Reciprocal(far)
    square = squared(inverse)
    series = [b / (2 * k) for k, b in enumerate(BERNOULLI, 1)]
    tail = op.Mul(square, horner(series[::-1], square))
    value = op.Sub(op.Sub(op.Log(far), op.Mul(number(0.5), inverse)), tail)
    steps = _over_last("ReduceSum", op.Reciprocal(_next_ten(y)))
    value = op.Sub(value, where(is_small, steps, 0.0))
    angle = op.Mul(number(PI), _from_nearest(x))
    mirrored = op.Sub(value, op.Div(op.Mul(number(PI), op.Cos(angle)), op.Sin(angle)))
    value = op.Where(is_left, mirrored, value)
    value = where(op.And(is_left, is_whole(x)), NAN, value)
    return op.Where(op.Equal(x, number(0.0)), op.Neg(op.Reciprocal(x)), value)


@translates(
    "aten.digamma.default",
    "prims.digamma.default",
    "aten.special_digamma.default",
    "aten.special_psi.default",
)
def digamma_of(call: Call, x: Any) -> Any:
    return digamma(cast(x, DType.DOUBLE))


# -- zeta ------------------------------------------------------------------------------------------------


def hurwitz_zeta(s: Any, q: Any) -> Any:
    """The sum of (q + k)^-s over all k; s and q broadcast."""
    minus_s = op.Neg(s)
    # As many terms as bring the most negative q beyond ten; the rest is a series.
    least = op.ReduceMin(op.Concat(op.Reshape(_counted(q), [-1]), np.zeros(1), axis=0), keepdims=0)
    count = op.Sub(number(FAR), op.Floor(least))
    points = op.Add(op.Unsqueeze(q, [-1]), op.Range(number(0.0), count, number(1.0)))
    direct = _over_last("ReduceSum", op.Pow(points, op.Unsqueeze(minus_s, [-1])))
    w = op.Add(q, count)
    power = op.Pow(w, minus_s)
    tail = op.Add(op.Div(w, op.Sub(s, number(1.0))), number(0.5))
    factor = op.Div(s, w)  # s (s + 1) … (s + 2k - 2) / (2k)! / w^(2k - 1)
    factorial = 2.0
    for k, b in enumerate(BERNOULLI, 1):
        tail = op.Add(tail, op.Mul(number(b / factorial), factor))
        raised = op.Mul(op.Add(s, number(2 * k - 1)), op.Add(s, number(2 * k)))
        factor = op.Mul(factor, op.Div(raised, squared(w)))
        factorial *= (2 * k + 1) * (2 * k + 2)
    value = op.Add(direct, op.Mul(power, tail))
    is_left = op.LessOrEqual(q, number(0.0))
    value = where(op.And(is_left, op.Not(is_whole(s))), NAN, value)
    value = where(op.And(is_left, is_whole(q)), INFINITY, value)
    value = where(op.Less(s, number(1.0)), NAN, value)
    return where(op.Equal(s, number(1.0)), INFINITY, value)


def _counted(q: Any) -> Any:
    """What decides how many terms are needed: no endless sums for what has no value anyway."""
    return where(op.Or(op.IsNaN(q), op.Less(q, number(-1e7))), 0.0, q)


@translates(
    "aten.special_zeta.default",
    "prims.zeta.default",
    "aten.special_zeta.self_scalar",
    "aten.special_zeta.other_scalar",
)
def zeta(call: Call, s: Any, q: Any) -> Any:
    s, q = (cast(each, DType.DOUBLE) for each in (s, q))
    return hurwitz_zeta(*(each if isinstance(each, Value) else constant(each) for each in (s, q)))


def _trigamma(call: Call, x: Any) -> Any:
    """Left of 1/2 by reflection, with pi in the result's precision, which is what torch's poles show."""
    precision = call.dtype if call.dtype is DType.DOUBLE else DType.FLOAT
    x = cast(x, precision)
    is_left = op.Less(x, cast(0.5, precision))
    sine = op.Sin(cast(op.Mul(x, cast(PI, precision)), DType.DOUBLE))
    mirrored = op.Div(number(PI * PI), squared(sine))
    x = cast(x, DType.DOUBLE)
    value = hurwitz_zeta(constant(number(2.0)), op.Where(is_left, op.Sub(number(1.0), x), x))
    return op.Where(is_left, op.Sub(mirrored, value), value)


@translates("aten.polygamma.default", "aten.special_polygamma.default")
def polygamma(call: Call, n: int, x: Any) -> Any:
    if n == 0:
        return digamma(cast(x, DType.DOUBLE))
    if n == 1:
        return _trigamma(call, x)
    factorial = float(np.prod(np.arange(1.0, n + 1)))
    sign = 1.0 if n % 2 else -1.0
    value = hurwitz_zeta(constant(number(n + 1.0)), cast(x, DType.DOUBLE))
    return op.Mul(number(sign * factorial), value)


# -- incomplete gamma functions ------------------------------------------------------------------------

MOST_STEPS = 20_000
PRECISION = 1e-16


def _is_any(condition: Any) -> Any:
    flat = cast(op.Reshape(condition, [-1]), DType.INT32)
    return cast(op.ReduceMax(op.Concat(flat, np.zeros(1, np.int32), axis=0), keepdims=0), DType.BOOL)


def _lower_sum(a: Any, x: Any) -> Any:
    """1 + x/(a+1) + x²/((a+1)(a+2)) + …"""
    one = op.Expand(number(1.0), op.Shape(a))

    def body(i: Any, keep: Any, term: Any, total: Any) -> Any:
        step = cast(op.Add(i, np.int64(1)), DType.DOUBLE)
        term = op.Mul(term, op.Div(x, op.Add(a, step)))
        total = op.Add(total, term)
        return _is_any(op.Greater(term, op.Mul(total, number(PRECISION)))), term, total

    _, total = op.Loop(np.int64(MOST_STEPS), np.array(True), one, one, body=body, outputs=2)
    return total


def _upper_fraction(a: Any, x: Any) -> Any:
    """The continued fraction 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- …))), by Lentz's method."""
    start = op.Sub(op.Add(x, number(1.0)), a)
    d = op.Reciprocal(start)
    c = op.Expand(number(1e300), op.Shape(a))

    def body(i: Any, keep: Any, c: Any, d: Any, value: Any) -> Any:
        step = cast(op.Add(i, np.int64(1)), DType.DOUBLE)
        over = op.Mul(step, op.Sub(a, step))
        under = op.Add(start, op.Add(step, step))
        d = op.Reciprocal(op.Add(op.Mul(over, d), under))
        c = op.Add(under, op.Div(over, c))
        change = op.Mul(c, d)
        moves = op.Greater(op.Abs(op.Sub(change, number(1.0))), number(2 * PRECISION))
        return _is_any(moves), c, d, op.Mul(value, change)

    return op.Loop(np.int64(MOST_STEPS), np.array(True), c, d, d, body=body, outputs=3)[2]


def _incomplete(call: Call, a: Any, x: Any, is_upper: bool) -> Any:
    a, x = cast(a, DType.DOUBLE), cast(x, DType.DOUBLE)
    zero = op.Mul(number(0.0), op.Add(_finite(a), _finite(x)))
    a, x = op.Add(a, zero), op.Add(x, zero)  # both of the result's shape, so that loops keep it
    is_inside = op.And(
        op.And(op.Greater(a, number(0.0)), op.Greater(x, number(0.0))),
        op.Not(op.Or(op.IsInf(a), op.IsInf(x))),
    )
    is_right = op.And(is_inside, op.And(op.Greater(x, number(1.0)), op.Greater(x, a)))
    inner_a, inner_x = where(is_inside, a, 1.0), where(is_inside, x, 1.0)
    logarithm = op.Sub(op.Sub(op.Mul(inner_a, op.Log(inner_x)), inner_x), lgamma_of_positive(inner_a))
    weight = op.Exp(logarithm)
    lower = op.Mul(op.Div(weight, inner_a), _lower_sum(inner_a, where(is_right, 0.0, inner_x)))
    # Where the fraction is not wanted it is taken at a place where it converges at once.
    fraction = _upper_fraction(where(is_right, inner_a, 1.0), where(is_right, inner_x, 2.0))
    upper = op.Mul(weight, fraction)
    value = (
        op.Where(is_right, upper, op.Sub(number(1.0), lower))
        if is_upper
        else op.Where(is_right, op.Sub(number(1.0), upper), lower)
    )
    return _at_the_border(a, x, value, is_upper)


def _finite(x: Any) -> Any:
    return where(op.Or(op.IsNaN(x), op.IsInf(x)), 0.0, x)


def _at_the_border(a: Any, x: Any, value: Any, is_upper: bool) -> Any:
    """The values for arguments that are zero, infinite, negative or no number."""
    all_of_it, nothing = (0.0, 1.0) if is_upper else (1.0, 0.0)
    value = where(op.Or(op.IsNaN(a), op.IsNaN(x)), NAN, value)
    value = where(op.IsInf(x), all_of_it, value)
    value = where(op.IsInf(a), where(op.IsInf(x), NAN, op.Expand(number(nothing), op.Shape(a))), value)
    value = where(op.Equal(x, number(0.0)), nothing, value)
    at_zero = where(op.Greater(x, number(0.0)), op.Expand(number(all_of_it), op.Shape(a)), NAN)
    value = op.Where(op.Equal(a, number(0.0)), at_zero, value)
    is_outside = op.Or(op.Less(x, number(0.0)), op.Less(a, number(0.0)))
    return where(is_outside, NAN, value)


@translates("aten.igamma.default", "prims.igamma.default", "aten.special_gammainc.default")
def lower_incomplete(call: Call, a: Any, x: Any) -> Any:
    return _incomplete(call, a, x, is_upper=False)


@translates("aten.igammac.default", "prims.igammac.default", "aten.special_gammaincc.default")
def upper_incomplete(call: Call, a: Any, x: Any) -> Any:
    return _incomplete(call, a, x, is_upper=True)
