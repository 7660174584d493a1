"""Reads what stands in an annotation, or is given as an example, as the type of a value or of an attribute.

Compares the sizes of dimensions of one name, too. Evaluating an annotation's text is the caller's business; here it is
an object already.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from onnxsmith.errors import AnnotationError
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    MapType,
    OptionalType,
    SequenceType,
    Shape,
    TensorType,
    ValueType,
)

#: An array whose type is meant.
Example: TypeAlias = "np.ndarray[Any, Any] | np.generic[Any]"
_Literal: TypeAlias = bool | int | float | complex | str | bytes
#: What an input may be given as: arrays, what numpy makes arrays of, sequences and maps of these.
ExampleValue: TypeAlias = "Example | SupportsArray | _Literal | list[ExampleValue] | dict[Any, ExampleValue]"


class SupportsArray(typing.Protocol):
    """An object that numpy can make an array of."""

    def __array__(self) -> np.ndarray[Any, Any]: ...


#: What `typing` makes of types.
_Made: TypeAlias = types.GenericAlias | types.UnionType | typing.TypeVar
#: What may stand in an annotation.
Annotation: TypeAlias = "AnyValueType | DType | Example | type[Any] | _Made | str | None"

_SEQUENCE_ORIGINS = (list, collections.abc.Sequence)
_UNION_ORIGINS = (typing.Union, types.UnionType)
_HELP = "write FLOAT[...], FLOAT['N', 4], Sequence[FLOAT[...]] or Optional[FLOAT[...]]"


@dataclass(frozen=True, slots=True)
class AttributeAnnotation:
    """An annotation that makes a parameter an attribute: `int`, `float`, `str`, `bool`, a list of them, a TensorProto.

    A tensor is an array wherever it is used, and `scalar` then is numpy's class.
    """

    scalar: type[int] | type[float] | type[str] | type[bool] | type[np.ndarray[Any, Any]]
    is_list: bool = False


_ATTRIBUTE_SCALARS = (int, float, str, bool)


def read_value_type(annotation: Annotation, where: str = "annotation") -> AnyValueType:
    """The value type that an annotation stands for; `where` names it in the error."""
    if isinstance(annotation, TensorType | SequenceType | OptionalType):
        return annotation
    if isinstance(annotation, DType):
        return TensorType(annotation, ())
    if isinstance(annotation, np.ndarray | np.generic):
        return type_of_example(annotation, where)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _read_annotated(arguments, where)
    if origin in _SEQUENCE_ORIGINS and len(arguments) == 1:
        return SequenceType(read_value_type(arguments[0], f"the element of {where}"))
    if origin is dict and len(arguments) == 2:
        key, value = (read_value_type(each, f"a part of {where}") for each in arguments)
        if isinstance(key, TensorType) and key.dtype is not None and isinstance(value, TensorType):
            return MapType(key.dtype, value)
    if isinstance(annotation, typing.TypeVar):
        if annotation.__constraints__:
            return _one_of(annotation.__constraints__, where)
        if annotation.__bound__ is None:
            return UNKNOWN_TENSOR
        bound = read_value_type(annotation.__bound__, where)
        return _with_open_shape(bound) if isinstance(bound, TensorType) else bound
    if origin in _UNION_ORIGINS:
        return _read_union(annotation, arguments, where)
    raise AnnotationError(f"{where} is {_shown(annotation)}, which is no tensor type", help=_HELP)


def _read_annotated(arguments: tuple[Any, ...], where: str) -> AnyValueType:
    base, *dimensions = arguments
    if not isinstance(base, TensorType):
        return read_value_type(base, where)
    if base.shape != ():
        return base  # it has its shape: what follows is somebody else's
    return base[...] if dimensions == [...] else base[tuple(dimensions)]


def _read_union(annotation: Annotation, arguments: tuple[Any, ...], where: str) -> AnyValueType:
    present = [each for each in arguments if each is not type(None)]
    if len(present) == 1 and len(arguments) == 2:
        element = read_value_type(present[0], where)
        if isinstance(element, TensorType | SequenceType):
            return OptionalType(element)
    if len(present) == len(arguments):
        return _one_of(arguments, where)
    raise AnnotationError(
        f"{where} is {_shown(annotation)}: an ONNX value has one type, or one type and None", help=_HELP
    )


def _one_of(annotations: tuple[Any, ...], where: str) -> TensorType:
    """The type that covers all of these types: a function is made for the one that it is called with.

    Of types without brackets it has any shape: `Union[FLOAT, DOUBLE]` names element types, as in onnxscript's library.
    """
    kinds = [read_value_type(each, where) for each in annotations]
    tensors = [each for each in kinds if isinstance(each, TensorType)]
    if len(tensors) != len(kinds):
        raise AnnotationError(
            f"{where} is a tensor or something else: an ONNX value has one type", help=_HELP
        )
    dtypes, shapes = {each.dtype for each in tensors}, {each.shape for each in tensors}
    dtype, shape = dtypes.pop() if len(dtypes) == 1 else None, shapes.pop() if len(shapes) == 1 else None
    return _with_open_shape(TensorType(dtype, shape))


def choice_of_dtypes(annotation: Annotation) -> tuple[DType, ...]:
    """The element types of an annotation that allows several, in its order; none where it names one or leaves it open.

    >>> from typing import Union
    >>> from onnxsmith import DOUBLE, FLOAT
    >>> [each.name for each in choice_of_dtypes(Union[FLOAT["N"], DOUBLE["N"]])]
    ['FLOAT', 'DOUBLE']
    """
    found = _dtypes(annotation)
    return tuple(each for each in found if each is not None) if len(found) > 1 and None not in found else ()


def _dtypes(annotation: Annotation) -> dict[DType | None, None]:
    """The element types that an annotation names, in its order; None among them where one is open."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _dtypes(typing.get_args(annotation)[0])
    if isinstance(annotation, typing.TypeVar):
        parts = annotation.__constraints__ or (annotation.__bound__,)
    elif typing.get_origin(annotation) in _UNION_ORIGINS:
        parts = [each for each in typing.get_args(annotation) if each is not type(None)]
    else:
        return {read_dtype(annotation) if isinstance(annotation, DType | TensorType) else None: None}
    return {dtype: None for each in parts for dtype in _dtypes(each)}


