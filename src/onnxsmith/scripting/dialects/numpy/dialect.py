"""The dialect of numpy code: what calls, truth and classes mean where arrays are `Array`s that record."""

from __future__ import annotations

import ast
import builtins
import functools
import sysconfig
import types
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import UnsupportedSyntaxError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.grown_list import list_of_numbers
from onnxsmith.numpy.grown_rows import list_of_rows
from onnxsmith.numpy.holding import Holding
from onnxsmith.scripting.dialects.numpy import stand_ins
from onnxsmith.scripting.dialects.numpy.builtin_calls import in_place_of
from onnxsmith.scripting.dialects.numpy.callees import as_ours, outside_array, replacement
from onnxsmith.scripting.dialects.numpy.in_c import behind_numba, compiled
from onnxsmith.scripting.dialects.numpy.joining_indices import joining
from onnxsmith.scripting.dialects.numpy.stand_ins import collected, mapped, reduced, stand_in
from onnxsmith.scripting.dialects.numpy.vectorizing import element_loop
from onnxsmith.scripting.staging.dialect import Calls, Dialect
from onnxsmith.scripting.staging.function_stager import Staging
from onnxsmith.scripting.staging.generators import Yielded
from onnxsmith.scripting.staging.iteration import Iteration
from onnxsmith.scripting.staging.script_values import Function, T
from onnxsmith.scripting.staging.watch import keep_as_row
from onnxsmith.source import PACKAGE_DIRECTORY

_LIBRARY = sysconfig.get_paths()["stdlib"]
_DISPATCHER: type = type(cast(object, np.sum))


#: Functions of Python's that call another one for each element, and what is staged where only the model has these.
_APPLYING: dict[Function, Function] = {builtins.map: mapped, functools.reduce: reduced}


def _applied(
    function: Function, staged: Callable[[Function], Function], applied: Function, *values: UserValue
) -> UserValue:
    """`map(f, values)`, `reduce(f, values)`: the function is called as where it is called by name."""
    if any(map(_is_open, values)):
        return staged(_APPLYING[function])(applied, *values)
    return function(staged(applied), *values)


#: Functions of Python's that take all elements at once.
_COLLECTING: tuple[Function, ...] = (list, tuple, sum, max, min, sorted, any, all)


def _collected(
    function: Function,
    stage: Callable[[Function], Function],
    *values: UserValue,
    **options: UserValue,
) -> UserValue:
    """`sum(range(n))`: where only the model can go through what is given, a list is made of it first."""
    _speaks_for_callee = True  # tuple(2) says to a 'try' what Python says
    if values and isinstance(values[0], Yielded):
        values = (values[0].taken(), *values[1:])
    if values and isinstance(values[0], Iteration):
        values = (stage(collected)(values[0], values[0].count), *values[1:])
    return function(*values, **options)


def _is_open(value: UserValue) -> bool:
    """True if only the model can iterate over a value."""
    return isinstance(value, Holding) and value.is_symbolic


class StandsFor:
    """A callable that runs a function of the user's by itself; in code that is staged the function is staged."""

    __wrapped__: Callable[..., Any]


class NumpyDialect(Dialect):
    """Functions of numpy are ours, and helpers of any library are staged."""

    # Python's own run would take an array of ours for no array of numpy's, and might go on with that.
    stages_all = True
    syntax = frozenset[type[ast.AST]]([ast.Try, ast.Attribute])

    def callee(self, function: Function, usual: Function | None, calls: Calls) -> Function | None:
        if isinstance(function, StandsFor):
            return calls.staged(function.__wrapped__)
        behind = behind_numba(function)
        if behind is not None:
            return calls.called(behind)
        plain = stand_in(function)
        if plain is not None:
            return calls.staged(plain)
        # What calls a function of the user's for each element stages it, whatever sizes there are.
        if any(function is each for each in _COLLECTING):  # an object that is called may have no hash
            return functools.partial(_collected, in_place_of(function, usual) or function, calls.staged)
        found = in_place_of(function, usual) or element_loop(function, calls.staged) or replacement(function)
        if found is not None:
            return found
        if any(function is each for each in _APPLYING):
            return functools.partial(_applied, function, calls.called)
        if isinstance(function, _DISPATCHER):
            behind: object = getattr(function, "__wrapped__", None)
            if isinstance(behind, types.FunctionType):
                return calls.staged(behind)
        return compiled(function) if usual is None else None

    def result(self, value: UserValue) -> UserValue:
        return as_ours(value)

    def is_staged(self, function: types.FunctionType) -> bool:
        file = function.__code__.co_filename
        if file == stand_ins.__file__:
            return True
        if file.startswith((PACKAGE_DIRECTORY, "<frozen ")):
            return False
        return "site-packages" in file or not file.startswith(_LIBRARY)

    def is_open(self, value: UserValue) -> bool:
        return isinstance(value, Array)

    def container(self, value: T) -> T | None:
        is_array = value.__class__ is np.ndarray
        made: Any = outside_array(cast("np.ndarray[Any, Any]", value)) if is_array else joining(value)
        return made

    def grown(self, items: Sequence[UserValue], taken: Sequence[UserValue]) -> UserValue | None:
        numbers = list_of_numbers(items, taken)
        return (
            cast("UserValue | None", list_of_rows(items, taken, keep_as_row)) if numbers is None else numbers
        )

    def yielded(self, value: UserValue) -> UserValue:
        if isinstance(value, Array) and not value.is_number:
            made = value.copy()
            made.lock("a generator function gave it")
            return made
        if isinstance(value, tuple):
            items = [self.yielded(each) for each in value]
            kind = cast(Any, type(cast(object, value)))
            return kind(*items) if hasattr(kind, "_fields") else tuple(items)
        if isinstance(value, list | dict | set | Holding) and not isinstance(value, Array):
            raise UnsupportedSyntaxError(
                "a generator function gives a list or dict here, which it and the loop over it may both change",
                help="yield arrays, numbers, or tuples of them",
            ).locate_at_caller()
        return value


#: Stages numpy code.
STAGING = Staging(NumpyDialect())
