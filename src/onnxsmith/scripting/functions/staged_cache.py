"""The graph that checking a script made, kept for the first model of it: decorating and exporting stage it once.

Only for scripts that depend on nothing that could change in between: operators, numbers, types, and scripts that
depend on such things themselves; and on arrays, which are compared with what they held.
"""

from __future__ import annotations

import types
from collections.abc import Hashable
from typing import Generic, TypeVar, cast

import numpy as np

from onnxsmith.core.captures import AnyArray
from onnxsmith.core.operator import Operator
from onnxsmith.core.user_values import UserValue
from onnxsmith.graphs.identity import array_key
from onnxsmith.scripting.functions.signature import ScriptSignature
from onnxsmith.scripting.source.outside import has_empty_cell, outside
from onnxsmith.scripting.staging.plain_outside import Script
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType, ValueType

#: What a script may refer to: none of these can change without becoming another object.
_UNCHANGING = (
    Operator,
    DType,
    ValueType,
    int,
    float,
    str,
    bool,
    type(None),
    types.BuiltinFunctionType,
    Script,
)
_MODULES = ("onnxsmith.opset", "math")
#: The most bytes of arrays that a script may refer to: comparing more takes longer than to stage the script again.
_COMPARED_BYTES = 1 << 20


StagedT = TypeVar("StagedT")


class StagedResult(Generic[StagedT]):
    """The result of staging a function, and the objects that the function referred to."""

    def __init__(self, function: types.FunctionType, staged: StagedT) -> None:
        self._staged = staged
        self._references = _references(function)
        # An array holds the same when its object does not; the graph that was made may share its memory.
        self._contents = [] if self._references is None else _contents(self._references)

    def take(self, function: types.FunctionType) -> StagedT | None:
        """The kept result, if staging would give the same now."""
        now = _references(function)
        same = now is not None and self._references is not None and now.keys() == self._references.keys()
        if not same or now is None or self._references is None:
            return None
        if not all(now[name] is value for name, value in self._references.items()):
            return None
        return self._staged if _contents(now) == self._contents else None


def _contents(references: dict[str, UserValue]) -> list[Hashable]:
    arrays = map(_as_array, references.values())
    return [array_key(each) for each in arrays if each is not None]


def _as_array(value: UserValue) -> AnyArray | None:
    return cast(AnyArray, value) if type(value) is np.ndarray else None


def can_keep(function: types.FunctionType, parameters: ScriptSignature) -> bool:
    """True if a script is the same whenever it is staged: typed inputs, no attributes, nothing that could change."""
    if parameters.attributes or parameters.is_variadic or parameters.has_self:
        return False
    inputs = parameters.inputs
    if any(
        not isinstance(each.type, TensorType) or each.type.dtype is None or each.has_default
        for each in inputs
    ):
        return False
    references = _references(function)
    if references is None:
        return False
    size = 0
    for each in references.values():
        array = _as_array(each)
        if array is not None:
            size += array.nbytes
            if array.dtype.hasobject or size > _COMPARED_BYTES:
                return False
        elif not _is_unchanging(each):
            return False
    return True


def _is_unchanging(value: UserValue) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.startswith(_MODULES)
    return isinstance(value, _UNCHANGING)


def _references(
    function: types.FunctionType, outer: tuple[types.FunctionType, ...] = ()
) -> dict[str, UserValue] | None:
    """The objects that a function refers to, and the scripts that it calls; None where that cannot be told."""
    # What lambdas and inner functions refer to is not seen here.
    has_inner = any(isinstance(each, types.CodeType) for each in function.__code__.co_consts)
    if has_inner or (function.__closure__ and has_empty_cell(function)) or function in outer:
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