def type_variable(annotation: Annotation) -> typing.TypeVar | None:
    """The type variable that an annotation is, by itself or beside None."""
    parts = [each for each in typing.get_args(annotation) if each is not type(None)]
    if typing.get_origin(annotation) in _UNION_ORIGINS and len(parts) == 1:
        return type_variable(parts[0])
    return annotation if isinstance(annotation, typing.TypeVar) else None


def _with_open_shape(kind: TensorType) -> TensorType:
    """The type of a tensor of any shape, where a type without brackets is one of several."""
    return TensorType(kind.dtype, None) if kind.shape == () else kind


def read_attribute_annotation(annotation: Annotation) -> AttributeAnnotation | None:
    """The attribute type that an annotation stands for, or None when it is not one."""
    if isinstance(annotation, type) and annotation in _ATTRIBUTE_SCALARS:
        return AttributeAnnotation(annotation)  # pyright: ignore[reportArgumentType]  # one of the four, checked above
    # By name: this module is imported where onnx is not.
    if getattr(annotation, "__name__", "") == "TensorProto" and hasattr(annotation, "SerializeToString"):
        return AttributeAnnotation(np.ndarray)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        kinds: set[type[Any]] = {type(each) for each in arguments}
        return read_attribute_annotation(kinds.pop()) if len(kinds) == 1 else None
    if origin is tuple and len(arguments) == 2 and arguments[1] is ...:
        arguments = arguments[:1]
    elif origin not in _SEQUENCE_ORIGINS:
        return None
    if len(arguments) == 1 and arguments[0] in _ATTRIBUTE_SCALARS:
        return AttributeAnnotation(arguments[0], is_list=True)
    return None


def type_of_example(example: ExampleValue, where: str = "example") -> AnyValueType:
    """The type of an example value: an array's dtype and shape, a list's common element type."""
    own = getattr(example, "type", None)
    if isinstance(
        own, TensorType
    ):  # of a tensor, or of an array on a device, whose elements are not read here
        return own
    if isinstance(example, dict) and example:
        return _type_of_map(example)
    if isinstance(example, list) and example:
        elements = [type_of_example(each, where) for each in example]
        first = elements[0]
        if isinstance(first, MapType):
            return SequenceType(first)
        if isinstance(first, TensorType):
            same = all(each == first for each in elements)
            return SequenceType(first if same else TensorType(first.dtype, None))
    try:
        array = np.asarray(example)
    except (RuntimeError, TypeError) as error:  # a tensor of PyTorch with a gradient, or without content
        raise AnnotationError(f"{where} is no array: {error}") from error
    dtype = DType.from_numpy(array.dtype)
    if dtype is None:
        raise AnnotationError(f"{where} has the numpy dtype {array.dtype}, which ONNX does not have")
    return TensorType(dtype, array.shape)


def _type_of_map(example: dict[Any, ExampleValue]) -> MapType:
    key, value = next(iter(example.items()))
    key_dtype = DType.STRING if isinstance(key, str) else DType.INT64
    dtype = DType.STRING if isinstance(value, str) else DType.from_numpy(np.asarray(value).dtype)
    if isinstance(value, float) and not isinstance(value, np.floating):
        dtype = DType.FLOAT  # Python floats are FLOAT, as everywhere in ONNX
    return MapType(key_dtype, TensorType(dtype, ()))


