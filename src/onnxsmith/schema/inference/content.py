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
from onnxsmith.types.value_types import Dimension, Shape, TensorType

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
    symbolic_function = _SYMBOLIC.get(name)
    if symbolic_function is not None:
        columns = [_entries(each) for each in operands]
        if None not in columns:
            return _by_entries(symbolic_function, cast("list[tuple[int, list[Dimension]]]", columns))
    function = _NUMPY.get(name)
    arrays = [as_array(each) for each in operands]
    given = [each for each in arrays if each is not None and each.dtype != object]
    if function is None or len(given) < len(arrays):
        return None
    return _by_numpy(name, function, operands, given, dtype)


def _entries(known: Known | None) -> tuple[int, list[Dimension]] | None:
    """The rank and the entries of an integer scalar or vector; None for anything else."""
    if known is None or not isinstance(known.type, TensorType) or known.type.dtype not in _INTEGER_DTYPES:
        return None
    data = known.data
    if isinstance(data, tuple):
        return 1, list(data)
    if isinstance(data, int | str):
        return 0, [data]
    if data is None or data.ndim > 1 or data.size > LARGEST_CONTENT:
        return None
    return data.ndim, data.tolist() if data.ndim else [data.item()]


_INTEGER_DTYPES = frozenset({DType.INT64, DType.INT32})


def _by_entries(function: Callable[..., Any], columns: Sequence[tuple[int, list[Dimension]]]) -> Data:
    sizes = {len(entries) for _, entries in columns} - {1}
    if len(sizes) > 1:
        return None
    length = sizes.pop() if sizes else 1
    rows = zip(*(entries * length if len(entries) == 1 else entries for _, entries in columns), strict=True)
    out: list[Any] = [function(*row) for row in rows]
    is_vector = any(rank for rank, _ in columns)
    if function in _TESTS:
        return None if None in out else np.array(out if is_vector else out[0], bool)
    entries = [bounded(each) for each in out]
    if not is_vector:
        return entries[0]
    # A vector of which nothing is known says no more than its shape does.
    return tuple(entries) if not entries or any(each is not None for each in entries) else None


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
        if result.size > LARGEST_CONTENT or not fits(result, dtype):
            return None
        return from_array(result.astype(dtype.numpy, copy=False))
    except (
        TypeError,
        ValueError,
    ):  # numpy has no such function for this element type, or the shapes are wrong
        return None


def fits(result: Array, dtype: DType) -> bool:
    """True if floats that become integers are in their range: past it, each processor gives another number."""
    if result.dtype.kind != "f" or not dtype.is_integer:
        return True
    is_unsigned = dtype.kind == "unsigned"
    low, end = (
        (-1.0, 2.0**dtype.bits) if is_unsigned else (-(2.0 ** (dtype.bits - 1)), 2.0 ** (dtype.bits - 1))
    )
    wide = result.astype(np.float64)  # a float16 is compared with no number beyond its own range
    return bool(((low < wide) & (wide < end)).all())


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


def moved(known: Known | None, shape: Shape) -> Data:
    """The content of a value under another shape."""
    if known is None or known.data is None:
        return None
    data = known.data
    if isinstance(data, tuple) and len(shape) <= 1:
        return data if shape == (len(data),) else data[0] if not shape and len(data) == 1 else None
    if isinstance(data, int | str) and len(shape) <= 1:
        return data if not shape else (data,) if shape == (1,) else None
    array = as_array(known)
    sizes = [each for each in shape if isinstance(each, int)]
    if array is None or len(sizes) < len(shape):
        return None
    try:
        return from_array(array.reshape(sizes))
    except ValueError:
        return None
