"""The opset that Python's own operators in a script use: the one that its code names."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Protocol, TypeAlias, cast

from onnxsmith.core.operator import Operator
from onnxsmith.core.user_values import UserValue
from onnxsmith.opset.custom import Opset
from onnxsmith.opset.module import standard_version
from onnxsmith.scripting.source.outside import outside
from onnxsmith.scripting.source.user_code import is_user_code

#: What says which opset is meant: an opset, the module of one, or its version.
OpsetLike: TypeAlias = Opset | types.ModuleType | int


def named_version(value: OpsetLike | Operator | UserValue) -> int | None:
    """The version of the standard domain that an opset, one of its operators, or a plain number stands for."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, Operator):
        return value.version if value.definition.domain == "" else None
    if isinstance(value, Opset):
        return value.version if value.domain == "" else None
    return standard_version(value) if isinstance(value, types.ModuleType) else None


def found_version(function: types.FunctionType) -> int | None:
    """The newest version that a function or a helper of it names; else that of the models it refers to, if any."""
    used = list(_used(function, set()))
    versions = {version for each in used if not isinstance(each, int) and (version := named_version(each))}
    versions = versions or {version for each in used if (version := _version_of_model(each))}
    return max(versions) if versions else None


def _version_of_model(value: UserValue) -> int | None:
    # Told by what its class has: importing Model would import onnx-ir with every script.
    if not hasattr(type(value), "opset_imports"):
        return None
    return cast(_Importing, value).opset_imports.get("")


class _Importing(Protocol):
    """A model, and what it imports."""

    @property
    def opset_imports(self) -> Mapping[str, int]: ...


def _used(function: types.FunctionType, seen: set[int]) -> Iterator[UserValue]:
    """The objects outside a function that its code refers to, with those of the helpers among them."""
    if id(function) in seen:
        return
    seen.add(id(function))
    for value in outside(function).values():
        # A script that is called is a function of its own, with an opset of its own; a helper is staged in place.
        if isinstance(value, types.FunctionType) and is_user_code(value):
            yield from _used(value, seen)
        else:
            yield value
