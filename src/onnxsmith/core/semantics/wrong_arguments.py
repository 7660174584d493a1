"""A method of a tensor called with what it does not take, `x.sum(dim=0)`: an error that says what to write."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onnxsmith.errors import CallError, wrong_call

#: What other libraries call a parameter that these methods have.
_NAMES = {
    "dim": "axis",
    "dims": "axis",
    "axes": "axis",
    "dim0": "axis1",
    "dim1": "axis2",
    "keepdim": "keepdims",
    "keep_dims": "keepdims",
    "correction": "ddof",
    "a_min": "min",
    "a_max": "max",
    "to": "dtype",
}
#: numpy's parameters that these methods do not have, and what to write.
_INSTEAD = {
    "dtype": "convert it before: x.astype(…).{name}(…)",
    "out": "tensors do not change: assign the result",
    "where": "choose the elements before: op.Where(condition, x, …).{name}(…)",
    "initial": "join it afterwards with the result",
    "order": "elements stand row by row; x.transpose(…) before gives another order",
    "copy": "tensors do not change, so that none needs a copy: leave it out",
    "casting": "leave it out: astype converts to every element type",
    "kind": "leave it out: equal elements stay in their order",
    "stable": "leave it out: equal elements stay in their order",
    "descending": "(-x).argsort(…)",
}


def wrong_arguments(
    method: Callable[..., Any], args: Sequence[object], kwargs: Mapping[str, object]
) -> CallError | None:
    """The error for a call of a method; None where the arguments fit."""
    signature, name = inspect.signature(method), method.__name__
    parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    error = wrong_call(f"x.{name}", signature.replace(parameters=parameters), args, kwargs)
    if error is None or error.culprit is None:
        return error
    wrong = str(error.culprit[1])
    meant = _NAMES.get(wrong)
    if meant in signature.parameters:
        is_plain = type(kwargs[wrong]) in (bool, int, tuple)
        error.help = f"{meant}={kwargs[wrong]!r}" if is_plain else f"{meant}=…"
    elif wrong in _INSTEAD:
        error.help = _INSTEAD[wrong].format(name=name)
    return error
