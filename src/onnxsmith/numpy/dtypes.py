"""Element types as numpy has them, and how they combine: NEP 50, whatever numpy is installed.

Between element types numpy's own table is asked. A Python number has only a kind, and takes the type of what it meets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.errors import InputTypeError
from onnxsmith.types.annotations import DTypeLike as AnyDType
from onnxsmith.types.annotations import read_dtype
from onnxsmith.types.dtypes import DType

#: An element type of numpy's.
NumpyDType: TypeAlias = np.dtype[Any]
#: What has a kind and no element type.
PythonScalar: TypeAlias = bool | int | float | complex

BOOL: NumpyDType = np.dtype(np.bool_)
INT64: NumpyDType = np.dtype(np.int64)
FLOAT64: NumpyDType = np.dtype(np.float64)
COMPLEX64: NumpyDType = np.dtype(np.complex64)
COMPLEX128: NumpyDType = np.dtype(np.complex128)

#: The element types that arrays have, in the order of the standard.
DTYPES: tuple[NumpyDType, ...] = tuple(
    np.dtype(each)
    for each in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
)
_KNOWN = frozenset(DTYPES)
#: What the parts of a complex number are.
_PARTS: dict[NumpyDType, NumpyDType] = {COMPLEX64: np.dtype(np.float32), COMPLEX128: FLOAT64}
_DEFAULTS: dict[type, NumpyDType] = {bool: BOOL, int: INT64, float: FLOAT64, complex: COMPLEX128}
_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_SCALAR_KINDS = {bool: 0, int: 1, float: 2, complex: 3}


def read(dtype: object) -> NumpyDType:
    """An element type as a user writes it: numpy's, Python's, ONNX's, or its name."""
    if isinstance(dtype, type) and issubclass(dtype, np.dtype):
        dtype = cast("Any", dtype)()  # numpy's class of an element type, which has one instance
    found = DType.COMPLEX128 if dtype is complex else read_dtype(cast("AnyDType", dtype))
    made = None if found is None else found.numpy
    if made is None or made not in _KNOWN:
        raise InputTypeError(
            f"{dtype!r} is no element type of arrays",
            help=f"there are {', '.join(each.name for each in DTYPES)}",
        )
    return made


def check(dtype: NumpyDType) -> NumpyDType:
    """An array's element type, refused where the standard has none of it."""
    if dtype not in _KNOWN:
        return read(dtype)
    return dtype


def onnx_type(dtype: NumpyDType) -> DType:
    """The element type of the tensor that stands for an array; of each part for complex numbers."""
    found = DType.from_numpy(_PARTS.get(dtype, dtype))
    assert found is not None  # arrays have the element types of `DTYPES`
    return found


def part(dtype: NumpyDType) -> NumpyDType:
    """The element type of real and imaginary parts; a real one is its own."""
    return _PARTS.get(dtype, dtype)


def complex_of(dtype: NumpyDType) -> NumpyDType:
    """The complex type whose parts hold an element type."""
    return COMPLEX64 if dtype in (np.dtype(np.float16), np.dtype(np.float32), COMPLEX64) else COMPLEX128


def default_of(scalar: PythonScalar | type) -> NumpyDType:
    """The element type of a Python number that meets no array."""
    kind = scalar if isinstance(scalar, type) else type(scalar)
    return _DEFAULTS[kind]


def is_scalar(value: object) -> bool:
    """True if a value is a Python number, which has no element type of its own."""
    return value.__class__ in _DEFAULTS


def with_scalar(dtype: NumpyDType, scalar: type) -> NumpyDType:
    """The element type of an array combined with a Python number of a class."""
    kind = _SCALAR_KINDS[scalar]
    if _KINDS[dtype.kind] >= kind:
        return dtype
    if kind == 3:
        return complex_of(dtype) if dtype.kind == "f" else COMPLEX128
    return _DEFAULTS[scalar]


def promoted(dtypes: Sequence[NumpyDType], scalars: Sequence[type] = ()) -> NumpyDType:
    """The element type that all go into."""
    if not dtypes:
        return _DEFAULTS[max(scalars, key=_SCALAR_KINDS.__getitem__)]
    result = dtypes[0]
    for each in dtypes[1:]:
        result = np.promote_types(result, each)
    for scalar in scalars:
        result = with_scalar(result, scalar)
    return result
