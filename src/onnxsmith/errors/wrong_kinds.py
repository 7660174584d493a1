"""An argument of a kind that a parameter does not take, found after our code has failed on it.

Nothing is checked before a call: a call that works pays nothing, and what works with other kinds goes on to work.
"""

from __future__ import annotations

import inspect
import operator
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, Union, cast

from onnxsmith.diagnostics import described_type
from onnxsmith.errors.functions import CallError

#: Whatever a user passes.
Given: TypeAlias = "Hashable | Sequence[object] | Mapping[object, object]"
#: What stands behind a parameter's colon: a class, a union, a generic, or text.
Annotation: TypeAlias = (
    "type | types.UnionType | types.GenericAlias | typing.TypeVar | typing.ForwardRef | str | None"
)

_LONGEST = 160

#: Where a user gets one, for classes that are made by calls of ours.
_SOURCES = {
    "Model": "it is a Model: onnxsmith.load(path) reads one, Model.from_proto(proto) wraps a proto, "
    "and f.to_model() is that of a script",
}


def wrong_kind(
    name: str, function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> CallError | None:
    """The error for the first argument that is not what its annotation says; None where all are."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    for parameter, value in bound.arguments.items():
        declared = signature.parameters[parameter]
        annotation = _resolved(declared.annotation, function)
        several: Sequence[Given] = (value,)
        if declared.kind is declared.VAR_POSITIONAL:
            several = cast("tuple[Given, ...]", value)
        elif declared.kind is declared.VAR_KEYWORD:
            continue
        for each in several:
            if not _fits(each, annotation):
                shown = declared.annotation
                text = shown if isinstance(shown, str) else inspect.formatannotation(shown)
                what = "None" if each is None else described_type(cast(type, type(each)))
                return CallError(
                    f"{name}: '{parameter}' is {what}",
                    help=_SOURCES.get(text, f"{parameter} is {text}" if len(text) < _LONGEST else None),
                    culprit=parameter,
                )
    return None


def _resolved(annotation: Annotation, function: Callable[..., object]) -> Annotation:
    """The type that an annotation names; Any where it cannot be found."""
    if not isinstance(annotation, str):
        return annotation
    names: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        return eval(annotation, {**vars(typing), **names})  # the text stands in our own source
    except Exception:  # a name that only type checkers import
        return object


def _fits(value: Given, annotation: Annotation) -> bool:
    """True if a value may be of a type, as far as can be seen from outside; what is inside is not looked at."""
    if annotation is Any or annotation is inspect.Parameter.empty or annotation is object:
        return True
    if annotation is None:
        return value is None
    if isinstance(annotation, str | typing.TypeVar | typing.ForwardRef):
        return True
    origin = cast(Any, typing.get_origin(annotation))
    if origin is Literal:
        return any(value is each or value == each for each in typing.get_args(annotation) if _is_plain(value))
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in typing.get_args(annotation))
    kind = cast(Any, annotation) if origin is None else origin
    if kind is float:
        return _converts(float, value)
    if kind in (int, typing.SupportsIndex):
        return _converts(operator.index, value)
    if kind is Callable:
        return callable(value)
    if kind is Iterable:
        return _converts(iter, value) or isinstance(value, str)  # an array without dimensions is none
    try:
        return isinstance(value, kind)
    except TypeError:  # a protocol that is not for run time
        return True


def _converts(convert: Callable[[Any], object], value: Given) -> bool:
    """True if a value is the number that a function of Python's makes of it; text and arrays are none."""
    if isinstance(value, str | bytes | type):
        return False
    try:
        convert(value)
    except Exception:  # an object of any class may raise anything
        return False
    return True


def _is_plain(value: Given) -> bool:
    return isinstance(value, str | int | bool | bytes | types.NoneType)
