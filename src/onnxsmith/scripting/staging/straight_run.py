"""Staging a function by calling it: Python runs the user's own code on symbolic tensors, and nothing else is needed.

Only for functions that `analysis.straight` has read, and that now use nothing from outside but what stays as it is:
operators, scripts, numbers, arrays that are only read. So nothing has to be watched. Whatever goes wrong is not told
here: the function is staged again from its syntax tree, which finds all mistakes and their places.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass

from onnxsmith.core.operator import Operator
from onnxsmith.core.target import ACTIVE, RecordingTarget
from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.analysis.straight import Argument, Chain, Store, StraightCode
from onnxsmith.scripting.staging.call_stack import staging
from onnxsmith.scripting.staging.naming_targets import Misjudged, StoreNaming
from onnxsmith.scripting.staging.plain_outside import CHANGEABLE, is_harmless, is_plain_callee, resolve


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
