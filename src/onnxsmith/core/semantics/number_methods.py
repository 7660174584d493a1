"""The methods and attributes of Python's ints and floats, on a number with a dynamic value.

`Number` takes them from here. What gives text or bytes, or needs every digit, is refused as the digits themselves are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from onnxsmith.core.operands import operators_for
from onnxsmith.errors import TracedValueError, UnknownMethodError
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from onnxsmith.core.semantics.number import AnyNumber, Number

#: The powers of two that an int of 64 bits can reach.
_POWERS = 2 ** np.arange(63, dtype=np.int64)
#: A product of two remainders by a divisor up to this has 64 bits.
_LARGEST_DIVISOR = 2**31


class NumberMethods:
    """The methods of `int` and `float`, besides operators."""

    __slots__ = ()

    @property
    def real(self) -> Number:
        """The number itself."""
        return +cast("Number", self)

    @property
    def imag(self) -> int | float:
        """Zero."""
        return 0.0 if cast("Number", self).kind == "float" else 0

    @property
    def numerator(self) -> Number:
        """The int itself."""
        return _rational(self, "numerator").real

    @property
    def denominator(self) -> int:
        """1."""
        _rational(self, "denominator")
        return 1

    def conjugate(self) -> Number:
        """The number itself."""
        return self.real

    def bit_length(self) -> Number:
        """How many bits its binary form has, without the sign."""
        size = abs(_whole(self, "bit_length"))
        op = operators_for(size.tensor)
        reached = op.Cast(op.GreaterOrEqual(size.as_dtype(DType.INT64), _POWERS), to=DType.INT64)
        return cast("Number", op.ReduceSum(reached, keepdims=0).as_number())

    def is_integer(self) -> Number | bool:
        """True if it has no fraction."""
        number = cast("Number", self)
        return number // 1 == number if number.kind == "float" else True

    def as_integer_ratio(self) -> tuple[Number, int]:
        """An int and 1; what a float is made of is refused."""
        return _whole(self, "as_integer_ratio").real, 1

    def bit_count(self) -> NoReturn:
        """Refused."""
        raise _unknown("bit_count")

    def to_bytes(self, length: int = 1, byteorder: str = "big", *, signed: bool = False) -> NoReturn:
        """Refused."""
        raise _unknown("to_bytes")

    def hex(self) -> NoReturn:
        """Refused."""
        raise _unknown("hex")


def _rational(number: NumberMethods, name: str) -> Number:
    given = cast("Number", number)
    if given.kind == "float":
        raise UnknownMethodError(f"a Python float has no attribute '{name}'").locate_at_caller()
    return given


def _whole(number: NumberMethods, method: str) -> Number:
    given = cast("Number", number)
    if given.kind == "float":
        raise _unknown(method)
    return given


def _unknown(method: str) -> TracedValueError:
    return TracedValueError(
        f"{method}() needs the digits of a number that is known only when the model runs",
        help="compute with the number itself; a loop over static_range(…) has Python ints",
    ).locate_at_caller()


def modular_power(base: AnyNumber, exponent: AnyNumber, divisor: AnyNumber) -> AnyNumber:
    """`pow(base, exponent, divisor)`, where the base alone is symbolic: by squares, each taken modulo the divisor."""
    if (
        not isinstance(exponent, int)
        or not isinstance(divisor, int)
        or exponent < 0
        or not 0 < abs(divisor) <= _LARGEST_DIVISOR
    ):
        raise TracedValueError(
            "pow() with a third argument is computed by a model where exponent and divisor are known, "
            "the exponent is not negative, and the divisor has at most 31 bits",
            help="write the product of remainders: a * b % m",
        ).locate_at_caller()
    result: Any = 1 % divisor
    square: Any = base % divisor
    for position, bit in enumerate(reversed(f"{exponent:b}")):
        square = square * square % divisor if position else square
        result = result * square % divisor if bit == "1" else result
    return result
