"""Errors of Python on the numbers of a script, reported as a model reports them.

`8 // len(x)` is Python's own division where the script runs eagerly, and an operator of the model where it does not.
"""

from __future__ import annotations

import numpy as np

from onnxsmith.errors import DivisionByZeroError, OnnxsmithError, UnknownMethodError
from onnxsmith.errors.kinds import BY_ZERO
from onnxsmith.source import is_from_user, traceback_span


def division_of(script: str, error: ZeroDivisionError) -> ZeroDivisionError:
    """The error for a division in a script's own code; as it is where a library divides, or a power is asked for."""
    if isinstance(error, OnnxsmithError) or "power" in str(error) or not is_from_user(error.__traceback__):
        return error
    made = DivisionByZeroError(f"{script} cannot run: {BY_ZERO}")
    return made.locate(traceback_span(error.__traceback__))


def method_of_tensors(error: AttributeError) -> UnknownMethodError | None:
    """The error for `array.at`: tensors alone have it, and a loop of the model makes a tensor of an array."""
    if not isinstance(error.obj, np.ndarray) or error.name != "at" or not is_from_user(error.__traceback__):
        return None
    return UnknownMethodError(
        "an array of numpy has no attribute 'at', which tensors have",
        help="begin with a tensor, as in out = onnxsmith.tensor(np.zeros(3, np.float32))",
    ).locate(traceback_span(error.__traceback__))