#: What means an element type: FLOAT, FLOAT.dtype, DType.FLOAT, np.float32, np.dtype("float32"), "float32", float or 1.
DTypeLike: TypeAlias = DType | TensorType | np.dtype[Any] | type[Any] | str | int


def read_dtype(value: DTypeLike | ValueType | None) -> DType | None:
    """The element type that a user means by FLOAT, FLOAT.dtype, DType.FLOAT, np.float32, "float32" or 1."""
    if isinstance(value, DType):
        return value
    if isinstance(value, TensorType):
        return value.dtype
    if isinstance(value, int) and not isinstance(value, bool):
        return DType(value) if value in DType._value2member_map_ else None
    if value is bool or value is np.bool_:
        return DType.BOOL
    if value is int:
        return DType.INT64
    if value is float:
        return DType.DOUBLE  # as numpy reads it
    if value is str:
        return DType.STRING
    if isinstance(value, str) and (value == "string" or DType.from_onnx_name(value) is not None):
        return DType.from_onnx_name(value)
    if value is None or isinstance(value, ValueType):
        return None
    try:
        return DType.from_numpy(np.dtype(typing.cast(Any, value)))
    except (TypeError, ValueError, OverflowError, SyntaxError):  # a ValueError says what UTF-8 does not have
        return None


def _shown(annotation: Annotation) -> str:
    if typing.get_origin(annotation) in _UNION_ORIGINS:
        return " | ".join(_shown(each) for each in typing.get_args(annotation))
    return annotation.__name__ if isinstance(annotation, type) else repr(annotation)


__all__ = [
    "UNKNOWN_TENSOR",
    "AttributeAnnotation",
    "choice_of_dtypes",
    "read_attribute_annotation",
    "read_dtype",
    "read_value_type",
    "type_of_example",
    "type_variable",
]


# -- The law of named dimensions: in the inputs of one call, the same name is the same size --


class Contradiction(NamedTuple):
    """A name that stands for two sizes: where it was read first, and where it is another."""

    name: str
    first: str
    first_size: int
    second: str
    second_size: int

    @property
    def described(self) -> str:
        """In words."""
        here = f"{self.first_size} in '{self.first}'"
        there = f"{self.second_size}" + (
            f" in '{self.second}'" if self.second != self.first else " further on"
        )
        return f"dimension '{self.name}' is {here} and {there}"


def named_shape(kind: AnyValueType) -> Shape:
    """The dimensions of a tensor type, or of an optional one; none of others."""
    kind = kind.element if isinstance(kind, OptionalType) else kind
    return (kind.shape or ()) if isinstance(kind, TensorType) else ()


def has_repeated_names(kinds: Iterable[AnyValueType]) -> bool:
    """True if a name stands more than once, so that calls can break the law."""
    names = [each for kind in kinds for each in named_shape(kind) if isinstance(each, str)]
    return len(names) != len(set(names))


class EqualSizes(NamedTuple):
    """Two places that one name says are of one size: an input and an axis of it, and another."""

    first: int
    first_axis: int
    second: int
    second_axis: int


def equal_sizes(kinds: Iterable[AnyValueType]) -> tuple[EqualSizes, ...]:
    """The law as places to compare, for a caller who asks it of many calls and has no time to read types.

    >>> from onnxsmith.types.dtypes import DType
    >>> equal_sizes([TensorType(DType.FLOAT, ("N", 4)), TensorType(DType.FLOAT, ("N",))])
    (EqualSizes(first=0, first_axis=0, second=1, second_axis=0),)
    """
    seen: dict[str, tuple[int, int]] = {}
    found: list[EqualSizes] = []
    for position, kind in enumerate(kinds):
        for axis, name in enumerate(named_shape(kind)):
            if isinstance(name, str):
                first = seen.setdefault(name, (position, axis))
                if first != (position, axis):
                    found.append(EqualSizes(*first, position, axis))
    return tuple(found)


def contradiction(inputs: Iterable[tuple[str, AnyValueType, object]]) -> Contradiction | None:
    """The first name that two of the inputs (label, declared type, value) use for different sizes; None without.

    A value may be an array or a type; sizes that a type leaves open contradict nothing.
    """
    seen: dict[str, tuple[str, int]] = {}
    for label, kind, value in inputs:
        sizes: Shape = getattr(value, "shape", None) or ()  # what is no tensor has none
        for name, size in zip(named_shape(kind), sizes, strict=False):
            if isinstance(name, str) and isinstance(size, int):
                first, first_size = seen.setdefault(name, (label, size))
                if first_size != size:
                    return Contradiction(name, first, first_size, label, size)
    return None
