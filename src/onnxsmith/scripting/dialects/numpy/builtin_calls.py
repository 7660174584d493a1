"""Python's own functions on arrays: `len(x)`, `max(a, b)`, `sum(x)`, `sorted(x)`, `set(x.shape)`, `range(n)`.

On all else they do what a script does. Functions of single numbers and questions what a value is have modules of their
own; here is the table of all.
"""

from __future__ import annotations

import builtins
import collections.abc
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.semantics.dimensions import Dimensions
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.user_values import Opaque, UserValue
from onnxsmith.errors import ConditionError, TracedValueError, UnsupportedSyntaxError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of
from onnxsmith.numpy.grown_list import GrownList, list_of_elements
from onnxsmith.numpy.grown_rows import GrownRows
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS
from onnxsmith.scripting.dialects.numpy.domains import checked
from onnxsmith.scripting.dialects.numpy.extremes import extreme, items_of, of_list
from onnxsmith.scripting.dialects.numpy.kinds_of_values import OF_KINDS
from onnxsmith.scripting.dialects.numpy.single_numbers import OF_SINGLE_NUMBERS, Maker, is_open
from onnxsmith.scripting.staging.iteration import Iteration, dynamic_range
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.scripting.staging.truth import settled


def in_place_of(function: Function, usual: Function | None) -> Function | None:
    """The function that is called in the place of one of Python's; None for all others."""
    try:
        make = _MAKERS.get(function)
    except TypeError:  # no hash, so none of them
        return None
    return None if make is None else checked(function, make(function if usual is None else usual))


# -- many elements ----------------------------------------------------------------------------------------


def _length(usual: Function) -> Function:
    def length(value: UserValue) -> UserValue:
        if isinstance(value, GrownList | GrownRows):
            return value.gone_through()[0]
        if not isinstance(value, Array) or not value.is_symbolic:
            return usual(value)
        if not value.ndim:
            raise TypeError("len() of unsized object")
        return value.shape[0]

    return length


def _truths(usual: Function) -> Function:
    def truths(values: UserValue) -> UserValue:
        values = of_list(values)
        if not isinstance(values, Array) or not values.is_symbolic:
            return usual(values)
        if values.ndim != 1:
            raise ConditionError(
                "any() and all() ask each element for its truth, and those of this array are arrays",
                help="say over what it is meant: (…).all(axis=0), (…).any()",
            )
        return usual(values.tensor)

    return truths


def _total(usual: Function) -> Function:
    def total(values: UserValue, start: UserValue = 0) -> UserValue:
        is_python = isinstance(values, GrownList) and values.kind == "python"
        values = of_list(values)
        if not is_open(values):
            return usual(values, start)
        array = cast(Array, values)
        dtype = None if array.dtype.kind == "b" else array.dtype
        made = cast(Array, FUNCTIONS["sum"](array, axis=0, dtype=dtype))
        if is_python:
            return number(made.tensor) + cast(Number, start)
        return made if isinstance(start, int) and start == 0 else UFUNCS["add"](made, start)

    return total


def _sorted(usual: Function) -> Function:
    def in_order(values: UserValue, *, key: UserValue = None, reverse: bool = False) -> UserValue:
        if not is_open(values) or key is not None or cast(Array, values).ndim != 1:
            return usual(values, key=key, reverse=reverse)
        found = cast(Array, FUNCTIONS["sort"](values))
        return listed(found[::-1] if reverse else found)

    return in_order


def _range(usual: Function) -> Function:
    def make(*bounds: UserValue) -> UserValue:
        if not any(is_open(each) or isinstance(each, Number) for each in bounds):
            return usual(*bounds)
        return cast(Opaque, dynamic_range(*bounds))

    return make


def _list(usual: Function) -> Function:
    def make(*args: UserValue) -> UserValue:
        if len(args) == 1 and isinstance(args[0], GrownList | GrownRows):
            return args[0].copy()
        return listed(cast(Array, args[0])) if len(args) == 1 and is_open(args[0]) else usual(*args)

    return make


def listed(array: Array) -> UserValue:
    """A list of what an array has along its first dimension, which may be as long as only the model knows."""
    if array.ndim and not isinstance(array.shape[0], int):
        return cast(UserValue, list_of_elements(array))
    return list(array)


