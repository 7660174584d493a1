"""Where arithmetic on Python's numbers raises an error: a divisor of 0, a power that is no float, NaN as an int.

Says what has to hold, and costs nothing where that is known, or where nobody asks (`core.demands`). Of integers that
are divided the runtime itself finds a divisor of 0.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from onnxsmith.core.demands import Refusal, Truth, demand
from onnxsmith.core.operands import operators_for
from onnxsmith.core.value import Operand, TensorValue
from onnxsmith.schema.inference import symbolic
from onnxsmith.types.dtypes import DType

_MOST = np.float64(np.finfo(np.float64).max)
#: One past the integers of 64 bits.
_END = np.float64(2.0**63)
_ZERO = np.float64(0)


def demand_divisor(divisor: Operand) -> None:
    """A divisor is not 0."""
    demand(lambda: _is_nonzero(divisor), ZeroDivisionError("division by zero"))


def _is_nonzero(value: Operand) -> Truth:
    if not isinstance(value, TensorValue):
        return bool(value)
    data = value.known.data
    is_size = data is not None and not isinstance(data, tuple | np.ndarray)
    if is_size and symbolic.is_at_least(cast(Any, data), 1):
        return True
    return operators_for(value).Cast(value, to=DType.BOOL)


def demand_shift(count: Operand) -> None:
    """A shift goes by 0 places or more."""
    demand(
        lambda: (
            operators_for(count).GreaterOrEqual(count, np.int64(0))
            if isinstance(count, TensorValue)
            else cast(int, count) >= 0
        ),
        ValueError("negative shift count"),
    )


def demand_whole(value: TensorValue) -> None:
    """A number is one that an int of 64 bits can be: Python's have more, and a model's have not."""
    op: Any = operators_for(value)
    if value.dtype is DType.UINT64:
        demand(
            lambda: op.LessOrEqual(value, np.uint64(2**63 - 1)),
            OverflowError("an integer of a model has 64 bits with its sign, and this one is greater"),
        )
    if value.dtype is None or not value.dtype.is_float:
        return
    demand(
        lambda: op.Less(op.Abs(op.Cast(value, to=DType.DOUBLE)), _END),
        Refusal(ValueError("cannot convert float NaN to integer"), lambda: op.IsNaN(value)),
        OverflowError("cannot convert float infinity, or one past 64 bits, to integer"),
    )


def demand_power(base: Operand, exponent: Operand, result: TensorValue) -> None:
    """A power of floats is a float: neither complex, nor infinite for what is not."""
    op: Any = operators_for(result)
    known = float(cast(float, exponent)) if not isinstance(exponent, TensorValue) else math.nan
    overflow = OverflowError("the result of a power is past the range of floats")
    zero = ZeroDivisionError("zero cannot be raised to a negative power")
    complex_ = ValueError(
        "a negative number to a fractional power is complex, and a model computes with floats"
    )

    def holds() -> Truth:
        of_infinity = [
            op.Not(_is_finite(op, each)) for each in (base, exponent) if isinstance(each, TensorValue)
        ]
        made: Any = _is_finite(op, result)
        for each in of_infinity:
            made = op.Or(made, each)
        return made

    if known >= 0 and known.is_integer():
        demand(holds, overflow)
        return
    demand(
        holds,
        Refusal(zero, lambda: op.Equal(base, _ZERO)),
        Refusal(complex_, lambda: op.IsNaN(result)),
        overflow,
    )


def _is_finite(op: Any, value: Operand) -> TensorValue:
    return op.LessOrEqual(op.Abs(value), _MOST)
