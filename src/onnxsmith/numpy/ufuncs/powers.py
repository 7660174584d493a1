"""Powers and roots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms import loops
from onnxsmith.algorithms.complex_numbers import elementary
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.special.double import number
from onnxsmith.algorithms.values import converted, dtype_of, like
from onnxsmith.core.value import TensorValue
from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import Elements
from onnxsmith.numpy.ufunc import define, operator
from onnxsmith.numpy.ufuncs.precision import complex_in_double, in_single
from onnxsmith.types.dtypes import DType


def _whole_power(x: TensorValue, exponent: TensorValue) -> TensorValue:
    """A power of integers by squaring: what is too large wraps around. Where the exponent is negative: 1 / x, cut."""
    dtype = dtype_of(x)
    base, rest = (
        converted(each, DType.UINT64 if dtype is DType.UINT64 else DType.INT64) for each in (x, exponent)
    )
    zero, one, two = (like(each, base) for each in (0, 1, 2))
    ones = op.Where(op.Equal(op.Add(base, rest), zero), one, one)
    wide = [op.Mul(ones, each) for each in (base, rest)]

    def step(
        i: TensorValue, go_on: TensorValue, result: TensorValue, base: TensorValue, rest: TensorValue
    ) -> tuple[TensorValue, ...]:
        half = op.Div(rest, two)
        is_odd = op.Greater(op.Sub(rest, op.Mul(half, two)), zero)
        result = op.Where(is_odd, op.Mul(result, base), result)
        remains = op.ReduceMax(converted(op.Greater(half, zero), DType.INT32), keepdims=0)
        return op.Greater(remains, np.int32(0)), result, op.Mul(base, base), half

    result = loops.loop(np.int64(64), [ones, *wide], step)[0]
    if dtype.kind == "signed":
        is_unit = op.Or(op.Equal(base, one), op.Equal(base, like(-1, base)))
        is_odd = op.Not(op.Equal(op.Mul(op.Div(rest, two), two), rest))
        inverse = op.Where(is_unit, op.Where(is_odd, base, one), zero)
        result = op.Where(op.Less(rest, zero), inverse, result)
    return converted(result, dtype)


@in_single
def _power(x: TensorValue, exponent: TensorValue) -> TensorValue:
    return op.Pow(x, exponent) if dtype_of(x).is_float else _whole_power(x, exponent)


def _check_exponent(loop: Sequence[NumpyDType], feeds: Sequence[Elements | None]) -> None:
    """Refuse negative exponents of integers, as numpy does, where they are known."""
    exponent = feeds[1]
    if loop[0].kind == "i" and exponent is not None and exponent.dtype.kind == "i" and (exponent < 0).any():
        raise AttributeValueError(
            "an integer to a negative power is no integer", help="use a float: x ** -1.0, or xp.float_power"
        )


def _cbrt(x: TensorValue) -> TensorValue:
    """In double precision, with one step of Newton's method behind a power; what is no finite number stays."""
    wide = converted(x, DType.DOUBLE)
    size = op.Abs(wide)
    root = op.Pow(size, number(1 / 3))
    square = op.Mul(root, root)
    better = op.Sub(root, op.Div(op.Sub(root, op.Div(size, square)), number(3)))
    better = op.Where(op.Less(wide, number(0)), op.Neg(better), better)
    is_plain = op.And(op.Greater(size, number(0)), op.Less(size, number(np.inf)))
    return op.Where(is_plain, better, wide)


power = define(("power", "pow"), _power, complex_in_double(elementary.power), check=_check_exponent)
float_power = define("float_power", operator("Pow"), complex_in_double(elementary.power))
sqrt = define("sqrt", in_single(operator("Sqrt")), complex_in_double(elementary.sqrt))
cbrt = define("cbrt", _cbrt)
