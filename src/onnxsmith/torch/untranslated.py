"""The error for operators that have no translation: all of them at once, with the place, the reason and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from onnxsmith.errors import UntranslatedOperatorError
from onnxsmith.source import Span
from onnxsmith.torch.library.kinds import Target, known_arguments, schema_of
from onnxsmith.torch.library.registry import TRANSLATIONS
from onnxsmith.torch.origins import stored

_SHOWN_CALLS = 3


@dataclass(frozen=True, slots=True)
class Failure:
    """One call that nothing translates."""

    overload: str
    target: Target
    node: torch.fx.Node
    span: Span | None
    reason: str


def untranslated(failures: Sequence[Failure]) -> UntranslatedOperatorError:
    """The error that lists every operator once, with its calls."""
    by_overload: dict[str, list[Failure]] = {}
    for each in failures:
        by_overload.setdefault(each.overload, []).append(each)
    count = len(by_overload)
    lines = [
        f"{count} operator{'s' * (count != 1)} of the module {'have' if count != 1 else 'has'} no translation to ONNX:"
    ]
    for overload, calls in by_overload.items():
        lines.append(f"  {overload}({_types(calls[0].node)})")
        reasons = sorted({each.reason for each in calls if each.reason})
        lines += [f"    because of {reason}" for reason in reasons]
        places = list(dict.fromkeys(_place(each.span) for each in calls if each.span is not None))
        lines += [f"    called at {place}" for place in places[:_SHOWN_CALLS]]
        if len(places) > _SHOWN_CALLS:
            lines.append(f"    and at {len(places) - _SHOWN_CALLS} more places")
        near = _nearest(overload)
        if near:
            lines.append(f"    there is a translation of {near}")
    error = UntranslatedOperatorError("\n".join(lines), help=_template(next(iter(by_overload.values()))[0]))
    first = next((each.span for each in failures if each.span is not None), None)
    return error.locate(first)


def _nearest(overload: str) -> str | None:
    """Another overload of the same operator, or one of an operator of almost the same name."""
    by_name: dict[str, str] = {}
    for each in sorted(TRANSLATIONS):
        by_name.setdefault(each.rpartition(".")[0], each)
    near = difflib.get_close_matches(overload.rpartition(".")[0], by_name, 1, 0.8)
    return by_name[near[0]] if near else None


def _place(span: Span) -> str:
    return f"{stored(span).rsplit(':', 2)[0]} in {span.function}"


def _types(node: torch.fx.Node) -> str:
    shown: list[str] = []
    for fake in known_arguments(node)[0]:
        if isinstance(fake, torch.Tensor):
            dtype = str(fake.dtype).removeprefix("torch.")
            shown.append(f"{dtype}[{', '.join(map(str, fake.shape))}]")
        else:
            shown.append(str(fake))
    return ", ".join(shown)


def _template(failure: Failure) -> str:
    schema = schema_of(failure.target)
    if schema is None:
        return "export(translations={…: function}) takes a function on tensors for each of them"
    parameters: list[str] = []
    for each in schema.arguments:
        default = f"={each.default_value!r}" if each.has_default_value() else ""
        parameters.append(f"{each.name.replace('self', 'x')}{default}")
    name = schema.name.partition("::")[2]
    return (
        "give a translation, a function on tensors that calls operators or is a script:\n"
        f"    def {name}({', '.join(parameters)}):\n"
        "        return …\n"
        f"    export(…, translations={{torch.ops.{failure.overload}: {name}}})"
    )
