"""Where Python's own functions raise an error for a number that only the model knows: `math.log(0)`, `int(nan)`.

What each demands of its operands, or of its result, stands in one table; what it computes, in `builtin_calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import op
from onnxsmith.core.demands import Truth, demand, forbid, is_noted
from onnxsmith.core.semantics.number import Number, is_natural
from onnxsmith.core.semantics.number_errors import demand_power, demand_whole
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Operand, TensorValue
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, tensor_of
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.types.dtypes import DType

#: Demands something of the operands of a function and of its result, all of double precision.
Domain: TypeAlias = Callable[[Sequence[Operand], TensorValue], None]

#: Functions that give an int.
_INTEGERS = ("int", "floor", "ceil", "trunc")
_ZERO, _ONE = np.float64(0), np.float64(1)


def checked(function: Function, call: Function) -> Function:
    """A function of Python's on numbers of the model, which raises what Python raises."""
    name = getattr(function, "__name__", "")
    domain = DOMAINS.get(name)
    if domain is None:
        return call

    def checked_call(*args: UserValue, **kwargs: UserValue) -> UserValue:
        result = call(*args, **kwargs)
        if isinstance(result, Number) and is_noted() and not _is_surely_fine(name, args[0]):
            exact = _own if name in _INTEGERS else _double
            domain([exact(each) for each in args], result.tensor)
        return result

    return checked_call


def _is_surely_fine(name: str, operand: UserValue) -> bool:
    """True if a function is known to have a result for an operand."""
    if name == "sqrt":
        return is_natural(operand)
    if name not in _INTEGERS:
        return False
    if isinstance(operand, Number):
        return operand.kind != "float"
    return isinstance(operand, Array) and operand.dtype.kind in "iub" and operand.dtype != np.uint64


def _double(value: UserValue) -> Operand:
    """An operand as Python computes with it."""
    if isinstance(value, Number):
        return value.as_dtype(DType.DOUBLE)
    if not isinstance(value, Array):
        return np.float64(cast(float, value))
    return values.converted(cast(Tensor, _own(value)), DType.DOUBLE)


def _own(value: UserValue) -> Operand:
    """An operand in its own element type: one of 64 bits is none of the doubles."""
    if not isinstance(value, Array):
        return _double(value)
    return tensor_of(array_of(value.reshape(()) if value.ndim else value))


def _not_where(fails: Callable[[Operand], Truth]) -> Domain:
    """A function that is not defined everywhere."""

    def check(operands: Sequence[Operand], result: TensorValue) -> None:
        forbid(lambda: fails(operands[0]), ValueError("math domain error"))

    return check


def _in_range(operands: Sequence[Operand], result: TensorValue) -> None:
    """A function whose result may be past all floats."""

    def fails() -> Truth:
        found: TensorValue = op.IsInf(result)
        for each in operands:
            found = op.And(found, op.Not(op.IsInf(each)))
        return found

    forbid(fails, OverflowError("math range error"))


def _whole(operands: Sequence[Operand], result: TensorValue) -> None:
    if isinstance(operands[0], TensorValue):
        demand_whole(operands[0])


def _power(operands: Sequence[Operand], result: TensorValue) -> None:
    forbid(
        lambda: op.And(
            op.Equal(operands[0], _ZERO),
            op.And(op.Less(operands[1], _ZERO), op.Greater(operands[1], np.float64(-np.inf))),
        ),
        ValueError("math domain error"),
    )
    demand_power(operands[0], operands[1], result)


def _remainder(operands: Sequence[Operand], result: TensorValue) -> None:
    """`fmod` is NaN for what has no remainder, and for NaN."""
    is_given = op.Or(op.IsNaN(operands[0]), op.IsNaN(operands[1]))
    demand(lambda: op.Or(op.Not(op.IsNaN(result)), is_given), ValueError("math domain error"))


#: NaN is passed on by all of them.
DOMAINS: dict[str, Domain] = {
    "sqrt": _not_where(lambda x: op.Less(x, _ZERO)),
    **dict.fromkeys(("log", "log2", "log10"), _not_where(lambda x: op.LessOrEqual(x, _ZERO))),
    "log1p": _not_where(lambda x: op.LessOrEqual(x, np.float64(-1))),
    **dict.fromkeys(("sin", "cos", "tan"), _not_where(lambda x: op.IsInf(x))),
    **dict.fromkeys(("asin", "acos"), _not_where(lambda x: op.Greater(op.Abs(x), _ONE))),
    "acosh": _not_where(lambda x: op.Less(x, _ONE)),
    "atanh": _not_where(lambda x: op.GreaterOrEqual(op.Abs(x), _ONE)),
    **dict.fromkeys(("exp", "expm1", "exp2", "sinh", "cosh", "hypot", "ldexp"), _in_range),
    "pow": _power,
    "fmod": _remainder,
    **dict.fromkeys(_INTEGERS, _whole),
}
