"""Python's operators on tensors that stand in the place of numpy's arrays: the element types that numpy computes in.

A function of arrays adds and multiplies as numpy does, and element types mix. Where a graph is recorded of such a
function, its target says so (`mixes_dtypes`), and both sides of an operator are converted here before it is called.
Operators that the user calls by name are ONNX's, and do not come here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.operands import dtype_of, operators_for
from onnxsmith.core.semantics import arithmetic, bits
from onnxsmith.core.semantics.numpys_scalar import NumpysScalar
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import NumberValue, Operand, TensorValue, Value
from onnxsmith.types.dtypes import DType

#: `divmod` gives two.
Results: TypeAlias = TensorValue | tuple[TensorValue, TensorValue]
#: A Python operator on two tensors.
Meaning: TypeAlias = "Callable[[Operand, Operand], Results]"

#: numpy's function behind each operator, which knows the element types.
UFUNCS: dict[Meaning, np.ufunc] = {
    arithmetic.add: np.add,
    arithmetic.subtract: np.subtract,
    arithmetic.multiply: np.multiply,
    arithmetic.divide: np.true_divide,
    arithmetic.floor_divide: np.floor_divide,
    arithmetic.remainder: np.remainder,
    arithmetic.divide_with_remainder: np.divmod,
    arithmetic.power: np.power,
    arithmetic.matmul: np.matmul,
    bits.bitwise_and: np.bitwise_and,
    bits.bitwise_or: np.bitwise_or,
    bits.bitwise_xor: np.bitwise_xor,
    bits.shift_left: np.left_shift,
    bits.shift_right: np.right_shift,
    arithmetic.equal: np.equal,
    arithmetic.not_equal: np.not_equal,
    arithmetic.less: np.less,
    arithmetic.less_equal: np.less_equal,
    arithmetic.greater: np.greater,
    arithmetic.greater_equal: np.greater_equal,
}
#: What numpy computes on truth values, and ONNX has under another name.
_ON_BOOLS: dict[Meaning, Meaning] = {
    arithmetic.add: bits.bitwise_or,
    arithmetic.multiply: bits.bitwise_and,
}


def compute(meaning: Meaning, a: Operand, b: Operand) -> Results:
    """An operator on two values: in a function of arrays, in the element types that numpy takes."""
    active = ACTIVE.get()
    if active is None or not active.mixes_dtypes:
        return meaning(a, b)
    a, b = (each.tensor if isinstance(each, NumpysScalar) else each for each in (a, b))
    resolved = _resolved(UFUNCS[meaning], a, b)
    if resolved is None:  # no numbers of numpy's: the operator says what is wrong
        return meaning(a, b)
    if all(each.kind == "b" for each in resolved):
        meaning = _ON_BOOLS.get(meaning, meaning)
    return meaning(_converted(a, resolved[0]), _converted(b, resolved[1]))


def _resolved(ufunc: np.ufunc, a: Operand, b: Operand) -> tuple[np.dtype[Any], np.dtype[Any]] | None:
    """The element types that numpy converts both sides to."""
    given = _given_type(a), _given_type(b)
    # By identity: numpy takes None for float64 where it compares.
    if any(each is None for each in given) or all(isinstance(each, type) for each in given):
        return None
    try:
        found = ufunc.resolve_dtypes(cast(Any, (*given, *[None] * ufunc.nout)))
    except TypeError:  # numpy has no such operation
        return None
    return found[0], found[1]


def _given_type(value: Operand) -> np.dtype[Any] | type | None:
    """The element type as numpy sees it: `int` and `float` are Python's own numbers, which give way."""
    if isinstance(value, NumberValue):
        kind = type(value.sample)
        return np.dtype(bool) if kind is bool else kind
    if isinstance(value, Value):
        dtype = dtype_of(value)
        return None if dtype is None or dtype is DType.STRING else dtype.numpy
    if isinstance(value, np.generic | np.ndarray):
        return cast("np.ndarray[Any, Any]", value).dtype
    if isinstance(value, bool):
        return np.dtype(bool)
    if isinstance(value, int | float):
        return type(value)
    if isinstance(value, list | tuple):
        try:
            found = np.asarray(cast(Any, value)).dtype
        except (ValueError, TypeError):  # of several lengths, or of tensors
            return None
        return found if found.kind in "biuf" else None
    return None


def _converted(value: Operand, dtype: np.dtype[Any]) -> Operand:
    """One side in an element type; Python's own numbers stay, and take the type of the other side."""
    if isinstance(value, NumberValue):
        wanted = DType.from_numpy(dtype)
        return value if wanted is None else value.as_dtype(wanted)
    if isinstance(value, Value):
        wanted = DType.from_numpy(dtype)
        if wanted is None or dtype_of(value) is wanted:
            return value
        return operators_for(value).Cast(value, to=wanted)
    if isinstance(value, np.ndarray | np.generic):
        array = cast("np.ndarray[Any, Any]", value)
        return array if array.dtype == dtype else np.asarray(array).astype(dtype)
    return np.asarray(cast(Any, value), dtype) if isinstance(value, list | tuple) else value
