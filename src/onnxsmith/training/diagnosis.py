"""Why a loss is NaN or infinite: the data, a weight, or the first node that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.graphs.model import Model
from onnxsmith.inspection import Node
from onnxsmith.observing import Observation, observe
from onnxsmith.source import Span


def _kind(array: Any) -> str | None:
    """NaN or infinity, if an array has some."""
    if not isinstance(array, np.ndarray):
        return None
    numbers = cast(Array, array)
    if numbers.dtype.kind != "f":
        return None
    return "NaN" if np.isnan(numbers).any() else "infinite" if np.isinf(numbers).any() else None


class Reason(NamedTuple):
    """Why, in words, what to do, and the user's code that is at fault where it is known."""

    text: str
    help: str
    place: Span | None = None
    #: True if the state was no number before the step already.
    is_of_state: bool = False


def why_not_finite(step: Model, inputs: Mapping[str, Array], batch: Sequence[str]) -> Reason:
    """Why the loss is no number, given the inputs of the step that failed."""
    for name in inputs:
        kind = _kind(inputs[name])
        if kind is None:
            continue
        place = ", ".join(str(each) for each in np.argwhere(~np.isfinite(inputs[name]))[0])
        if name in batch:
            return Reason(
                f"'{name}' of the batch is {kind} at [{place}]", "leave out such rows, or fill them"
            )
        return Reason(
            f"'{name}' is {kind} at [{place}] since the step before",
            "a lower rate or clip_norm=1.0 keeps steps small; the state is that of before the fit",
            is_of_state=True,
        )
    seen: dict[str, tuple[str, Node]] = {}

    def take(each: Observation) -> None:
        kind = _kind(each.value)
        if kind is not None and each.name not in seen:
            seen[each.name] = kind, each.node

    observe(step, [dict(inputs)], take, is_nested=False)
    return _first(step, seen)


def _first(step: Model, seen: Mapping[str, tuple[str, Node]]) -> Reason:
    """The node that made the first bad value on the way to the loss."""
    name = step.outputs[0].name
    advice = "a lower rate, clip_norm=1.0 or another start keeps values in range"
    if name not in seen:
        return Reason("a second run of the step gives a number", advice)
    kind, node = seen[name]
    while True:
        # A NaN says more than an infinity, which masks have on purpose.
        before = [each.name for each in node.inputs if each is not None and each.name in seen]
        before.sort(key=lambda each: seen[each][0] != "NaN")
        if not before:
            break
        kind, node = seen[before[0]]
    values = [each for each in node.inputs if each is not None and each.name]
    of = " of " + ", ".join(f"'{each.name}'" for each in values) if values else ""
    return Reason(
        f"the first node that made one is {node.op_type} '{node.name}'{of} ({kind})", advice, node.source
    )
