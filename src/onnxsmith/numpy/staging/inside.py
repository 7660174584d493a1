"""`onnxsmith.numpy.stage`: plain numpy code, called where a graph is being recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.staging.dialect import NumpyDialect, Substitutes
from onnxsmith.numpy.staging.raising import guarded
from onnxsmith.numpy.staging.recording import numbers_of_numpys, plain_function, staged_function
from onnxsmith.scripting.staging.cells import CellScope
from onnxsmith.scripting.staging.function_stager import Staging
from onnxsmith.scripting.staging.raised import Raises, collecting_raises


@public("stage")
def stage(
    function: Callable[..., Any], /, *args: Any, substitutes: Substitutes | None = None, **kwargs: Any
) -> Any:
    """The result of a plain function of numpy code on recorded arrays: its `if` and `for` become control flow.

    `substitutes` says what is called in the places of functions that another library has. An error that the code
    raises, and only the model knows whether it does, is raised by the model where the result is needed.

    >>> import onnxsmith.numpy as xp
    >>> from onnxsmith import DOUBLE, trace
    >>> def halved(x):
    ...     while x.max() > 1:
    ...         x = x / 2
    ...     return x
    >>> trace(lambda x: xp.stage(halved, xp.asarray(x)).tensor, DOUBLE["N"])([1.0, 6.0])
    array([0.125, 0.75 ])
    """
    plain = plain_function(function)
    staged = staged_function(plain, Staging(NumpyDialect(substitutes)))
    given = plain.signature.bind(*args, **kwargs)
    with CellScope(), collecting_raises() as raises, numbers_of_numpys():
        made = staged(plain.arguments(given.arguments))
        return _guarded(made, raises) if isinstance(raises.which, Number) else made


def _guarded(made: UserValue, raises: Raises) -> UserValue:
    """A result whose first array is there only where no error was raised."""
    if isinstance(made, Array) and made.is_symbolic and made.dtype.kind != "c":
        # A place that is there only without an error: so the type of the array stays known.
        (first,) = guarded(raises, [cast(Tensor, op.Identity(np.array(0, np.int64)))])
        return array_from(op.Gather(op.Unsqueeze(made.tensor, np.array([0], np.int64)), first, axis=0))
    if isinstance(made, tuple):
        return (_guarded(made[0], raises), *made[1:]) if made else made
    return made
