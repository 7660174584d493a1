"""Binding the arguments of a call of a Python function: what does not fit is an error of ours, at the call."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import CallError
from onnxsmith.source import Span

_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(?P<name>.*)'")


def bind_call(
    name: str,
    signature: inspect.Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    definition: Span | None = None,
) -> dict[str, Any]:
    """The arguments by parameter, with defaults for the rest.

    Raises CallError, placed at the user's call.
    """
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise _wrong_call(name, signature, str(error), definition) from None
    bound.apply_defaults()
    return dict(bound.arguments)


def _wrong_call(name: str, signature: inspect.Signature, reason: str, definition: Span | None) -> CallError:
    form = f"{name}({', '.join(_parameter(each) for each in signature.parameters.values())})"
    unexpected = _UNEXPECTED.fullmatch(reason)
    if unexpected is None:
        error = CallError(f"{name}: {reason}", help=form)
    else:
        wrong = unexpected["name"]
        meant = did_you_mean(wrong, signature.parameters)
        error = CallError(
            f"{name} has no parameter '{wrong}'", help=meant or form, culprit=("attribute", wrong)
        )
    return error.locate_at_caller().also(definition, "defined here")


def _parameter(parameter: inspect.Parameter) -> str:
    """A parameter as it stands in a signature; annotations that are text are shown without quotes."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = stars + parameter.name
    has_annotation = parameter.annotation is not parameter.empty
    if has_annotation:
        annotation = parameter.annotation
        text += f": {annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {parameter.default!r}" if has_annotation else f"={parameter.default!r}"
    return text
