"""Annotations of parameters beside what a call gives for them: what no value can be both of is refused.

An annotation that is no type of an array, of a number, of text or of a container says nothing here.
"""

from __future__ import annotations

import ast
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args, get_origin

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AnnotationError, OnnxsmithError
from onnxsmith.numpy.array import Array
from onnxsmith.scripting.dialects.numpy.recording import PlainFunction
from onnxsmith.scripting.functions.signature import with_evaluated_annotations
from onnxsmith.scripting.source.function_source import find_function, span_of
from onnxsmith.source import Span
from onnxsmith.tracing.trace import definition_span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType, shapes_differ

#: Python's numbers, and the kinds of elements that are such a number.
_KINDS: dict[object, str] = {bool: "b", int: "biu", float: "biuf", complex: "biufc"}
_CONTAINERS = (list, tuple, dict, str)


@dataclass(frozen=True, slots=True)
class Met:
    """The value that a function meets in the place of a parameter, as far as annotations speak of it."""

    #: Its class, where that is no array: a number of Python's, text, a container.
    kind: type
    #: The type of its elements, where it is an array or a number.
    dtype: np.dtype[Any] | None = None
    #: Its sizes, where it is an array or a number; names where they are open.
    shape: tuple[object, ...] = ()

    def __str__(self) -> str:
        if self.kind is not np.ndarray:
            return described_type(self.kind)
        name = "unknown elements" if self.dtype is None else self.dtype.name
        return f"an array of {name} with {len(self.shape)} dimension{'s' * (len(self.shape) != 1)}"


def met_value(value: object) -> Met:
    """A value that a function is called with."""
    if isinstance(value, np.ndarray | Array):
        array = cast("np.ndarray[Any, np.dtype[Any]]", value)
        return Met(np.ndarray, array.dtype, tuple(array.shape))
    kind = type(value)
    if isinstance(value, np.generic | bool | int | float | complex):
        return Met(kind, np.asarray(value).dtype)
    return Met(kind)


def met_type(given: object) -> Met | None:
    """A type that is given for a parameter, or a value in its place; None where nothing is known."""
    if isinstance(given, DType):
        given = TensorType(given, ())
    if isinstance(given, TensorType):
        if given.dtype is None or given.shape is None:
            return None
        dtype = given.dtype.numpy
        return Met(np.ndarray, dtype, given.shape) if given.shape else Met(dtype.type, dtype)
    if isinstance(given, type):
        return Met(given, np.dtype(given)) if given in _KINDS else None
    return met_value(given)


def hints_of(plain: PlainFunction) -> Mapping[str, object]:
    """Annotations by parameter; none where they name what is there for checkers alone."""
    try:
        return with_evaluated_annotations(plain.function).__annotations__
    except Exception:  # whatever evaluating somebody's text raises
        return {}


def has_sizes(hints: Mapping[str, object]) -> bool:
    """True if an annotation fixes a size: then calls differ that one session serves."""
    return any(
        isinstance(hint, TensorType) and any(isinstance(each, int) for each in hint.shape or ())
        for hint in hints.values()
    )


def contradicts(hint: object, met: Met) -> bool:
    """True if what a function meets is surely none of what the annotation says."""
    hint = _behind_alias(cast(UserValue, hint))
    origin = get_origin(hint)
    if origin is typing.Annotated:
        return contradicts(get_args(hint)[0], met)
    if origin in (typing.Union, types.UnionType):
        return all(contradicts(each, met) for each in get_args(hint))
    if isinstance(hint, TensorType):
        return _is_no_tensor(hint, met)
    if hint is None or hint is types.NoneType:
        return met.kind is not types.NoneType
    named = hint if origin is None else origin
    if named is np.ndarray:
        return _is_no_array(get_args(hint), met)
    if named in _KINDS:
        return bool(met.shape) or met.dtype is None or met.dtype.kind not in _KINDS[named]
    if isinstance(named, type) and issubclass(named, np.generic):
        return _is_no_scalar(cast("type[np.generic[Any]]", named), met)
    if named in _CONTAINERS:
        return not issubclass(met.kind, cast(type, named))
    return False


