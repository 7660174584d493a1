"""Computes torch's expressions of sizes, on Python numbers and on numbers that only the model knows.

Where a symbol in an expression is read from is `sizes`' to know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import sympy  # pyright: ignore[reportMissingTypeStubs]
from torch.utils._sympy import functions as torch_functions

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, TensorOperator, TensorOrArray, op
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import PythonNumber
from onnxsmith.torch.symbols import Expression
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension

#: A number that is known now, or a `Number`, whose arithmetic gives numbers and is declared to give tensors.
AnyNumber: TypeAlias = bool | int | float | Tensor


class _Extreme(Protocol):
    """Python's `min` or `max`."""

    def __call__(self, a: float, b: float, /) -> float: ...


def least(a: AnyNumber, b: AnyNumber) -> AnyNumber:
    """The smaller of two numbers."""
    return _extreme(op.Min, min, a, b)


def greatest(a: AnyNumber, b: AnyNumber) -> AnyNumber:
    """The greater of two numbers."""
    return _extreme(op.Max, max, a, b)


def _extreme(operator: TensorOperator, python: _Extreme, a: AnyNumber, b: AnyNumber) -> AnyNumber:
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return python(a, b)
    dtype = DType.DOUBLE if is_float(a) or is_float(b) else DType.INT64
    return as_number(operator(scalar(a, dtype), scalar(b, dtype)).as_number())


def is_float(value: AnyNumber) -> bool:
    """True if a number is a float; one of the model, too."""
    return isinstance(value, float) or (isinstance(value, Number) and value.kind == "float")


def as_number(value: PythonNumber) -> AnyNumber:
    """The Python number for a scalar tensor, where it is of an element type for real numbers."""
    assert isinstance(value, int | float | Tensor)
    return value


def scalar(value: AnyNumber, dtype: DType) -> TensorOrArray:
    """A number, known or not, as a scalar tensor (or array) of an element type."""
    return values.cast(value, dtype) if isinstance(value, Number) else np.array(value, dtype.numpy)


# -- what an expression computes -------------------------------------------------------------------------


def computed(expression: Expression, parts: Sequence[AnyNumber]) -> AnyNumber:
    """The number that an expression is on the numbers that its parts are; KeyError where there is no way."""
    for kinds, meaning in _MEANINGS:
        if isinstance(expression, kinds):
            return meaning(parts)
    raise KeyError(f"the size {expression} cannot be computed in the graph")


_Meaning: TypeAlias = Callable[[Sequence[AnyNumber]], AnyNumber]


def _folded(function: Callable[[AnyNumber, AnyNumber], AnyNumber]) -> _Meaning:
    def fold(parts: Sequence[AnyNumber]) -> AnyNumber:
        result = parts[0]
        for each in parts[1:]:
            result = function(result, each)
        return result

    return fold


def _sum(a: AnyNumber, b: AnyNumber) -> AnyNumber:
    return a + b


def _product(a: AnyNumber, b: AnyNumber) -> AnyNumber:
    return a * b


def _power(parts: Sequence[AnyNumber]) -> AnyNumber:
    base, exponent = parts
    if isinstance(exponent, int) and 0 <= exponent <= 8:
        return _folded(_product)([base] * exponent) if exponent else 1
    return base**exponent


def _quotient(parts: Sequence[AnyNumber]) -> AnyNumber:
    return parts[0] // parts[1]


def _ratio(parts: Sequence[AnyNumber]) -> AnyNumber:
    return parts[0] / parts[1]


def _remainder(parts: Sequence[AnyNumber]) -> AnyNumber:
    return parts[0] % parts[1]


def _as_float(parts: Sequence[AnyNumber]) -> AnyNumber:
    return parts[0] * 1.0


def _ceiling(parts: Sequence[AnyNumber]) -> AnyNumber:
    return Number(op.Cast(op.Ceil(scalar(parts[0], DType.DOUBLE)), to=DType.INT64), "int")


def _truncated(parts: Sequence[AnyNumber]) -> AnyNumber:
    return Number(op.Cast(scalar(parts[0], DType.DOUBLE), to=DType.INT64), "int")


_MEANINGS: tuple[tuple[type | tuple[type, ...], _Meaning], ...] = (
    (sympy.Add, _folded(_sum)),
    (sympy.Mul, _folded(_product)),
    ((sympy.Pow, torch_functions.PowByNatural), _power),
    (torch_functions.FloorDiv, _quotient),
    ((torch_functions.Mod, torch_functions.PythonMod), _remainder),
    ((sympy.Max, torch_functions.Max), _folded(greatest)),
    ((sympy.Min, torch_functions.Min), _folded(least)),
    (torch_functions.ToFloat, _as_float),
    ((torch_functions.IntTrueDiv, torch_functions.FloatTrueDiv), _ratio),
    (torch_functions.CeilToInt, _ceiling),
    (torch_functions.TruncToInt, _truncated),
)


# -- how an expression is written ------------------------------------------------------------------------


def written(expression: Expression, parts: Sequence[Dimension]) -> Dimension:
    """An expression as inference writes it, of parts that are written; None for what it has no words for."""
    if any(each is None for each in parts):
        return None
    if isinstance(expression, sympy.Add):
        return "+".join(f"({each})" if str(each).startswith("-") else str(each) for each in parts)
    if isinstance(expression, sympy.Mul):
        return "*".join(_factor(each) for each in parts)
    if isinstance(expression, sympy.Pow | torch_functions.PowByNatural):
        base, count = parts
        return "*".join([_factor(base)] * count) if isinstance(count, int) and 1 <= count <= 8 else None
    if isinstance(expression, torch_functions.FloorDiv):
        return f"{_factor(parts[0])}//{_factor(parts[1])}"
    if isinstance(expression, sympy.Max | torch_functions.Max):
        return f"max({','.join(map(str, parts))})"
    if isinstance(expression, sympy.Min | torch_functions.Min):
        return f"min({','.join(map(str, parts))})"
    return None


def _factor(text: Dimension) -> str:
    return str(text) if str(text).isidentifier() or str(text).isdigit() else f"({text})"
