"""`recorded`: a function of arrays as one session each, made once per element types, ranks and options.

A function of the namespace is written once, on arrays. Called where a graph is recorded, it leaves its nodes there.
Called on arrays whose elements are known, it is recorded by itself, with all sizes open, and the session is kept.
So the two agree by construction, and a function of many nodes costs one run.
"""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np

from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import hide_own_frames
from onnxsmith.errors import InputTypeError, OnnxsmithError, OutOfBoundsError
from onnxsmith.graphs.identity import slice_parts, value_key
from onnxsmith.graphs.run_values import session_value
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.sessions import Run as Run
from onnxsmith.runtime.engine import runners

P = ParamSpec("P")
R = TypeVar("R")
#: Elements that are known.
Elements: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_NDARRAY = np.ndarray
_LEAST, _MOST = -(2**63), 2**63 - 1
#: Classes whose values are part of what a session is made for, and found by their value.
_PLAIN = (int, bool, str, type(None), type(Ellipsis), np.dtype, type)


#: A session that ran, what it was fed, and what it gave.
Observed: TypeAlias = "tuple[Run, list[Elements], object]"
#: Who wants to know which sessions run.
OBSERVED: ContextVar[list[Observed] | None] = ContextVar("OBSERVED", default=None)


class _Symbolic(Exception):  # no mistake: says that the call is to be recorded where it stands
    """An argument of the call belongs to a graph."""


def recorded(*numbers: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function of arrays run as one session; ints under the names in `numbers` are inputs of it, too.

    All else that is no array (axes, element types, truth values) belongs to the form that a session is made for.
    """
    return cast("Callable[[Callable[P, R]], Callable[P, R]]", functools.partial(Recorded, frozenset(numbers)))


class Recorded:
    """A function that `recorded` has wrapped."""

    __name__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, numbers: frozenset[str], function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._numbers = numbers
        self._positions = frozenset(
            k for k, name in enumerate(inspect.signature(function).parameters) if name in numbers
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            prepared = self.prepared(args, kwargs)
            if prepared is None:
                return _as_results(self._function(*args, **kwargs), all(_plain_inputs(args)))
            run, feeds = prepared
            result = run(feeds, all(_plain_inputs(args)))
            observed = OBSERVED.get()
            if observed is not None:
                observed.append((run, feeds, result))
            return result
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise

    def prepared(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Run, list[Elements]] | None:
        """The session for a call and what it is fed; None where an argument belongs to a graph."""
        feeds: list[Elements] = []
        key: list[Hashable] = [self]
        try:
            for position, each in enumerate(args):
                _encode(each, key, feeds, is_number=position in self._positions)
            for name, each in kwargs.items():
                key.append(name)
                _encode(each, key, feeds, is_number=name in self._numbers)
        except _Symbolic:
            return None
        found = runners().get_or_make(tuple(key), lambda: Run(self._function, args, kwargs, self._is_number))
        return found, feeds

    def _is_number(self, place: int | str) -> bool:
        return place in self._positions or place in self._numbers


def _as_results(result: Any, is_plain: bool) -> Any:
    """Results that belong to a graph, as they are where elements are known: numbers if they have no dimensions."""
    if result.__class__ is Array:
        array = cast(Array, result).as_number()
        if array.ndim > 1 and not is_plain:
            array._is_plain = False  # numpy may keep the order of what it was given
        return array
    if isinstance(result, tuple | list):
        for each in cast("Sequence[Any]", result):
            _as_results(each, is_plain)
    return cast(Any, result)


def _plain_inputs(values: Sequence[Any]) -> Iterator[bool]:
    for each in values:
        if each.__class__ is Array:
            yield cast(Array, each)._is_plain
        elif isinstance(each, list | tuple):
            yield from _plain_inputs(cast("Sequence[Any]", each))


def _encode(value: Any, key: list[Hashable], feeds: list[Elements], *, is_number: bool) -> None:
    """Enter an argument into the form of a call and, if it is data, into what the session is fed."""
    kind: Any = value.__class__
    if kind is Array:
        held = cast(Array, value).held
        if held.__class__ is not _NDARRAY:
            raise _Symbolic
        array = cast(Elements, held)
        key.append(array.dtype)
        key.append(array.ndim)
        feeds += parts_of(array)
    elif is_number and isinstance(value, int) and kind is not bool:
        key.append("number")
        if not _LEAST <= value <= _MOST:
            raise OutOfBoundsError(f"{value} is past the 64 bits that sizes and places have")
        feeds.append(session_value(value))
    elif kind in _PLAIN:
        key.append(kind)
        key.append(value)
    elif isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        key.append((kind, len(items)))
        for each in items:
            _encode(each, key, feeds, is_number=is_number)
    elif kind is slice:
        key.append(slice)
        for k, each in enumerate(slice_parts(cast("slice[Any, Any, Any]", value))):
            # The sign of a step decides what the ends mean.
            _encode(each, key, feeds, is_number=is_number and k < 2)
    elif isinstance(value, Number):
        raise _Symbolic
    elif isinstance(value, np.ndarray | np.generic):
        _encode(Array(np.asarray(cast(Elements, value))), key, feeds, is_number=False)
    elif isinstance(value, Value):
        raise tensor_given(value)
    else:
        key.append(value_key(value))


def tensor_given(value: Value) -> InputTypeError:
    """The error for a tensor where arrays are meant."""
    return InputTypeError(
        "a tensor computes as ONNX does, and this function as numpy does",
        help="cross over with xp.asarray(tensor)",
    )


def parts_of(array: Elements) -> list[Elements]:
    """The tensors that a session is fed for an array: complex numbers as their parts."""
    if array.dtype.kind != "c":
        return [array]
    # Not `ascontiguousarray`, which gives a scalar a dimension.
    return [np.array(np.real(array), order="C"), np.array(np.imag(array), order="C")]
