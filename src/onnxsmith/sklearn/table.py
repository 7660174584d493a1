"""The converters: one table, by the public name of the class and the method.

A converter is a function on a fitted estimator and what it is given. It is written on arrays of `onnxsmith.numpy`, and
raises `NotCovered` for parameters that it does not know, so that another road is taken. A class of the user's that
derives from a class of the table takes its converter, unless it overrides a method that takes part in the result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

from onnxsmith.registry import Registry
from onnxsmith.source import Span

#: Of a fitted estimator and what the method is given, what the method gives.
Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)


class Converter(NamedTuple):
    """An entry of the table."""

    function: Function
    #: Whether its nodes stand where it is called, instead of in an ONNX function: for what only calls others.
    is_inline: bool
    #: Whether it wants to know the method, as the keyword `method`.
    takes_method: bool
    #: Whether it takes the columns of a frame one by one; others are given the matrix, where there is one.
    takes_columns: bool


class NotCovered(Exception):
    """A road does not lead there: parameters that a converter does not know, code that cannot be recorded.

    A converter that leaves all to the next road gives no reason: the text is empty.
    """

    def __init__(self, why: str, span: Span | None = None) -> None:
        super().__init__(why)
        #: The line that it is about, in code that is recorded.
        self.span = span


_FAMILIES = "onnxsmith.sklearn.families"
#: By the public name of a class and the name of a method.
CONVERTERS: Registry[tuple[str, str], Converter] = Registry(_FAMILIES, "CONVERTERS")
#: The same for what is given as a matrix that several tensors stand for.
STRUCTURED: Registry[tuple[str, str], Converter] = Registry(_FAMILIES, "STRUCTURED")

#: Methods that take no part in what `predict` or `transform` gives.
_ASIDE = frozenset(
    [
        *("__init__", "__repr__", "__str__", "__getstate__", "__setstate__", "__sklearn_tags__"),
        *("__sklearn_is_fitted__", "fit", "partial_fit", "fit_transform", "fit_predict", "score"),
        *("get_params", "set_params", "set_output", "get_feature_names_out", "get_metadata_routing"),
    ]
)


def converts(
    *names: str, inline: bool = False, columns: bool = False, structured: bool = False
) -> Callable[[F], F]:
    """Enter a function: first public names of classes, then names of methods, told apart by their dots.

    `structured` enters it for what is given as a matrix that several tensors stand for, and for that alone.
    """
    classes = [each for each in names if "." in each]
    methods = [each for each in names if "." not in each]
    table = STRUCTURED if structured else CONVERTERS

    def enter(function: F) -> F:
        takes_method = "method" in inspect.signature(function).parameters
        for name in classes:
            for method in methods:
                table.register((name, method), Converter(function, inline, takes_method, columns or inline))
        return function

    return enter


def public_name(kind: type) -> str:
    """The name under which users import a class: without the modules that are private.

    >>> from sklearn.preprocessing import StandardScaler
    >>> StandardScaler.__module__, public_name(StandardScaler)
    ('sklearn.preprocessing._data', 'sklearn.preprocessing.StandardScaler')
    """
    parts: list[str] = []
    for part in kind.__module__.split("."):
        if part.startswith("_"):
            break
        parts.append(part)
    return ".".join([*parts, kind.__qualname__])


def converter_of(kind: type, method: str, after: type | None = None) -> Converter | None:
    """The converter of a method of a class; None where there is none, or a subclass overrides a part of it.

    `after` leaves out the classes up to that one, as `super()` does.
    """
    return _found(CONVERTERS, kind, method, after)


def structured_converter_of(kind: type, method: str, after: type | None = None) -> Converter | None:
    """The same, for what is given as a matrix that several tensors stand for."""
    return _found(STRUCTURED, kind, method, after)


def _found(
    table: Registry[tuple[str, str], Converter], kind: type, method: str, after: type | None
) -> Converter | None:
    order = kind.__mro__
    if after is not None:
        order = order[order.index(after) + 1 :]
    overridden: set[str] = set()
    for each in order:
        found = table.get((public_name(each), method))
        if found is not None:
            return None if any(hasattr(each, other) for other in overridden) else found
        overridden |= {other for other, held in vars(each).items() if callable(held) and other not in _ASIDE}
    return None
