"""The content of values, where shapes are computed from it: small constants, and integers with symbolic entries.

Computes what numpy would; it never runs a model, and gives up (None) above a small size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import LARGEST_CONTENT, Array
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, TensorType

_INT64_END = 1 << 63


def as_array(known: Known | None) -> Array | None:
    """The content as an array; of objects (ints, expressions, None) where it is not all numbers."""
    data = None if known is None else known.data
    if data is None:
        return None
    if isinstance(data, np.ndarray):
        return data if data.size <= LARGEST_CONTENT else None
    if isinstance(data, tuple):
        if len(data) > LARGEST_CONTENT:
            return None
        return np.array(data, np.int64 if all(isinstance(each, int) for each in data) else object)
    return np.array(data, np.int64 if isinstance(data, int) else object)


def from_array(array: Array) -> Data:
    """The content of a value as `Known` holds it; the reverse of `as_array`."""
    if array.size > LARGEST_CONTENT:
        return None
    is_object = array.dtype == object
    if array.ndim > 1 or not (is_object or array.dtype in _INTEGERS):
        if not is_object:
            return array
        entries: list[Any] = array.ravel().tolist()
        return array.astype(np.int64) if all(isinstance(each, int) for each in entries) else None
    values: Any = array.tolist()
    if array.ndim == 0:
        return bounded(values) if isinstance(values, int | str) else None
    entries = [bounded(each) for each in values]
    # A vector of which nothing is known says no more than its shape does.
    return tuple(entries) if not entries or any(each is not None for each in entries) else None


_INTEGERS = (np.dtype(np.int64), np.dtype(np.int32))


def bounded(entry: Dimension) -> Dimension:
    """Nothing where a number would overflow in the model."""
    return None if isinstance(entry, int) and not -_INT64_END <= entry < _INT64_END else entry


def elementwise(name: str, operands: Sequence[Known | None], dtype: DType | None) -> Data:
    """The content of an elementwise operator's output; `dtype` is the output's element type."""
    if dtype is None or any(each is None or each.data is None for each in operands):
        return None
    arrays = [as_array(each) for each in operands]
    if any(each is None for each in arrays):
        return None
    given = cast("list[Array]", arrays)
    symbolic_function = _SYMBOLIC.get(name)
    if symbolic_function is not None and all(map(_is_integer_vector, operands)):
        return _by_entries(symbolic_function, given)
    function = _NUMPY.get(name)
    if function is None or any(each.dtype == object for each in given):
        return None
    return _by_numpy(name, function, operands, given, dtype)


def _is_integer_vector(known: Known | None) -> bool:
    return (
        known is not None
        and isinstance(known.type, TensorType)
        and known.type.dtype in (DType.INT64, DType.INT32)
        and known.type.shape is not None
        and len(known.type.shape) <= 1
    )


def _by_entries(function: Callable[..., Any], arrays: Sequence[Array]) -> Data:
    length = max(each.size for each in arrays)
    rank = max(each.ndim for each in arrays)
    if any(each.size not in (1, length) for each in arrays):
        return None
    columns: list[list[Any]] = []
    for each in arrays:
        values: list[Any] = each.ravel().tolist()
        columns.append(values * length if len(values) == 1 else values)
    entries: list[Any] = [function(*row) for row in zip(*columns, strict=True)]
    if entries and isinstance(entries[0], bool | None) and function in _TESTS:
        if any(each is None for each in entries):
            return None
        return np.array(entries if rank else entries[0], bool)
    if rank == 0:
        return bounded(entries[0])
    return from_array(np.array(entries, object)) if entries else ()


def _by_numpy(
    name: str,
    function: Callable[..., Array],
    operands: Sequence[Known | None],
    arrays: Sequence[Array],
    dtype: DType,
) -> Data:
    typed: list[Array] = []
    for known, array in zip(operands, arrays, strict=True):
        own = known.type.dtype if known is not None and isinstance(known.type, TensorType) else None
        if own is None or own is DType.STRING:
            return None
        typed.append(array.astype(own.numpy, copy=False))
    if name in ("Div", "Mod") and dtype.is_integer and not typed[1].all():
        return None
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(function(*typed))
        return from_array(result.astype(dtype.numpy, copy=False)) if result.size <= LARGEST_CONTENT else None
    except (
        TypeError,
        ValueError,
    ):  # numpy has no such function for this element type, or the shapes are wrong
        return None


def _divide(left: Array, right: Array) -> Array:
    if left.dtype.kind not in "iu":
        return left / right
    quotient = np.abs(left) // np.abs(right)
    return np.where((left < 0) == (right < 0), quotient, -quotient)


def _negative(entry: Dimension) -> Dimension:
    return symbolic.sub(0, entry)


def _magnitude(entry: Dimension) -> Dimension:
    if isinstance(entry, int):
        return abs(entry)
    return entry if symbolic.is_at_least(entry, 0) else None


_TESTS = {
    symbolic.compare_equal,
    symbolic.compare_less,
    symbolic.compare_greater,
    symbolic.compare_less_or_equal,
    symbolic.compare_greater_or_equal,
}

_SYMBOLIC: dict[str, Callable[..., Any]] = {
    "Add": symbolic.add,
    "Sub": symbolic.sub,
    "Mul": symbolic.mul,
    "Div": symbolic.truncdiv,
    "Mod": symbolic.mod,
    "Min": symbolic.minimum,
    "Max": symbolic.maximum,
    "Neg": _negative,
    "Abs": _magnitude,
    "Equal": symbolic.compare_equal,
    "Less": symbolic.compare_less,
    "Greater": symbolic.compare_greater,
    "LessOrEqual": symbolic.compare_less_or_equal,
    "GreaterOrEqual": symbolic.compare_greater_or_equal,
}

_NUMPY: dict[str, Callable[..., Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _divide,
    "Mod": np.mod,
    "Pow": np.power,
    "Min": np.minimum,
    "Max": np.maximum,
    "Neg": np.negative,
    "Abs": np.abs,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.rint,
    "Sqrt": np.sqrt,
    "Reciprocal": np.reciprocal,
    "Equal": np.equal,
    "Less": np.less,
    "Greater": np.greater,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
    "Not": np.logical_not,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
}


def choose(condition: Known | None, left: Known | None, right: Known | None) -> Data:
    """The content of `Where`."""
    chosen, first, second = as_array(condition), as_array(left), as_array(right)
    if chosen is None or first is None or second is None or chosen.dtype != np.bool_:
        return None
    try:
        return from_array(np.where(chosen, first, second))
    except ValueError:  # the shapes do not fit, or only the sizes would tell
        return None
