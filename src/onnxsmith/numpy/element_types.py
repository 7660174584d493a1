"""Functions of element types in numpy and the Array API: `astype`, `result_type`, `can_cast`, `finfo`, `isdtype`."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.errors import AttributeValueError, InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, Device, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, as_type
from onnxsmith.numpy.creation import check_device
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.sharing import detached

#: A kind of element types by its name, an element type, or several of these.
Kind: TypeAlias = "str | DTypeLike | tuple[Kind, ...]"

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


@public("astype")
def astype(
    x: ArrayLike,
    dtype: DTypeLike | None,
    /,
    *,
    copy: bool = True,
    device: Device = None,
    casting: str = "unsafe",
) -> Array:
    """The elements in another type, as numpy converts them.

    >>> import onnxsmith.numpy as xp
    >>> xp.astype(xp.asarray([1.7, -1.7]), xp.int32)
    Array([ 1, -1], dtype=int32)
    """
    check_device(device)
    array = array_of(x)
    wanted = dtypes.read(dtype)
    if not np.can_cast(array.dtype, wanted, cast(Any, casting)):
        raise AttributeValueError(
            f"{array.dtype.name} does not go into {wanted.name} by the rule {casting!r}",
            culprit=("attribute", "casting"),
        )
    made = as_type(array, wanted)
    own = detached(made) if copy or made is not array else made
    return own.as_number() if array.is_number else own


def _dtype_of(value: object) -> NumpyDType:
    return value.dtype if isinstance(value, Array) else dtypes.read(value)


@public("result_type")
def result_type(*arrays_and_dtypes: ArrayLike) -> NumpyDType:
    """The element type that all go into; Python numbers only have a kind.

    >>> import onnxsmith.numpy as xp
    >>> xp.result_type(xp.asarray([1], dtype=xp.int8), xp.float32)
    dtype('float32')
    """
    scalars = [type(each) for each in arrays_and_dtypes if dtypes.is_scalar(each)]
    others = [
        cast(np.ndarray[Any, Any], each).dtype
        if isinstance(each, np.ndarray | np.generic)
        else _dtype_of(each)
        for each in arrays_and_dtypes
        if not dtypes.is_scalar(each)
    ]
    if not others and not scalars:
        raise AttributeValueError("at least one array or element type is needed")
    return dtypes.promoted(others, scalars)


@public("common_type")
def common_type(*arrays: ArrayLike) -> type:
    """The type of floats, or complex numbers, that all arrays go into; integers count as float64.

    >>> import onnxsmith.numpy as xp
    >>> xp.common_type(xp.asarray([1], dtype=xp.int32))
    <class 'numpy.float64'>
    """
    kinds = [array_of(each).dtype for each in arrays]
    if any(each.kind == "b" for each in kinds):
        raise InputTypeError("truth values have no common type with numbers")
    return cast(type, np.common_type(*[np.empty(0, each) for each in kinds]))


@public("min_scalar_type")
def min_scalar_type(a: ArrayLike, /) -> NumpyDType:
    """The smallest element type that holds a number; the element type of an array.

    >>> import onnxsmith.numpy as xp
    >>> xp.min_scalar_type(300)
    dtype('uint16')
    """
    array = array_of(a)
    return array.dtype if array.ndim else np.min_scalar_type(np.asarray(array))


@public("promote_types")
def promote_types(type1: DTypeLike | None, type2: DTypeLike | None) -> NumpyDType:
    """The element type that two go into.

    >>> import onnxsmith.numpy as xp
    >>> xp.promote_types(xp.int64, xp.float32)
    dtype('float64')
    """
    return np.promote_types(dtypes.read(type1), dtypes.read(type2))


@public("can_cast")
def can_cast(from_: DTypeLike | None, to: DTypeLike | None, /, casting: str = "safe") -> bool:
    """True if one element type can be cast to another.

    >>> import onnxsmith.numpy as xp
    >>> xp.can_cast(xp.int8, xp.float32), xp.can_cast(xp.float64, xp.float32)
    (True, False)
    """
    return bool(np.can_cast(_dtype_of(from_), dtypes.read(to), cast(Any, casting)))


@public("isdtype")
def isdtype(dtype: DTypeLike | None, kind: Kind) -> bool:
    """True if an element type is of a kind, such as 'real floating', or is equal to another one.

    >>> import onnxsmith.numpy as xp
    >>> xp.isdtype(xp.int8, "integral")
    True
    """
    given = dtypes.read(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(given, each) for each in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise AttributeValueError(
                f"there is no kind {kind!r}",
                help=f"kinds are {', '.join(_KINDS)}",
                culprit=("attribute", "kind"),
            )
        return given.kind in _KINDS[kind]
    return given == dtypes.read(kind)


@public("issubdtype")
def issubdtype(arg1: DTypeLike | None, arg2: DTypeLike | None) -> bool:
    """numpy's own, on element types.

    >>> import onnxsmith.numpy as xp
    >>> import numpy as np
    >>> xp.issubdtype(xp.float32, np.floating)
    True
    """
    return bool(np.issubdtype(cast(Any, arg1), cast(Any, arg2)))


class FloatLimits:
    """The limits of a type of floats, as Python floats."""

    def __init__(self, dtype: NumpyDType) -> None:
        found = np.finfo(dtype)
        self.dtype: NumpyDType = found.dtype
        self.bits: int = found.bits
        self.eps = float(found.eps)
        self.max = float(found.max)
        self.min = float(found.min)
        self.smallest_normal = self.tiny = float(found.smallest_normal)
        self.smallest_subnormal = float(found.smallest_subnormal)
        self.resolution = float(found.resolution)
        self.precision: int = found.precision

    def __repr__(self) -> str:
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype={self.dtype.name})"


@public("finfo")
def finfo(dtype: DTypeLike | None, /) -> FloatLimits:
    """The limits of a type of floats; of the parts of a complex one.

    >>> import onnxsmith.numpy as xp
    >>> xp.finfo(xp.float32).eps
    1.1920928955078125e-07
    """
    given = _dtype_of(dtype)
    if given.kind not in "fc":
        raise AttributeValueError(f"{given.name} is no type of floats", help="xp.iinfo is for integers")
    return FloatLimits(given)


@public("iinfo")
def iinfo(dtype: DTypeLike | None, /) -> np.iinfo[Any]:
    """The limits of a type of integers.

    >>> import onnxsmith.numpy as xp
    >>> xp.iinfo(xp.int8).max
    127
    """
    given = _dtype_of(dtype)
    if given.kind not in "iu":
        raise AttributeValueError(f"{given.name} is no type of integers", help="xp.finfo is for floats")
    return np.iinfo(given)


# -- about the namespace ---------------------------------------------------------------------------------


class NamespaceInfo:
    """The object that `__array_namespace_info__` gives: devices, element types, capabilities."""

    def capabilities(self) -> dict[str, Any]:
        """The kinds of shapes that are allowed, and the largest number of dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Where arrays are unless somebody says otherwise."""
        return "cpu"

    def default_dtypes(self, *, device: Device = None) -> dict[str, NumpyDType]:
        """The element types of Python numbers."""
        check_device(device)
        return {
            "real floating": dtypes.FLOAT64,
            "complex floating": dtypes.COMPLEX128,
            "integral": dtypes.INT64,
            "indexing": dtypes.INT64,
        }

    def dtypes(self, *, device: Device = None, kind: Kind | None = None) -> dict[str, NumpyDType]:
        """The element types by name, all or of a kind."""
        check_device(device)
        # float16 is there, but the standard does not know it.
        standard = [each for each in dtypes.DTYPES if each.name != "float16"]
        return {each.name: each for each in standard if kind is None or isdtype(each, kind)}

    def devices(self) -> list[str]:
        """All devices."""
        return ["cpu"]


@public("__array_namespace_info__")
def array_namespace_info() -> NamespaceInfo:
    """A description of what the namespace can do."""
    return NamespaceInfo()
