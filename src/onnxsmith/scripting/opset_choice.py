"""Which opset Python's own operators in a script use: the one that its code names."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

from onnxsmith.core.operator import Operator
from onnxsmith.opset.custom import Opset
from onnxsmith.opset.module import standard_version
from onnxsmith.schema.default_version import default_opset_version
from onnxsmith.scripting.closures import is_user_code


def named_version(value: Any) -> int | None:
    """The version of the standard domain that an opset, one of its operators, or a plain number stands for."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, Operator):
        return value.version if value.definition.domain == "" else None
    if isinstance(value, Opset):
        return value.version if value.domain == "" else None
    return standard_version(value)


def choose_version(function: types.FunctionType) -> int:
    """The newest version that a function or a helper of it names, or the newest that runs."""
    versions = {
        version
        for each in _used(function, set())
        if not isinstance(each, int) and (version := named_version(each))
    }
    return max(versions) if versions else default_opset_version()


def _used(function: types.FunctionType, seen: set[int]) -> Iterator[Any]:
    """What the code of a function refers to outside it, and the code of the helpers among that."""
    if id(function) in seen:
        return
    seen.add(id(function))
    try:
        outer = inspect.getclosurevars(function)
    except ValueError:  # a cell that is still empty
        return
    for value in (*outer.nonlocals.values(), *outer.globals.values()):
        # A script that is called is a function of its own, with an opset of its own; a helper is staged in place.
        if isinstance(value, types.FunctionType) and is_user_code(value):
            yield from _used(value, seen)
        else:
            yield value
