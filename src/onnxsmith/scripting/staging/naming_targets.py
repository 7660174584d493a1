"""Targets that hand calls on to a graph, and name what they give after the variables of the code that makes them.

The code is Python's own, and runs without hooks: the instruction that it stands at says how far it is. Each target says
for which code it can tell the variables. Nothing is recorded here.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from onnxsmith.core.operator import Operator
from onnxsmith.core.operator_protocols import AnyOperator, StandardOperators
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import ACTIVE, OperatorCall, RecordingTarget
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, Operand, Value
from onnxsmith.scripting.analysis.straight import Argument, Chain, Store, StraightCode
from onnxsmith.scripting.staging.call_stack import staging
from onnxsmith.scripting.staging.plain_outside import CHANGEABLE, is_harmless, is_plain_callee, resolve


class Misjudged(Exception):
    """The code does what only its syntax tree tells enough of."""


class NamingTarget:
    """The base of the two below: a request to the target means that the code has come to a new instruction.

    Names are given before anything else is recorded, because they are handed out in the order of the code. Every call
    of an operator asks for `recording` before `emit`.
    """

    needs_inference: ClassVar[bool] = True

    def __init__(self, scope: RecordingTarget, code: types.CodeType) -> None:
        self._scope = scope
        self._code = code
        #: The instruction that the code stands at; before the first, none does.
        self._offset = -1

    def _reach(self, offset: int) -> None:
        """Name what was stored before an instruction that the code has come to."""
        raise NotImplementedError

    def _take(self, made: tuple[UserValue, ...]) -> None:
        """Take note of what the instruction gives that the code stands at."""
        raise NotImplementedError

    def finish(self) -> None:
        """Give the last names."""
        self._scope.caller = None
        self._reach(sys.maxsize)

    def note(self, result: UserValue) -> None:
        """Take note of what a script that the user's code calls now gives."""
        self._scope.caller = None
        self._advance()
        self._take(result if isinstance(result, tuple) else (result,))

    def _advance(self) -> None:
        frame: types.FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack cheaply
        code = self._code
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        if frame is not None and frame.f_lasti > self._offset:
            self._reach(frame.f_lasti)
            self._offset = frame.f_lasti

    # -- the target protocol ---------------------------------------------------------------------------

    @property
    def is_exact(self) -> bool:
        return self._scope.is_exact

    @property
    def mixes_dtypes(self) -> bool:
        return self._scope.mixes_dtypes

    @property
    def recording(self) -> RecordingTarget:
        scope = self._scope
        # Most calls are made by the code itself: above it are the operator, `call`, and this.
        frame = sys._getframe(3)  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack cheaply
        if frame.f_code is not self._code:
            scope.caller = None
            self._advance()
            return scope
        offset = frame.f_lasti
        if offset > self._offset:
            self._reach(offset)
            self._offset = offset
        scope.caller = (self._code, offset)
        return scope

    @property
    def operators(self) -> StandardOperators:
        return self._scope.operators

    def constant(self, array: Array) -> Value:
        self._advance()
        return self._scope.constant(array)

    def stored(self, value: Stored) -> Value:
        self._advance()
        return self._scope.stored(value)

    def sequence(self, elements: Sequence[object]) -> Value:
        self._advance()
        return self._scope.sequence(elements)

    def emit(self, call: OperatorCall) -> tuple[Operand, ...]:
        made = self._scope.emit(call)
        self._take(made)
        return made

    def learn(
        self, operator: AnyOperator, args: tuple[object, ...], kwargs: dict[str, object], call: OperatorCall
    ) -> None:
        self._scope.learn(operator, args, kwargs, call)