#: The class of `type Name = …`, which Python 3.12 brought; `NDArray` is one since numpy 2.5.
_ALIAS: type | None = getattr(typing, "TypeAliasType", None)


def _behind_alias(hint: UserValue) -> UserValue:
    """The type that a name stands for, with the arguments that it is given."""
    while _ALIAS is not None:
        if isinstance(hint, _ALIAS):
            hint = cast(Any, hint).__value__
        elif isinstance(get_origin(hint), _ALIAS):
            hint = cast(Any, get_origin(hint)).__value__[get_args(hint)]
        else:
            break
    return hint


def _is_no_tensor(hint: TensorType, met: Met) -> bool:
    if met.dtype is None:
        return True
    if shapes_differ(hint.shape, met.shape):
        return True
    if hint.dtype is None:
        return False
    wanted = hint.dtype.numpy
    if met.kind in _KINDS:  # a number of Python's takes the element type, where that has such numbers
        return met.dtype.kind not in _KINDS[_number_of(wanted)]
    return met.dtype != wanted


def _number_of(dtype: np.dtype[Any]) -> type:
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}.get(dtype.kind, float)


def _is_no_array(arguments: Sequence[Any], met: Met) -> bool:
    if met.kind is not np.ndarray:
        return not issubclass(
            met.kind, np.generic
        )  # numpy's functions give numbers for arrays without dimensions
    elements = get_args(arguments[1]) if len(arguments) > 1 else ()
    wanted = elements[0] if elements else None
    return isinstance(wanted, type) and met.dtype is not None and not issubclass(met.dtype.type, wanted)


def _is_no_scalar(wanted: type[np.generic[Any]], met: Met) -> bool:
    if met.shape or met.dtype is None:
        return True
    if met.kind in _KINDS:
        return not any(
            issubclass(np.dtype(each).type, wanted) and met.dtype.kind in _KINDS[_number_of(np.dtype(each))]
            for each in "?bBhHiIlLqQefdFD"
        )
    return not issubclass(met.dtype.type, wanted)


def refuse_contradiction(plain: PlainFunction, name: str, hint: object, met: Met | None, who: str) -> None:
    """Refuse what contradicts the annotation of its parameter; `who` is given it."""
    if met is not None and contradicts(hint, met):
        shown = hint.__name__ if isinstance(hint, type) and get_origin(hint) is None else repr(hint)
        raise (
            AnnotationError(
                f"'{name}' of '{plain.name}' is annotated {shown}, and {who} is given {met}",
                help="give what the annotation says, change it, or leave it out",
            )
            .locate_at_caller()
            .also(_parameter_span(plain, name), f"'{name}' is annotated here")
        )


def _parameter_span(plain: PlainFunction, name: str) -> Span | None:
    """The place of a parameter; that of its function where the source is not there."""
    function = plain.function
    try:
        arguments = find_function(function).args
    except OnnxsmithError:
        return definition_span(function)
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for each in every:
        if each.arg == name:
            return span_of(each, function.__code__.co_filename, function.__name__)
    return definition_span(function)


def is_text(plain: PlainFunction, name: str, hint: object) -> bool:
    """True if a parameter is known to take text: by its default, its annotation, or what it is compared with."""
    default = plain.signature.parameters[name].default
    if isinstance(default, str) or hint is str or str in get_args(hint) or get_origin(hint) is typing.Literal:
        return True
    try:
        tree = find_function(plain.function)
    except OnnxsmithError:
        return False
    return any(_compares_with_text(each, name) for each in ast.walk(tree))


def _compares_with_text(node: ast.AST, name: str) -> bool:
    """True if a name is compared with text, or is a key."""

    def is_name(each: ast.AST) -> bool:
        return isinstance(each, ast.Name) and each.id == name

    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(map(is_name, sides)) and any(
            isinstance(part, ast.Constant) and isinstance(part.value, str)
            for each in sides
            for part in ast.walk(each)
        )
    if isinstance(node, ast.Subscript):
        return is_name(node.slice)
    return isinstance(node, ast.Match) and is_name(node.subject)
