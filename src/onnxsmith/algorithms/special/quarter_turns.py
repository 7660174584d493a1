"""Angles without whole quarter turns, exactly: what sine, cosine and tangent are computed from, in double precision.

Up to a million turns the quarters are taken off in pieces whose products are exact (Cody and Waite). Beyond, the bits
of the angle are multiplied by those bits of 2/pi that matter for its exponent (Payne and Hanek), in double words.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.double import PI, number
from onnxsmith.algorithms.special.double_word import DoubleWord, ordered_sum, product_of, sum_of
from onnxsmith.algorithms.values import converted
from onnxsmith.core.value import Array
from onnxsmith.types.dtypes import DType

#: pi/2 in pieces of 33 bits, and what is left.
_QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32)
#: What pi/2 is more than its double.
_QUARTER_LOW = 6.123233995736766e-17
#: Angles up to here are taken apart by Cody's and Waite's pieces: the number of quarters has 20 bits.
_NEAR = 1.6e6
#: 2/pi times 2 to the power of 1280.
_TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0"
    "06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f4"
    "9c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d"
    "7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d",
    16,
)
_BITS = 1280
_ONE = number(1)
#: The exponents of 53-bit integers that are angles beyond `_NEAR`.
_LOWEST, _HIGHEST = -33, 972


class Reduced(NamedTuple):
    """An angle: quarter turns modulo four, as a number, and the rest from -pi/4 to pi/4 as a double word."""

    quarter: Tensor
    rest: DoubleWord


@functools.cache
def _table() -> Array:
    """2/pi times powers of two, without multiples of four, each as four doubles that lie one behind the other."""
    rows: list[list[float]] = []
    for exponent in range(_LOWEST, _HIGHEST):
        left = _TWO_OVER_PI << exponent if exponent >= 0 else _TWO_OVER_PI >> -exponent
        left &= (4 << _BITS) - 1
        parts: list[float] = []
        for _ in range(4):
            cut = max(left.bit_length() - 53, 0)
            head = left >> cut << cut
            # Python divides integers exactly, and the head has 53 bits.
            parts.append(head / (1 << _BITS) if head else 0.0)
            left -= head
        rows.append(parts)
    return np.array(rows, np.float64)


def _near(x: Tensor) -> Reduced:
    first, second, third, fourth = (number(each) for each in _QUARTER)
    quarters = op.Round(x * (2 / PI))
    high, low = sum_of(x - quarters * first, -(quarters * second))
    high, lower = sum_of(high, -(quarters * third))
    rest = low + lower - quarters * fourth
    return Reduced(_modulo_four(quarters), ordered_sum(high, rest))


def _far(x: Tensor) -> Reduced:
    """Of an angle that is positive."""
    # The exponent from the logarithm, which may be off by one; powers of two are exact.
    exponent = op.Floor(op.Log(x) * (1 / math.log(2))) + _ONE
    fraction = x * op.Pow(number(2), -exponent)
    is_more, is_less = fraction >= _ONE, fraction < 0.5
    fraction = fraction * op.Where(is_more, 0.5, op.Where(is_less, number(2), _ONE))
    exponent = exponent + op.Where(is_more, _ONE, op.Where(is_less, number(-1), number(0)))
    whole = fraction * (2.0**53)
    row = converted(exponent, DType.INT64) - (53 + _LOWEST)
    row = op.Min(op.Max(row, np.int64(0)), (_HIGHEST - _LOWEST - 1))
    factors = op.Gather(_table(), row, axis=0)
    products = [product_of(whole, op.Gather(factors, np.int64(k), axis=-1)) for k in range(4)]
    (p0, e0), (p1, e1), (p2, e2), (p3, _) = products
    high, t0 = sum_of(_modulo_four(p0), e0)
    high, t1 = sum_of(high, p1)
    quarters = op.Round(high)
    high, low = sum_of(high - quarters, t0)
    for term in (t1, e1, p2):
        high, lost = sum_of(high, term)
        low = low + lost
    high, low = ordered_sum(high, low + (e2 + p3))
    angle, error = product_of(high, high - high + (PI / 2))
    error = error + (high * _QUARTER_LOW + low * (PI / 2))
    return Reduced(_modulo_four(quarters), ordered_sum(angle, error))


def _modulo_four(x: Tensor) -> Tensor:
    return x - op.Floor(x * 0.25) * 4


def reduced(x: Tensor) -> Reduced:
    """The angle of a double; no number of an infinite one. What far angles cost is paid where there is one."""
    near = _near(x)
    is_far = (abs(x) > _NEAR) & (abs(x) < np.inf)
    has_far = op.ReduceMax(converted(is_far, DType.INT32), keepdims=0) > np.int32(0)

    def with_far() -> tuple[Tensor, ...]:
        far = _far(op.Where(is_far, abs(x), _NEAR))
        is_negative = x < 0
        quarter = op.Where(is_negative, _modulo_four(4 - far.quarter), far.quarter)
        high, low = (op.Where(is_negative, -each, each) for each in far.rest)
        return (
            op.Where(is_far, quarter, near.quarter),
            op.Where(is_far, high, near.rest[0]),
            op.Where(is_far, low, near.rest[1]),
        )

    def without_far() -> tuple[Tensor, ...]:
        return tuple(op.Identity(each) for each in (near.quarter, *near.rest))

    branches: dict[str, Any] = {"then_branch": with_far, "else_branch": without_far}
    quarter, high, low = several(op.If, has_far, outputs=3, **branches)
    return Reduced(quarter, (high, low))
