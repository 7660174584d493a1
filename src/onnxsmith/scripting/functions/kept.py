"""The graph that checking a script made, kept for the first model of it: decorating and exporting stage it once.

Only for scripts that depend on nothing that could change in between: operators, numbers, types, and scripts that
depend on such things themselves.
"""

from __future__ import annotations

import types
from typing import Generic, TypeVar

from onnxsmith.core.operator import Operator
from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.functions.signature import ScriptSignature
from onnxsmith.scripting.source.outside import has_empty_cell, outside
from onnxsmith.scripting.staging.plain_outside import Script
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType, ValueType

#: What a script may refer to: none of these can change without becoming another object.
_UNCHANGING = (Operator, DType, ValueType, int, float, str, bool, type(None), types.BuiltinFunctionType)
_MODULES = ("onnxsmith.opset", "math")


StagedT = TypeVar("StagedT")


class Kept(Generic[StagedT]):
    """What was made of a function, and what the function referred to."""

    def __init__(self, function: types.FunctionType, staged: StagedT) -> None:
        self._staged = staged
        self._references = _references(function)

    def take(self, function: types.FunctionType) -> StagedT | None:
        """What was made, if it would be made the same way now."""
        now = _references(function)
        same = now is not None and self._references is not None and now.keys() == self._references.keys()
        if not same or now is None or self._references is None:
            return None
        return self._staged if all(now[name] is value for name, value in self._references.items()) else None


def can_keep(function: types.FunctionType, parameters: ScriptSignature) -> bool:
    """Whether a script is the same whenever it is staged: typed inputs, no attributes, nothing that could change."""
    if parameters.attributes or parameters.is_variadic or parameters.has_self:
        return False
    inputs = parameters.inputs
    if any(
        not isinstance(each.type, TensorType) or each.type.dtype is None or each.has_default
        for each in inputs
    ):
        return False
    references = _references(function)
    return references is not None and all(_is_unchanging(each) for each in references.values())


def _is_unchanging(value: UserValue) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.startswith(_MODULES)
    return isinstance(value, (*_UNCHANGING, Script))


def _references(
    function: types.FunctionType, outer: tuple[types.FunctionType, ...] = ()
) -> dict[str, UserValue] | None:
    """What a function refers to, and the scripts that it calls; None where that cannot be told."""
    # What lambdas and inner functions refer to is not seen here.
    has_inner = any(isinstance(each, types.CodeType) for each in function.__code__.co_consts)
    if has_inner or has_empty_cell(function) or function in outer:
        return None
    found = outside(function)
    for name, value in list(found.items()):
        if isinstance(value, Script):
            called: object = getattr(value, "function", None)
            inner = (
                _references(called, (*outer, function)) if isinstance(called, types.FunctionType) else None
            )
            if inner is None:
                return None
            found |= {f"{name}.{each}": held for each, held in inner.items()}
    return found
