"""Arrays that compute as numpy does, as tensors see them: by what such an array can be asked, not by its class.

The namespace of those arrays stands above, and nothing here knows it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value

#: What a number or an array of numpy's, or a tensor, is where a function of numpy code is staged: an array that
#: computes as numpy does. Elsewhere it is None, and such a number is a literal.
NUMPYS_NUMBER: ContextVar[Callable[[np.generic | np.ndarray | Value], object] | None] = ContextVar(
    "onnxsmith_numpys_number", default=None
)


def in_numpy_code(value: object) -> object:
    """The value as numpy code sees it: there, numbers and arrays of numpy's are arrays that compute as numpy does.

    So they are in control flow of the model, and beside a number that only the model knows. Both forms count: numpy
    itself makes an array of a number that it compares with an object.
    """
    if not isinstance(value, np.generic | np.ndarray):
        return value
    make, given = NUMPYS_NUMBER.get(), cast("np.generic | np.ndarray", value)
    return given if make is None else make(given)


def has_numpys_meaning(value: object) -> bool:
    """True if a value is an array of another namespace, with operators of its own."""
    return hasattr(value, "__array_namespace__") and not isinstance(value, np.ndarray | np.generic)


def holds_tensor(value: object) -> bool:
    """True if a value is an array that computes as numpy does, and holds a tensor of ours."""
    return not isinstance(value, Value) and has_numpys_meaning(value) and hasattr(type(value), "tensor")


def tensors_of_arrays(result: UserValue) -> UserValue:
    """The result of a function, with the tensors that arrays hold in their place: outputs are tensors."""
    if isinstance(result, tuple):
        return tuple(tensors_of_arrays(each) for each in result)
    if isinstance(result, list):
        return [tensors_of_arrays(each) for each in result] if any(map(holds_tensor, result)) else result
    return cast(Value, getattr(result, "tensor")) if holds_tensor(result) else result  # noqa: B009  # of no class here
