"""Numbers that are Python's on one path and numpy's on another: `max(0, x[0])`, `best = 0` before a loop over `x`.

A model has one element type for such a number, that of the array. Python's own goes on computing without an end, where
a small integer begins anew: `max(0, x[0]) - 1` is -1 or a `uint8`. Which Python numbers it may be is remembered, and
what would come out otherwise for one of them is refused. Floats differ by rounding alone, and are left as they are.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from onnxsmith.errors import InputTypeError
from onnxsmith.numpy.dtypes import NumpyDType

#: How many Python numbers are remembered of one value.
_MOST = 4


class Weak(NamedTuple):
    """The Python numbers that a number of numpy's may be; None where they are too many, or only the model knows."""

    values: frozenset[int] | None

    def joined(self, other: Weak | None) -> Weak:
        """Those of a number that is one of two."""
        if other is None:
            return self
        if self.values is None or other.values is None:
            return UNKNOWN
        return weak_of(self.values | other.values)


UNKNOWN = Weak(None)

#: A Python number whose value is known, and None for one that only the model knows.
KnownNumber: TypeAlias = "bool | int | float | complex | None"


def weak_of(values: frozenset[int]) -> Weak:
    """The numbers, if they are few."""
    return Weak(values) if len(values) <= _MOST else UNKNOWN


def differs_from_python(dtype: NumpyDType) -> bool:
    """True if arithmetic in an element type gives other numbers than Python's: its range is smaller, or has no sign."""
    return dtype.kind == "b" or (dtype.kind in "iu" and dtype != np.dtype(np.int64))


#: Python's operators, by the functions of numpy's that arrays have for them.
_OPERATORS: dict[str, str] = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "left_shift": "lshift",
    "right_shift": "rshift",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "negative": "neg",
    "positive": "pos",
    "absolute": "abs",
    "invert": "invert",
}


def computed(
    name: str,
    operands: Sequence[Weak | KnownNumber],
    dtype: NumpyDType,
    loop: Sequence[NumpyDType],
    otherwise: Sequence[NumpyDType],
) -> Weak | None:
    """The result of an operation on such numbers, and Python's: again such a number, or one of numpy's for certain.

    `dtype` is the element type of those that may be numpy's; `loop` are the types that numpy computes in, `otherwise`
    those where Python's stand in their places.
    Refused where Python would give another number.
    """
    result = loop[len(operands)]
    possible = [_possible(each) for each in operands]
    if name not in _OPERATORS or any(each is None for each in possible):
        if result.kind not in "b" and result != otherwise[len(operands)]:
            raise _refused(operands, dtype)
        return None
    found: set[int] = set()
    for each in itertools.product(*[each for each in possible if each is not None]):
        value = _by_python(name, each)
        mine = _by_numpy(name, each, loop)
        if value is None or mine is None or value != mine:
            raise _refused(operands, dtype)
        if isinstance(value, int):
            found.add(value)
    return weak_of(frozenset(found)) if differs_from_python(result) else None


def _possible(operand: Weak | KnownNumber) -> Sequence[int | float] | None:
    if isinstance(operand, Weak):
        return None if operand.values is None else sorted(operand.values)
    return None if operand is None or isinstance(operand, complex) else [operand]


def _by_python(name: str, values: Sequence[int | float]) -> int | float | None:
    try:
        found: object = getattr(operator, _OPERATORS[name])(*values)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return found if isinstance(found, int | float) else None


def _by_numpy(name: str, values: Sequence[int | float], loop: Sequence[NumpyDType]) -> int | float | None:
    try:
        with np.errstate(all="ignore"):
            given = [np.asarray(each, kind) for each, kind in zip(values, loop, strict=False)]
            return getattr(np, name)(*given).item()
    except (ArithmeticError, ValueError, TypeError):
        return None


def _refused(operands: Sequence[Weak | KnownNumber], dtype: NumpyDType) -> InputTypeError:
    weak = next((each for each in operands if isinstance(each, Weak) and each.values is not None), None)
    named = "a Python number" if weak is None or weak.values is None else f"Python's {min(weak.values)!r}"
    return InputTypeError(
        f"this number is {named} on one path and numpy's {dtype.name} on another, which give different results here, "
        "and only the model knows which it is",
        help="let it be one kind on every path: int(x[0]), or x.dtype.type(0) for 0",
    )
