"""The functions of the user, and those of them that a function refers to."""

from __future__ import annotations

import inspect
import types
from typing import cast

from onnxsmith.source import is_library


def is_user_code(function: types.FunctionType) -> bool:
    """True if a function belongs to the user's program and not to a library."""
    return not is_library(function.__code__.co_filename)


def helpers_of(function: types.FunctionType) -> list[types.FunctionType]:
    """The plain functions of the user's that a function refers to, and those that these refer to."""
    found: dict[int, types.FunctionType] = {}
    waiting = [function]
    while waiting:
        try:
            outer = inspect.getclosurevars(waiting.pop())
        except ValueError:  # a cell that is still empty
            continue
        for value in (*outer.nonlocals.values(), *outer.globals.values()):
            plain = (
                getattr(value, "function", None) if hasattr(type(cast(object, value)), "to_model") else value
            )
            if isinstance(plain, types.FunctionType) and id(plain) not in found and is_user_code(plain):
                found[id(plain)] = plain
                waiting.append(plain)
    return list(found.values())
