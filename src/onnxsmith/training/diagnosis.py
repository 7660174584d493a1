"""Why a loss is NaN or infinite: the data, a weight, or the first node that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.graphs.model import Model
from onnxsmith.inspection import Node
from onnxsmith.observing import Observation, observe


def _kind(array: Any) -> str | None:
    """NaN or infinity, if an array has some."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fc":
        return None
    if np.isfinite(array.sum()):
        return None
    return "NaN" if np.isnan(array).any() else "infinite" if np.isinf(array).any() else None


def why_not_finite(step: Model, inputs: Mapping[str, Array], batch: Sequence[str]) -> tuple[str, str]:
    """A reason in words, and what to do, given the inputs of the step that failed."""
    for name in inputs:
        kind = _kind(inputs[name])
        if kind is None:
            continue
        place = ", ".join(str(each) for each in np.argwhere(~np.isfinite(inputs[name]))[0])
        if name in batch:
            return f"'{name}' of the batch is {kind} at [{place}]", "leave out such rows, or fill them"
        return (
            f"'{name}' is {kind} at [{place}] since the step before",
            "a lower rate or clip_norm=1.0 keeps steps small",
        )
    seen: dict[str, tuple[str, Node]] = {}

    def take(each: Observation) -> None:
        kind = _kind(each.value)
        if kind is not None and each.name not in seen:
            seen[each.name] = kind, each.node

    observe(step, [dict(inputs)], take, is_nested=False)
    return _first(step, seen)


def _first(step: Model, seen: Mapping[str, tuple[str, Node]]) -> tuple[str, str]:
    """The node that made the first bad value on the way to the loss."""
    name = step.outputs[0].name
    advice = "a lower rate, clip_norm=1.0 or another start keeps values in range"
    if name not in seen:
        return "the run does not give it again when it is looked at", advice
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
    place = f", {node.origin}" if getattr(node, "origin", None) else ""
    return f"the first node that made one is {node.op_type} '{node.name}'{of}{place} ({kind})", advice
