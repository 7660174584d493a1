"""Binding the arguments of a call of a Python function: what does not fit is an error of ours, at the call."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import wrong_call
from onnxsmith.source import Place, span_at


def bind_call(
    name: str,
    signature: inspect.Signature,
    args: Sequence[UserValue],
    kwargs: Mapping[str, UserValue],
    definition: Place | None = None,
) -> dict[str, UserValue]:
    """The arguments by parameter, with defaults for the rest.

    Raises CallError, placed at the user's call.
    """
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        wrong = wrong_call(name, signature, args, kwargs)
        if wrong is None:
            raise
        raise wrong.locate_at_caller().also(span_at(definition), "defined here") from None
    bound.apply_defaults()
    return dict(bound.arguments)
