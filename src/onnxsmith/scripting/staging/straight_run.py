"""Staging a function by calling it: Python runs the user's own code on symbolic tensors, and nothing else is needed.

Only for functions that `analysis.straight` has read, and that now use nothing from outside but what stays as it is:
operators, scripts, numbers, arrays that are only read. So nothing has to be watched. Whatever goes wrong is not told
here: the function is staged again from its syntax tree, which finds all mistakes and their places.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from onnxsmith.core.operator import Operator
from onnxsmith.core.operator_protocols import AnyOperator, StandardOperators
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import ACTIVE, RecordingTarget
from onnxsmith.core.value import Operand, Value
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import Known
from onnxsmith.scripting.analysis.straight import Argument, Chain, Store, StraightCode
from onnxsmith.scripting.staging.call_stack import staging
from onnxsmith.scripting.staging.plain_outside import CHANGEABLE, is_harmless, is_plain_callee, resolve


class Misjudged(Exception):
    """The code does what only its syntax tree tells enough of."""


@dataclass(frozen=True, slots=True)
class StraightCall:
    """A function that can be staged by calling it now."""

    function: types.FunctionType
    stores: tuple[Store, ...]
    code: StraightCode

    def run(self, scope: RecordingTarget, arguments: Mapping[str, object]) -> object:
        """What the function returns for these arguments; its operators go to `scope`."""
        self._check(arguments)
        code = self.function.__code__
        positional = code.co_varnames[: code.co_argcount]
        target = NamingTarget(scope, code, self.stores, arguments)
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

    def _check(self, arguments: Mapping[str, object]) -> None:
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


def _may_be_value(store: Store, found: Mapping[Chain, object]) -> bool:
    """Whether a variable may get a tensor; what a class makes is none, whatever it does on the way."""
    callee = None if isinstance(store.origin, Argument) else store.origin.callee
    return callee is None or not isinstance(found[callee], type)


class NamingTarget:
    """Hands calls on to a graph, and names values after the variables that the user's code has stored them to by then.

    The code has no jumps, so that the instruction it stands at says which stores lie behind it.
    """

    needs_inference: ClassVar[bool] = True

    def __init__(
        self,
        scope: RecordingTarget,
        code: types.CodeType,
        stores: Sequence[Store],
        arguments: Mapping[str, object],
    ) -> None:
        self._scope = scope
        self._code = code
        self._arguments = arguments
        self._stores = stores
        self._next = 0
        self._next_offset = stores[0].offset if stores else sys.maxsize
        #: What instructions gave whose value gets a name, by offset.
        self._results: dict[int, tuple[Operand, ...]] = {}

    def note(self, result: object) -> None:
        """Take note of what a script that the user's code calls now gives."""
        values = (
            cast("tuple[Operand, ...]", result) if isinstance(result, tuple) else (cast(Operand, result),)
        )
        self._results[self._advance()] = values

    def finish(self) -> None:
        """Give the last names."""
        self._name_until(sys.maxsize)

    def _advance(self) -> int:
        """The instruction that the user's code stands at; all stores before it are done."""
        frame: types.FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack cheaply
        code = self._code
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        if frame is None:
            return -1
        offset = frame.f_lasti
        if offset > self._next_offset:
            self._name_until(offset)
        return offset

    def _name_until(self, offset: int) -> None:
        stores = self._stores
        while self._next_offset < offset:
            store = stores[self._next]
            value = self._value_of(store)
            if isinstance(value, Value) and value.is_symbolic:
                self._scope.suggest_name(value, store.name)
            self._next += 1
            self._next_offset = stores[self._next].offset if self._next < len(stores) else sys.maxsize

    def _value_of(self, store: Store) -> object:
        origin = store.origin
        if isinstance(origin, Argument):
            return self._arguments[origin.name]
        values = self._results.get(origin.offset, ())
        if origin.position is None:
            return values[0] if len(values) == 1 else None
        if len(values) < 2:
            raise Misjudged  # rows of a tensor
        return values[origin.position]

    # -- the target protocol ---------------------------------------------------------------------------

    @property
    def is_exact(self) -> bool:
        return self._scope.is_exact

    @property
    def recording(self) -> RecordingTarget:
        self._advance()
        return self._scope

    @property
    def operators(self) -> StandardOperators:
        return self._scope.operators

    def constant(self, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> object:
        self._advance()
        return self._scope.constant(array)

    def stored(self, value: Stored) -> object:
        self._advance()
        return self._scope.stored(value)

    def sequence(self, elements: Sequence[object]) -> object:
        self._advance()
        return self._scope.sequence(elements)

    def run_bodies(
        self, op: OperatorDef, inputs: Sequence[object], attributes: Mapping[str, object]
    ) -> tuple[object, ...] | None:
        return self._scope.run_bodies(op, inputs, attributes)

    def emit(
        self,
        op: OperatorDef,
        version: int | None,
        inputs: Sequence[object],
        attributes: Mapping[str, object],
        output_count: int,
        outputs: Sequence[Known],
    ) -> tuple[Operand, ...]:
        offset = self._advance()
        made = self._scope.emit(op, version, inputs, attributes, output_count, outputs)
        self._results[offset] = made
        return made

    def learn(
        self,
        operator: AnyOperator,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        lifted: Sequence[object],
        attributes: Mapping[str, object],
        output_count: int,
    ) -> None:
        self._scope.learn(operator, args, kwargs, lifted, attributes, output_count)
