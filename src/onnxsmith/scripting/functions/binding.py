"""Binding the arguments of a call of a Python function: what does not fit is an error of ours, at the call."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import OnnxsmithError, wrong_call
from onnxsmith.source import Place, argument_span, caller_span, span_at

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition
    from onnxsmith.scripting.functions.signature import ScriptParameter

E = TypeVar("E", bound=OnnxsmithError)


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


def at_argument(error: E, script: ScriptDefinition, parameter: ScriptParameter) -> E:
    """The error at the argument that the user gives for a parameter, and at the parameter's definition."""
    position = [each.name for each in script.parameters.parameters if each.role != "self"].index(
        parameter.name
    )
    call = caller_span()
    argument = None if call is None else argument_span(call, parameter.name) or argument_span(call, position)
    return error.locate(argument or call).also(script.places.parameter(parameter.name), "declared here")
