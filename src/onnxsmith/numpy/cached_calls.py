"""`cached_call`: a call of a function of the namespace in a form that was seen before goes to its session at once.

The options of a function are read and checked once for each form of call: the element types, ranks and rough sizes of
its arrays, and the values of all else. After that a call costs little more than its session.
"""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from onnxsmith.diagnostics import hide_own_frames
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.recorded import OBSERVED, Elements, Observed, Run
from onnxsmith.runtime.engine import runners

P = ParamSpec("P")
R = TypeVar("R")

_NDARRAY = np.ndarray
_PLAIN = frozenset({int, bool, str, type(None), type})
_bit_length = int.bit_length


class _Plan:
    """The session of a form of call, and its feeds: an array of the call, by its number, or one that is always fed."""

    __slots__ = ("_constants", "_run")

    def __init__(self, run: Run, constants: Sequence[Elements]) -> None:
        self._run = run
        self._constants = list(constants)

    def __call__(self, feeds: list[Elements], is_plain: bool) -> Any:
        return self._run(feeds + self._constants if self._constants else feeds, is_plain)


def is_large(sizes: Sequence[object], bits: int) -> bool:
    """True if sizes are known to have a product of about `2**bits` or more: a cached call may decide by that."""
    total = 0
    for size in sizes:
        if not isinstance(size, int) or size == 0:
            return False
        total += _bit_length(size) - 1
    return total >= bits


def cached_call(arrays: int = 1) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function find the session of a call at once; its first arguments, so many, may be arrays.

    It decides by element types, ranks, sizes of 0 or 1, `is_large`, and the values of its other arguments, never by
    elements. It returns the result of one recorded function on its arrays, in their order.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            # Inside another call, that one counts.
            found = _form(function, args, kwargs, arrays) if OBSERVED.get() is None else None
            if found is None:
                return function(*args, **kwargs)
            form, feeds, is_plain = found
            plan: _Plan | None = runners().get(form)
            if plan is None:
                return cast(R, _learnt(function, args, kwargs, form, feeds))
            try:
                return plan(feeds, is_plain)
            except OnnxsmithError as error:
                error.locate_at_caller()
                hide_own_frames(error)
                raise

        return call

    return decorate


def _form(
    function: object, args: Sequence[object], kwargs: dict[str, object], arrays: int
) -> tuple[tuple[Hashable, ...], list[Elements], bool] | None:
    """The key of a plan, and the elements of the arrays; None where the call is never cached."""
    key: list[Hashable] = [function]
    feeds: list[Elements] = []
    is_plain = True
    for position, each in enumerate(args):
        kind = each.__class__
        if kind is Array:
            array = cast(Array, each)
            held = array._value
            if position >= arrays or array._view is not None or held.__class__ is not _NDARRAY:
                return None
            elements = cast(Elements, held)
            if elements.dtype.kind == "c":
                return None
            key.append(elements.dtype)
            key.append(tuple(map(_bit_length, elements.shape)))
            feeds.append(elements)
            is_plain = is_plain and array._is_plain
        elif not _enter(each, key):
            return None
    for name, each in kwargs.items():
        key.append(name)
        if not _enter(each, key):
            return None
    return tuple(key), feeds, is_plain


def _enter(value: object, key: list[Hashable]) -> bool:
    """Enter an option into the form of a call; False where it is none that is known by its value."""
    kind = value.__class__
    if kind in _PLAIN:
        key.append(kind)
        key.append(cast(Hashable, value))
        return True
    if kind is float:
        key.append(repr(value))  # tells 0.0 from -0.0, and NaN is itself
        return True
    if kind is tuple:
        items = cast("tuple[object, ...]", value)
        key.append(len(items))
        return all(_enter(each, key) for each in items)
    return False


def _learnt(
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: dict[str, object],
    form: tuple[Hashable, ...],
    feeds: list[Elements],
) -> object:
    """The result of a call of a form that is new: the next one of it is found at once, if it is one session."""
    observed: list[Observed] = []
    token = OBSERVED.set(observed)
    try:
        result = function(*args, **kwargs)
    finally:
        OBSERVED.reset(token)
    if len(observed) == 1:
        run, fed, made = observed[0]
        count = len(feeds)
        if made is result and len(fed) >= count and all(a is b for a, b in zip(feeds, fed, strict=False)):
            runners().put(form, _Plan(run, fed[count:]))
    return result
