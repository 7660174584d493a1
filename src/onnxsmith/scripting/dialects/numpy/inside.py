"""`onnxsmith.numpy.stage`: plain numpy code, called where a graph is being recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.core.operands import tensors_of_arrays
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import AttributeTypeError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from
from onnxsmith.numpy.creation import check_crossing
from onnxsmith.numpy.registry import entry_point
from onnxsmith.scripting.dialects.numpy.arguments import bound_arguments
from onnxsmith.scripting.dialects.numpy.dialect import NumpyDialect
from onnxsmith.scripting.dialects.numpy.raising import guarded
from onnxsmith.scripting.dialects.numpy.recording import numbers_of_numpys, plain_function, staged_function
from onnxsmith.scripting.staging.cells import CellScope
from onnxsmith.scripting.staging.closures import has_symbolic
from onnxsmith.scripting.staging.dialect import Dialect
from onnxsmith.scripting.staging.function_stager import Staging
from onnxsmith.scripting.staging.raised import Raises, collecting_raises
from onnxsmith.scripting.staging.structure import parts, rebuilt


@entry_point
def stage(
    function: Callable[..., Any], /, *args: Any, dialects: Sequence[Dialect] = (), **kwargs: Any
) -> Any:
    """The result of a plain function of numpy code on recorded arrays: its `if` and `for` become control flow.

    `dialects` are asked before that of numpy what the code means. An error that the code raises, and only the model
    knows whether it does, is raised by the model where the result is needed.

    >>> import onnxsmith.numpy as xp
    >>> from onnxsmith import DOUBLE, trace
    >>> def halved(x):
    ...     while x.max() > 1:
    ...         x = x / 2
    ...     return x
    >>> trace(lambda x: xp.stage(halved, xp.asarray(x)).tensor, DOUBLE["N"])([1.0, 6.0])
    array([0.125, 0.75 ])
    """
    given_dialects = cast(object, dialects)
    if not isinstance(given_dialects, Sequence) or not all(
        isinstance(each, Dialect) for each in cast("Sequence[object]", given_dialects)
    ):
        raise AttributeTypeError(
            f"dialects are a list of them, not {dialects!r}", culprit=("attribute", "dialects")
        )
    plain = plain_function(function)
    staged = staged_function(plain, Staging(*dialects, NumpyDialect()))
    given = bound_arguments(plain.signature, args, kwargs)
    with CellScope(), collecting_raises() as raises, numbers_of_numpys():
        made = staged(plain.arguments(given))
        return _guarded(made, raises) if isinstance(raises.which, Number) else made


def recorded_call(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function that jit made, called where a graph is being recorded: it is recorded with the rest.

    In a function on tensors these are what arrays are where that runs: it gets arrays, and gives tensors.
    """
    has_arrays = has_symbolic(_arrays_in((*args, *kwargs.values())))
    made = stage(function, *map(_as_array, args), **{name: _as_array(each) for name, each in kwargs.items()})
    return made if has_arrays else tensors_of_arrays(made)


def _arrays_in(values: Sequence[Any]) -> list[Any]:
    """The arrays of ours among values and in containers of them."""
    inner = [parts(each) for each in values]
    return [
        found
        for each, items in zip(values, inner, strict=True)
        for found in ([each] if items is None else _arrays_in([item for _, item in items]))
        if isinstance(found, Array)
    ]


def _as_array(value: Any) -> Any:
    """A value with arrays in the places of tensors."""
    inner = parts(value)
    if inner is not None:
        return rebuilt(value, [_as_array(each) for _, each in inner])
    if not isinstance(value, Tensor) or not value.is_symbolic or isinstance(value, Number):
        return value
    check_crossing(value)
    return array_from(value)


def _guarded(made: UserValue, raises: Raises) -> UserValue:
    """A result whose first array is there only where no error was raised."""
    if isinstance(made, Array) and made.is_symbolic and made.dtype.kind != "c":
        # A place that is there only without an error: so the type of the array stays known.
        (first,) = guarded(raises, [op.Identity(np.array(0, np.int64))])
        return array_from(op.Gather(op.Unsqueeze(made.tensor, np.array([0], np.int64)), first, axis=0))
    if isinstance(made, tuple):
        return (_guarded(made[0], raises), *made[1:]) if made else made
    return made
