"""Functions that are written in C and that numpy code hands arrays to: they see no elements when a model is made."""

from __future__ import annotations

import sys
import types
from typing import cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import OnnxsmithError, TracedValueError
from onnxsmith.scripting.dialects.numpy.callees import as_ours, holds_open
from onnxsmith.scripting.staging.script_values import Function

#: A flag of classes that Python code or a newer C interface made.
_HEAP_TYPE = 1 << 9
_CYTHON = ("cython_function_or_method", "fused_cython_function")


def compiled(function: Function) -> Function | None:
    """The function that is called in the place of one of a module in C; None for all others."""
    owner: object = getattr(function, "__self__", None)
    is_of_module = isinstance(function, types.BuiltinFunctionType) and (
        owner is None or isinstance(owner, types.ModuleType)
    )
    if not is_of_module and type(function).__name__ not in _CYTHON and not _is_class_in_c(function):
        return None

    def call(*args: UserValue, **kwargs: UserValue) -> UserValue:
        _speaks_for_callee = True
        given = (*args, *kwargs.values())
        if not any(map(holds_open, given)):
            return as_ours(function(*args, **kwargs), given)
        try:
            return function(*args, **kwargs)
        except OnnxsmithError as error:
            error.help = _help(function) if error.help is None else f"{_help(function)};\n{error.help}"
            raise
        except Exception:  # whatever it says of an object that it does not know
            raise TracedValueError(
                f"{_shown(function)} takes no array that only the model knows", help=_help(function)
            ).locate_at_caller() from None

    return call


def behind_numba(function: Function) -> Function | None:
    """The Python function that numba compiles, which is staged in its place; None for all others.

    A dispatcher of numba's is known by its module, so that numba is not imported.
    """
    kind: type[object] = type(function)
    if not kind.__module__.startswith("numba."):
        return None
    dispatcher: object = getattr(function, "_dispatcher", function)  # of `numba.vectorize`
    behind: object = getattr(dispatcher, "py_func", None)
    if not isinstance(behind, types.FunctionType):
        return None
    return behind if dispatcher is function else cast(Function, np.vectorize(behind))


def _is_class_in_c(function: Function) -> bool:
    """True if a function is a class of a library that is written in C, such as `np.nditer`."""
    return (
        isinstance(function, type)
        and not function.__flags__ & _HEAP_TYPE
        and function.__module__.partition(".")[0] not in sys.stdlib_module_names
    )


def _shown(function: Function) -> str:
    module: str | None = getattr(function, "__module__", None)
    name: str = getattr(function, "__name__", repr(function))
    return name if module in (None, "builtins") else f"{'np' if module == 'numpy' else module}.{name}"


def _help(function: Function) -> str:
    return f"{_shown(function)} is written in C: write what it computes with functions of numpy"
