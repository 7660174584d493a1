"""The objects outside a function that its code refers to now: globals, and variables of the functions around it."""

from __future__ import annotations

import types

from onnxsmith.core.user_values import UserValue


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
