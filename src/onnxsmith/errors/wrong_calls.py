"""A call whose arguments do not fit a function's parameters, as an error that says which one and what was meant."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors.functions import CallError


def wrong_call(
    name: str, signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> CallError | None:
    """The error of a call; None if the arguments fit.

    A keyword that is no parameter comes first: where it is misspelt, the one that it was meant for is missing, too.
    """
    parameters = list(signature.parameters.values())
    shown = parameters[1:] if parameters and parameters[0].name == "self" else parameters
    form = f"{name}({', '.join(_forms(shown))})"
    if not any(each.kind is each.VAR_KEYWORD for each in parameters):
        by_keyword = [
            each.name for each in shown if each.kind not in (each.POSITIONAL_ONLY, each.VAR_POSITIONAL)
        ]
        for wrong in kwargs:
            if wrong not in by_keyword:
                return CallError(
                    f"{name} has no parameter '{wrong}'",
                    help=did_you_mean(wrong, by_keyword) or form,
                    culprit=wrong,
                )
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return CallError(f"{name}: {error}", help=form)
    return None


def _forms(parameters: Iterable[inspect.Parameter]) -> list[str]:
    """Parameters as they stand in a signature, with the star before those that go by name only."""
    texts: list[str] = []
    has_star = False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not has_star:
            texts.append("*")
        has_star = has_star or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        texts.append(_form(each))
    return texts


def _form(parameter: inspect.Parameter) -> str:
    """One parameter; annotations that are text are shown without quotes."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = stars + parameter.name
    has_annotation = parameter.annotation is not parameter.empty
    if has_annotation:
        annotation = parameter.annotation
        text += f": {annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {parameter.default!r}" if has_annotation else f"={parameter.default!r}"
    return text
