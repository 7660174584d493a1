"""Divisors and multiples of integers."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import loops
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import converted, dtype_of
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.ufunc import define
from onnxsmith.types.dtypes import DType

#: Euclid's algorithm takes no more steps on 64-bit integers: such are two Fibonacci numbers.
_STEPS = 96


def _size(x: TensorValue) -> TensorValue:
    if dtype_of(x).kind == "signed":
        x = op.Abs(converted(x, DType.INT64))
    return converted(x, DType.UINT64)


def _sizes(x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue]:
    """The absolute values in uint64, which holds that of the lowest integer, too, in the shape that both have."""
    x, y = (_size(each) for each in (x, y))
    nothing = op.Sub(op.Add(x, y), op.Add(x, y))
    return op.Add(x, nothing), op.Add(y, nothing)


def _divisor(x: TensorValue, y: TensorValue) -> TensorValue:
    """The greatest common divisor of numbers in uint64, by Euclid's algorithm."""
    zero = np.uint64(0)

    def step(i: TensorValue, go_on: TensorValue, x: TensorValue, y: TensorValue) -> tuple[TensorValue, ...]:
        is_over = op.Equal(y, zero)
        rest = op.Mod(x, op.Where(is_over, np.uint64(1), y))
        remains = op.ReduceMax(converted(op.Not(op.Equal(rest, zero)), DType.INT32), keepdims=0)
        return op.Greater(remains, np.int32(0)), op.Where(is_over, x, y), rest

    last, left = loops.loop(np.int64(_STEPS), [x, y], step)
    return op.Where(op.Equal(left, zero), last, left)


def _gcd(x: TensorValue, y: TensorValue) -> TensorValue:
    return converted(_divisor(*_sizes(x, y)), dtype_of(x))


def _lcm(x: TensorValue, y: TensorValue) -> TensorValue:
    a, b = _sizes(x, y)
    divisor = _divisor(a, b)
    one = np.uint64(1)
    product = op.Mul(op.Div(a, op.Where(op.Equal(divisor, np.uint64(0)), one, divisor)), b)
    return converted(product, dtype_of(x))


gcd = define("gcd", _gcd)
lcm = define("lcm", _lcm)
