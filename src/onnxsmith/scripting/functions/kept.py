"""The graph that checking a script made, kept for the first model of it: decorating and exporting stage it once.

Only for scripts that hang on nothing that could change in between: operators, numbers and types.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from onnxsmith.core.operator import Operator
from onnxsmith.scripting.source.outside import has_empty_cell, outside
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType, ValueType

if TYPE_CHECKING:
    from onnxsmith.graphs.builder import GraphTarget
    from onnxsmith.scripting.functions.function import ScriptFunction
    from onnxsmith.scripting.functions.stage_script import Staged

#: What a script may refer to: none of these can change without becoming another object.
_UNCHANGING = (Operator, DType, ValueType, int, float, str, bool, type(None), types.BuiltinFunctionType)
_MODULES = ("onnxsmith.opset", "math")


class Kept:
    """A staged script, and what it referred to."""

    def __init__(self, script: ScriptFunction, staged: Staged[GraphTarget]) -> None:
        self._staged = staged
        self._references = _references(script)

    def take(self, script: ScriptFunction) -> Staged[GraphTarget] | None:
        """The staged script, if it would be staged the same way now."""
        now = _references(script)
        same = now is not None and self._references is not None and now.keys() == self._references.keys()
        if not same or now is None or self._references is None:
            return None
        return self._staged if all(now[name] is value for name, value in self._references.items()) else None


def can_keep(script: ScriptFunction) -> bool:
    """Whether a script is the same whenever it is staged: typed inputs, no attributes, nothing that could change."""
    if (
        script.parameters.attributes
        or script.fixed_arguments
        or script.parameters.is_variadic
        or script.is_inline
    ):
        return False
    if any(isinstance(each, types.CodeType) for each in script.function.__code__.co_consts):
        return False  # what lambdas and inner functions refer to is not seen below
    inputs = script.parameters.inputs
    if any(
        not isinstance(each.type, TensorType) or each.type.dtype is None or each.has_default
        for each in inputs
    ):
        return False
    references = _references(script)
    return references is not None and all(_is_unchanging(each) for each in references.values())


def _is_unchanging(value: object) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.startswith(_MODULES)
    return isinstance(value, _UNCHANGING)


def _references(script: ScriptFunction) -> dict[str, object] | None:
    return None if has_empty_cell(script.function) else outside(script.function)