class StoreNaming(NamingTarget):
    """For a whole function, of which `analysis.straight` knows where it stores which value.

    The code has no jumps, so that the instruction it stands at says which stores lie behind it.
    """

    def __init__(
        self,
        scope: RecordingTarget,
        code: types.CodeType,
        stores: Sequence[Store],
        arguments: Mapping[str, UserValue],
    ) -> None:
        super().__init__(scope, code)
        self._arguments = arguments
        self._stores = stores
        self._next = 0
        self._next_offset = stores[0].offset if stores else sys.maxsize
        #: What instructions gave whose value gets a name, by offset.
        self._results: dict[int, tuple[UserValue, ...]] = {}

    def _take(self, made: tuple[UserValue, ...]) -> None:
        self._results[self._offset] = made

    def _reach(self, offset: int) -> None:
        stores = self._stores
        while self._next_offset < offset:
            store = stores[self._next]
            value = self._value_of(store)
            if isinstance(value, Value) and value.is_symbolic:
                self._scope.suggest_name(value, store.name)
            self._next += 1
            self._next_offset = stores[self._next].offset if self._next < len(stores) else sys.maxsize

    def _value_of(self, store: Store) -> UserValue:
        origin = store.origin
        if isinstance(origin, Argument):
            return self._arguments[origin.name]
        values = self._results.get(origin.offset, ())
        if origin.position is None:
            return values[0] if len(values) == 1 else None
        if len(values) < 2:
            raise Misjudged  # rows of a tensor
        return values[origin.position]


class CallNaming(NamingTarget):
    """For statements that each assign a variable what one call of an operator gives.

    Each has one instruction that calls, so that a new instruction is the next statement's. What promotion puts in
    before the operator itself is recorded at the same one.
    """

    def __init__(self, scope: RecordingTarget, code: types.CodeType, variables: Sequence[str]) -> None:
        super().__init__(scope, code)
        self._variables = iter(variables)
        self._made: tuple[UserValue, ...] = ()

    def _take(self, made: tuple[UserValue, ...]) -> None:
        self._made = made

    def _reach(self, offset: int) -> None:
        if self._offset >= 0:  # a statement is done
            variable = next(self._variables)
            if len(self._made) == 1 and isinstance(self._made[0], Value):
                self._scope.suggest_name(self._made[0], variable)

    def stop(self, traceback: types.TracebackType | None) -> None:
        """Give the last names where an error has ended the code: not that of the statement it comes from."""
        self._scope.caller = None
        while traceback is not None and traceback.tb_frame.f_code is not self._code:
            traceback = traceback.tb_next
        if traceback is not None and traceback.tb_lasti > self._offset:
            self._reach(traceback.tb_lasti)


# -- Staging a function by calling it: Python runs the user's own code on symbolic tensors, and nothing
# else is needed --


@dataclass(frozen=True, slots=True)
class StraightCall:
    """A function that can be staged by calling it now."""

    function: types.FunctionType
    stores: tuple[Store, ...]
    code: StraightCode

    def run(self, scope: RecordingTarget, arguments: Mapping[str, UserValue]) -> UserValue:
        """The result of the function for these arguments; its operators go to `scope`."""
        self._check(arguments)
        code = self.function.__code__
        positional = code.co_varnames[: code.co_argcount]
        target = StoreNaming(scope, code, self.stores, arguments)
        token = ACTIVE.set(target)
        try:
            with staging(code, code.co_name):
                result = self.function(
                    *[arguments[name] for name in positional],
                    **{name: value for name, value in arguments.items() if name not in positional},
                )
            target.finish()
        finally:
            ACTIVE.reset(token)
        return result

    def _check(self, arguments: Mapping[str, UserValue]) -> None:
        """Refuse arguments whose use may change them, or do something: `self`, defaults."""
        if not all(is_harmless(arguments[name]) for name in self.code.arguments) or any(
            isinstance(arguments[name], CHANGEABLE) for name in self.code.changed_arguments
        ):
            raise Misjudged


def straight_call(straight: StraightCode | None, function: types.FunctionType) -> StraightCall | None:
    """How to stage a function by calling it; None where something outside it may change now, or do something."""
    found = None if straight is None else resolve(straight, function)
    if straight is None or found is None:
        return None
    if not all(is_plain_callee(found[chain]) for chain in straight.called):
        return None
    # What a class makes of an array, or an inlined script returns, may be an array of somebody else.
    if not all(isinstance(found[chain], Operator) for chain in straight.changed_results):
        return None
    if not all(map(is_harmless, found.values())):
        return None
    stores = straight.stores
    if any(isinstance(found[chain], type) for chain in straight.called):
        stores = tuple(each for each in stores if _may_be_value(each, found))
    return StraightCall(function, stores, straight)


def _may_be_value(store: Store, found: Mapping[Chain, UserValue]) -> bool:
    """True if a variable may get a tensor; what a class makes is none, whatever it does on the way."""
    callee = None if isinstance(store.origin, Argument) else store.origin.callee
    return callee is None or not isinstance(found[callee], type)