def _positions(usual: Function) -> Function:
    """`np.ndindex(x.shape)`"""

    def positions(*shape: UserValue) -> UserValue:
        only = shape[0] if len(shape) == 1 else shape
        sizes = cast("Sequence[Any]", only) if isinstance(only, tuple | list | Dimensions) else (only,)
        sizes = tuple(sizes)
        if not any(isinstance(each, Number) for each in sizes):
            return usual(*map(int, sizes))
        return cast(Opaque, Iteration(math.prod(sizes), lambda turn: _places(turn, sizes)))

    return positions


def _places(turn: Any, sizes: Sequence[Any]) -> tuple[UserValue, ...]:
    """Where the elements of an array are that are counted row by row."""
    places: list[UserValue] = []
    for size in reversed(sizes[1:]):
        places.append(turn % size)
        turn = turn // size
    return (turn, *reversed(places))


def _numbered(usual: Function) -> Function:
    """`np.ndenumerate(x)`"""

    def numbered(arr: UserValue) -> UserValue:
        array = array_of(arr)
        if not array.is_symbolic or not array.ndim:
            return [((), array[()])] if array.is_symbolic else usual(np.asarray(array))
        sizes, flat = tuple(array.shape), array.ravel()
        every = Iteration(math.prod(sizes), lambda turn: (_places(turn, sizes), flat[turn]))
        return cast(Opaque, every)

    return numbered


def _floating_errors(usual: Function) -> Function:
    def errors(**kinds: Any) -> UserValue:
        # What numpy.linalg has called says that LAPACK failed, and what stands for LAPACK here says that itself.
        is_lapack = str(getattr(kinds.get("call"), "__module__", "")).startswith("numpy.linalg")
        for kind, treatment in kinds.items():
            if treatment == "raise" or (treatment == "call" and not is_lapack):
                raise UnsupportedSyntaxError(
                    f"{kind}={treatment!r} makes numpy stop at what a model computes on with: infinity or NaN",
                    help="ask for it: if not np.isfinite(y).all(): raise FloatingPointError(…)",
                ).locate_at_caller()
        return usual(**kinds)

    return errors


# -- sets of sizes -----------------------------------------------------------------------------------------


class Distinct(collections.abc.Set[UserValue]):
    """A set of numbers that only the model knows, and of which it is known which are equal."""

    def __init__(self, values: Iterable[UserValue]) -> None:
        self._values: list[UserValue] = []
        for each in values:
            if not any(_is_surely_equal(each, other) for other in self._values):
                self._values.append(each)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[UserValue]:
        return iter(self._values)

    def __contains__(self, item: object) -> bool:
        return any(_is_surely_equal(cast(UserValue, item), each) for each in self._values)


def _is_surely_equal(a: UserValue, b: UserValue) -> bool:
    """True if two sizes or shapes are equal; refused where only the model knows."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        mine, theirs = tuple(a), tuple(b)
        return len(mine) == len(theirs) and all(map(_is_surely_equal, mine, theirs))
    found = settled(cast(object, a == b))
    if isinstance(found, Number):
        raise TracedValueError(
            "a set tells its elements apart, and whether these numbers are equal is known only when the model runs",
            help="give sizes that are equal one name where the model is made: DOUBLE['N'], DOUBLE['N']",
        ).locate_at_caller()
    return bool(found)


def _set(usual: Function) -> Function:
    def make(*args: UserValue) -> UserValue:
        values = items_of(args[0]) if args else []
        is_open = any(isinstance(each, Number | Dimensions) for each in values)
        return cast(Opaque, Distinct(values)) if is_open else usual(*([values] if args else []))

    return make


_MAKERS: dict[Function, Maker] = {
    **OF_SINGLE_NUMBERS,
    **OF_KINDS,
    builtins.set: _set,
    builtins.list: _list,
    builtins.range: _range,
    np.ndindex: _positions,
    np.ndenumerate: _numbered,
    builtins.len: _length,
    **dict.fromkeys(cast("Sequence[Function]", (any, all)), _truths),
    builtins.max: extreme(is_greater=True),
    builtins.min: extreme(is_greater=False),
    builtins.sum: _total,
    builtins.sorted: _sorted,
    np.errstate: _floating_errors,
}
