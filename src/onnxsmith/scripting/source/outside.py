"""The objects outside a function that its code refers to now: globals, and variables of the functions around it."""

from __future__ import annotations

import inspect
import types
from typing import cast

from onnxsmith.core.user_values import UserValue
from onnxsmith.source import is_library


def outside(function: types.FunctionType) -> dict[str, UserValue]:
    """The values of the names that a function's own code takes from around it; builtins are left out.

    So is a variable that has no value yet.
    """
    code, global_names = function.__code__, function.__globals__
    found: dict[str, UserValue] = {name: global_names[name] for name in code.co_names if name in global_names}
    if code.co_freevars:
        # An attribute may be called as a variable around the function, which a global of that name is not.
        found = {name: each for name, each in found.items() if name not in code.co_freevars}
        found |= closure_of(function)
    return found


def has_empty_cell(function: types.FunctionType) -> bool:
    """True if a variable around a function has no value yet."""
    return len(closure_of(function)) < len(function.__code__.co_freevars)


def closure_of(function: types.FunctionType) -> dict[str, UserValue]:
    """The variables of the functions around a function, as they are now; those without a value are left out."""
    found: dict[str, UserValue] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # assigned later, or deleted
            continue
    return found


# -- The functions of the user, and those of them that a function refers to --


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
