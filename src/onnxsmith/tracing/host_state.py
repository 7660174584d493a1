"""Clocks and random generators in a function that is traced: refused, as the model would give the same for ever.

Looks for them where the function's code names them, through helpers of the user's own; what nobody names costs nothing.
Generators are seen to have moved, clocks are seen when they are called.
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import LastingChangeError, OnnxsmithError
from onnxsmith.scripting.staging.known_calls import VARYING_NAMES, ClockGuard
from onnxsmith.source import Span, is_library, position_span

if TYPE_CHECKING:
    from _typeshed import TraceFunction

R = TypeVar("R")
#: A picture of the state of a generator, to compare.
_State: TypeAlias = Callable[[], object]

_HELP = "pass it as an argument; onnxsmith.numpy.random makes random numbers of a key, in the model, too"


def refusing(function: Callable[..., Any], call: Callable[[], R]) -> R:
    """Do the call of a traced function; LastingChangeError where it looks at a clock or draws random numbers."""
    found = _Found()
    found.look_at(function)
    if not found.states and not found.names_a_clock:
        return call()
    before = [each() for each in found.states]
    if found.names_a_clock:
        with ClockGuard():
            result = call()
    else:
        result = call()
    for state, old in zip(found.states, before, strict=True):
        if state() != old:
            raise LastingChangeError(
                "random numbers are drawn here, and a model would give the same for ever", help=_HELP
            ).locate(_place(call, state))
    return result


class _Found:
    """The objects that a function reaches by the names in its code."""

    def __init__(self) -> None:
        self.states: list[_State] = []
        self.names_a_clock = False
        self._seen: set[int] = set()

    def look_at(self, value: UserValue) -> None:
        """Note what a value is, or reaches."""
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, functools.partial):
            for each in (value.func, *value.args):
                self.look_at(cast("UserValue", each))
        elif isinstance(value, types.MethodType):
            self.look_at(value.__func__)
            self._look_at_object(cast("UserValue", value.__self__))
        elif isinstance(value, types.FunctionType):
            self._look_at_function(value)
        elif not isinstance(value, type | types.ModuleType) and callable(value):
            self.look_at(getattr(type(value), "__call__", None))  # noqa: B004  # the function itself is wanted
            self._look_at_object(value)

    def _look_at_object(self, owner: UserValue) -> None:
        for each in getattr(owner, "__dict__", {}).values():
            self._note(each)

    def _look_at_function(self, function: types.FunctionType) -> None:
        if is_library(function.__code__.co_filename):
            return
        names = frozenset(_names_in(function.__code__))
        self.names_a_clock |= not VARYING_NAMES.isdisjoint(names)
        for each in function.__closure__ or ():
            try:
                self._note(each.cell_contents)
            except ValueError:  # a cell that is still empty
                continue
        for name in names & function.__globals__.keys():
            value: UserValue = function.__globals__[name]
            if isinstance(value, types.ModuleType):
                self._look_into(value, names)
            else:
                self._note(value)

    def _look_into(self, module: types.ModuleType, names: frozenset[str]) -> None:
        if module is np and "random" in names:
            importlib.import_module("numpy.random")  # which numpy loads when it is named, and here it is
        for name in names & vars(module).keys():
            value: UserValue = vars(module)[name]
            if isinstance(value, types.ModuleType):
                if value.__name__ == "numpy.random":
                    self._look_into(value, names)
            else:
                self._note(value)

    def _note(self, value: UserValue) -> None:
        """Note a generator, or the one that a function draws from; follow functions."""
        if type(value).__name__ == "SystemRandom":
            self.names_a_clock = True  # it has no state that could be compared
        owner = value.__self__ if isinstance(value, types.MethodType | types.BuiltinFunctionType) else value
        state = _state_of(cast("UserValue", owner))
        if state is None:
            self.look_at(value)
        elif id(owner) not in self._seen:
            self._seen.add(id(owner))
            self.states.append(state)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _names_in(each)


def _state_of(owner: UserValue) -> _State | None:
    """How to see the state of a generator of random numbers; None for what is none. Nothing is imported for it."""
    kind = type(owner)
    given = cast(Any, owner)
    if kind.__module__.startswith("numpy.random"):
        bits = getattr(given, "bit_generator", None) or getattr(given, "_bit_generator", None)
        if bits is None:
            return None
        # An old generator keeps every second normal number for later, which the bits do not show.
        whole: Callable[..., UserValue] | None = getattr(given, "get_state", None)
        return (lambda: _frozen(bits.state)) if whole is None else (lambda: _frozen(whole(legacy=False)))
    if kind.__module__ == "random" and hasattr(given, "getstate") and kind.__name__ != "SystemRandom":
        return cast(_State, given.getstate)
    return None


def _frozen(state: UserValue) -> UserValue:
    """A state that can be compared: numpy's are dicts with arrays in them."""
    if isinstance(state, dict):
        return [_frozen(each) for each in cast("dict[str, UserValue]", state).values()]
    return state.tobytes() if isinstance(state, np.ndarray) else state


def _place(call: Callable[[], object], state: _State) -> Span | None:
    """Where the user's code draws: found by calling again, slowly."""
    last: list[tuple[types.FrameType, int, int]] = []
    found: list[Span | None] = []
    seen = [state()]

    def trace_lines(frame: types.FrameType, event: str, argument: UserValue) -> TraceFunction | None:
        if is_library(frame.f_code.co_filename):
            return None
        frame.f_trace_opcodes = True
        if not found:
            now = state()
            if now != seen[0] and last:
                where, offset, line = last[0]
                found.append(position_span(where.f_code, offset, line))
            last[:] = [(frame, frame.f_lasti, frame.f_lineno)]
        return trace_lines

    previous = sys.gettrace()
    sys.settrace(trace_lines)
    try:
        call()
    except OnnxsmithError:
        pass  # the second call need not go as the first did
    finally:
        sys.settrace(previous)
    return found[0] if found else None
