"""The one table of element types: ONNX's codes and names, and numpy's dtypes (ml_dtypes' where numpy has none).

Holds facts; makes no tensors and reads no models. ml_dtypes takes milliseconds to import, and few programs hold its
types: it is imported for the first of them.
"""

from __future__ import annotations

import enum
import functools
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeTypeError, InputTypeError

T = TypeVar("T")

Kind = Literal["float", "signed", "unsigned", "bool", "string", "complex"]


_NUMPY_SCALARS: tuple[type, ...] = (np.generic, bool, float, str)


class DType(enum.IntEnum):
    """An ONNX element type; the value is its code in `TensorProto.DataType`.

    >>> import numpy as np
    >>> from onnxsmith import DType
    >>> DType.FLOAT
    DType.FLOAT
    >>> DType.FLOAT == 1, DType.FLOAT.numpy, DType.FLOAT.spelling
    (True, dtype('float32'), 'float32')
    >>> DType.from_numpy(np.dtype("int8"))
    DType.INT8
    """

    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E4M3FNUZ = 18
    FLOAT8E5M2 = 19
    FLOAT8E5M2FNUZ = 20
    UINT4 = 21
    INT4 = 22
    FLOAT4E2M1 = 23
    FLOAT8E8M0 = 24
    UINT2 = 25
    INT2 = 26
    FLOAT6E2M3 = 27
    FLOAT6E3M2 = 28

    def __eq__(self, other: object) -> bool:
        """Also equal to what else stands for the element type: `x.dtype == np.float32`, `x.dtype == FLOAT`."""
        if isinstance(other, int):
            return int.__eq__(self, other)
        if isinstance(other, np.dtype):
            return self.from_numpy(cast("np.dtype[Any]", other)) is self
        kind = cast(Any, other)
        if isinstance(other, type) and issubclass(kind, _NUMPY_SCALARS):
            return self.from_numpy(np.dtype(kind)) is self
        dtype = getattr(kind, "dtype", None)
        return dtype is self if isinstance(dtype, DType) else NotImplemented

    #: As the number that it is equal to; the one of enumerations is Python code, and types are hashed all the time.
    __hash__ = int.__hash__

    def __repr__(self) -> str:
        return f"DType.{self.name}"

    def __str__(self) -> str:
        return self.spelling

    @functools.cached_property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype that holds it (`object` for strings, ml_dtypes' for what numpy lacks).

        >>> from onnxsmith import DType
        >>> DType.FLOAT.numpy
        dtype('float32')
        """
        found = _FACTS[self].numpy
        return _extended_dtypes()[self] if found is None else found

    @functools.cached_property
    def onnx_name(self) -> str:
        """ONNX's word for it in type strings: `float` in `tensor(float)`.

        >>> from onnxsmith import DType
        >>> DType.FLOAT.onnx_name
        'float'
        """
        return _FACTS[self].onnx_name

    @functools.cached_property
    def spelling(self) -> str:
        """The word Python users know it by: `float32`.

        >>> from onnxsmith import DType
        >>> DType.FLOAT.spelling
        'float32'
        """
        return _FACTS[self].spelling

    @functools.cached_property
    def kind(self) -> Kind:
        """The family that it belongs to.

        >>> from onnxsmith import DType
        >>> DType.FLOAT.kind
        'float'
        """
        return _FACTS[self].kind

    @functools.cached_property
    def bits(self) -> int:
        """How many bits one element takes in a model; 0 for strings.

        >>> from onnxsmith import DType
        >>> DType.INT4.bits
        4
        """
        return _FACTS[self].bits

    @functools.cached_property
    def ir_version(self) -> int:
        """The IR version that it came with: a model that holds it needs at least this one.

        >>> from onnxsmith import DType
        >>> DType.INT4.ir_version
        10
        """
        return _FACTS[self].ir_version

    @functools.cached_property
    def is_float(self) -> bool:
        """True if its elements are floating-point numbers.

        >>> from onnxsmith import DType
        >>> DType.FLOAT.is_float
        True
        """
        return _FACTS[self].kind == "float"

    @functools.cached_property
    def is_integer(self) -> bool:
        """True if its elements are whole numbers.

        >>> from onnxsmith import DType
        >>> DType.INT8.is_integer
        True
        """
        return _FACTS[self].kind in ("signed", "unsigned")

    @functools.cached_property
    def is_native(self) -> bool:
        """True if numpy itself has it, so that every library reads such an array.

        >>> from onnxsmith import DType
        >>> DType.FLOAT.is_native, DType.BFLOAT16.is_native
        (True, False)
        """
        return _FACTS[self].native

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> DType | None:
        """The element type that a numpy dtype stands for, or None.

        >>> import numpy as np
        >>> from onnxsmith import DType
        >>> DType.from_numpy(np.dtype("int8"))
        DType.INT8
        """
        if not isinstance(dtype, np.dtype):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
            raise AttributeTypeError(
                f"DType.from_numpy takes a dtype of numpy, not {described_type(type(dtype))}",
                help='DType.from_numpy(np.dtype("float32"))',
            )
        found = _BY_NUMPY.get(dtype)
        if found is not None:
            return found
        if dtype.kind in "UST":  # fixed-width and variable-width numpy strings
            return cls.STRING
        native = dtype if dtype.isnative else dtype.newbyteorder("=")
        return _BY_NUMPY.get(native) or _by_extended_dtype().get(native)

    @classmethod
    def from_onnx_name(cls, name: str) -> DType | None:
        """The element type of ONNX's word: `float` gives FLOAT.

        >>> from onnxsmith import DType
        >>> DType.from_onnx_name("float")
        DType.FLOAT
        """
        return _BY_ONNX_NAME.get(name) if isinstance(name, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]


class _Facts(NamedTuple):
    onnx_name: str
    spelling: str
    kind: Kind
    bits: int
    numpy: np.dtype[Any] | None  # None: ml_dtypes has it, under the name that is the spelling
    native: bool
    ir_version: int = 3


def _native(onnx_name: str, spelling: str, kind: Kind, bits: int) -> _Facts:
    return _Facts(onnx_name, spelling, kind, bits, np.dtype(object if kind == "string" else spelling), True)


def _extended(name: str, kind: Kind, bits: int, spelling: str, ir_version: int) -> _Facts:
    return _Facts(name, spelling, kind, bits, None, False, ir_version)


_FACTS: dict[DType, _Facts] = {
    DType.FLOAT: _native("float", "float32", "float", 32),
    DType.DOUBLE: _native("double", "float64", "float", 64),
    DType.FLOAT16: _native("float16", "float16", "float", 16),
    DType.BFLOAT16: _extended("bfloat16", "float", 16, "bfloat16", 4),
    DType.INT8: _native("int8", "int8", "signed", 8),
    DType.INT16: _native("int16", "int16", "signed", 16),
    DType.INT32: _native("int32", "int32", "signed", 32),
    DType.INT64: _native("int64", "int64", "signed", 64),
    DType.UINT8: _native("uint8", "uint8", "unsigned", 8),
    DType.UINT16: _native("uint16", "uint16", "unsigned", 16),
    DType.UINT32: _native("uint32", "uint32", "unsigned", 32),
    DType.UINT64: _native("uint64", "uint64", "unsigned", 64),
    DType.BOOL: _native("bool", "bool", "bool", 8),
    DType.STRING: _native("string", "string", "string", 0),
    DType.COMPLEX64: _native("complex64", "complex64", "complex", 64),
    DType.COMPLEX128: _native("complex128", "complex128", "complex", 128),
    DType.FLOAT8E4M3FN: _extended("float8e4m3fn", "float", 8, "float8_e4m3fn", 9),
    DType.FLOAT8E4M3FNUZ: _extended("float8e4m3fnuz", "float", 8, "float8_e4m3fnuz", 9),
    DType.FLOAT8E5M2: _extended("float8e5m2", "float", 8, "float8_e5m2", 9),
    DType.FLOAT8E5M2FNUZ: _extended("float8e5m2fnuz", "float", 8, "float8_e5m2fnuz", 9),
    DType.FLOAT8E8M0: _extended("float8e8m0", "float", 8, "float8_e8m0fnu", 12),
    DType.FLOAT6E2M3: _extended("float6e2m3", "float", 6, "float6_e2m3fn", 14),
    DType.FLOAT6E3M2: _extended("float6e3m2", "float", 6, "float6_e3m2fn", 14),
    DType.FLOAT4E2M1: _extended("float4e2m1", "float", 4, "float4_e2m1fn", 11),
    DType.INT4: _extended("int4", "signed", 4, "int4", 10),
    DType.UINT4: _extended("uint4", "unsigned", 4, "uint4", 10),
    DType.INT2: _extended("int2", "signed", 2, "int2", 13),
    DType.UINT2: _extended("uint2", "unsigned", 2, "uint2", 13),
}

_BY_NUMPY: dict[np.dtype[Any], DType] = {
    facts.numpy: dtype for dtype, facts in _FACTS.items() if facts.numpy is not None
}
_BY_ONNX_NAME: dict[str, DType] = {facts.onnx_name: dtype for dtype, facts in _FACTS.items()}


@functools.cache
def _extended_dtypes() -> dict[DType, np.dtype[Any]]:
    import ml_dtypes  # takes milliseconds, and few programs hold these types

    return {
        dtype: np.dtype(getattr(ml_dtypes, facts.spelling))
        for dtype, facts in _FACTS.items()
        if facts.numpy is None
    }


@functools.cache
def _by_extended_dtype() -> dict[np.dtype[Any], DType]:
    return {numpy: dtype for dtype, numpy in _extended_dtypes().items()}


def numpy_text(dtype: DType) -> str:
    """How code writes an element type where numpy's arrays take it, as tensors do: `x.astype(np.float32)`.

    >>> numpy_text(DType.FLOAT), numpy_text(DType.BFLOAT16), numpy_text(DType.STRING)
    ('np.float32', 'ml_dtypes.bfloat16', 'str')
    """
    if dtype in (DType.STRING, DType.BOOL):  # numpy 1.26 has no np.bool
        return "bool" if dtype is DType.BOOL else "str"
    return f"np.{dtype.spelling}" if dtype.is_native else f"ml_dtypes.{dtype.spelling}"


def refuse_masked(value: T) -> T:
    """The value. Raises InputTypeError for a masked array: tensors have no mask, and what it hides would count."""
    if hasattr(value, "filled") and isinstance(value, np.ndarray):
        raise InputTypeError(
            "a masked array holds elements that do not count, and a tensor has no mask",
            help="fill them, as in x.filled(0), or leave them out with x.compressed()",
        )
    return value


def in_own_byte_order(value: T) -> T:
    """An array in the byte order of the machine, in which runtimes read its memory whatever it says; all else as it is.

    >>> import numpy as np
    >>> in_own_byte_order(np.array([1, 2], ">i4")).dtype.isnative
    True
    """
    if not isinstance(value, np.ndarray):
        return value
    array = cast("np.ndarray[Any, np.dtype[Any]]", value)
    if array.__class__ is not np.ndarray:
        refuse_masked(array)
    return cast(T, array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))
