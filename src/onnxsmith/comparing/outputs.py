"""The outputs of two runs: which belong together, and how they differ. Does not say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from onnxsmith.comparing.sides import Side
from onnxsmith.comparing.signatures import as_wide
from onnxsmith.comparing.tolerance import (
    Difference,
    Tolerance,
    difference,
    distances,
    in_narrower,
    is_drift,
    is_text,
    kinds_differ,
    without_mask,
)
from onnxsmith.graphs.run_values import Array, RunValue


@dataclass(frozen=True, slots=True)
class OutputPair:
    """An output of the first run and its counterpart; None where a model has none."""

    name: str
    left: ir.Value | None
    right: ir.Value | None


def paired_outputs(left: Side, right: Side) -> list[OutputPair]:
    """The outputs of both: by name where the names are the same or some are missing, else in order."""
    ours, theirs = (
        dict(zip((port.name for port in side.model.outputs), side.line.outputs, strict=False))
        for side in (left, right)
    )
    is_named = ours.keys() == theirs.keys() or (
        len(ours) != len(theirs) and not ours.keys().isdisjoint(theirs)
    )
    if is_named:
        names = list(dict.fromkeys((*ours, *theirs)))
        return [OutputPair(name, ours.get(name), theirs.get(name)) for name in names]
    found: list[OutputPair] = []
    for number in range(max(len(ours), len(theirs))):
        one, two = list(ours)[number : number + 1], list(theirs)[number : number + 1]
        name = (one or two)[0]
        found.append(OutputPair(name, ours[name] if one else None, theirs[two[0]] if two else None))
    return found


def value_difference(one: RunValue, two: RunValue, tolerance: Tolerance) -> Difference | None:
    """How two values of any kind differ; None where they do not, or by what rounding becomes over many nodes.

    Floating-point numbers of two widths are compared in the narrower.
    """
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return _of_elements(dict(enumerate(one)), dict(enumerate(two)), tolerance)
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return _of_elements(dict(enumerate(one.values())), dict(enumerate(two.values())), tolerance)
    mine, theirs = _as_array(one), _as_array(two)
    if mine is None or theirs is None:
        is_empty = one is None and two is None
        return None if is_empty else kinds_differ(described(one), described(two))
    found = difference(*in_narrower(mine, theirs), tolerance)
    if found is None or found.kinds is not None or tolerance.is_given:
        return found
    return None if is_drift(mine, theirs) else found


def _of_elements(
    one: Mapping[int, RunValue], two: Mapping[int, RunValue], tolerance: Tolerance
) -> Difference | None:
    """How the first elements differ that do, with their place."""
    for place, element in one.items():
        found = value_difference(element, two[place], tolerance)
        if found is not None:
            return replace(found, index=(place, *found.index))
    return None


def _as_array(value: RunValue) -> Array | None:
    if isinstance(value, np.ndarray):
        return value
    if value is None or isinstance(value, list | dict):
        return None
    if isinstance(value, str):
        return np.array(value, object)
    # Numbers in maps are float32 and int64, which Python has not.
    return np.asarray(value, np.float32 if isinstance(value, float) else None)


def described(value: RunValue) -> str:
    """The kind of a value, in words."""
    if isinstance(value, list):
        return f"a sequence of {len(value)}"
    if isinstance(value, dict):
        return f"a map of {len(value)} keys"
    array = _as_array(value)
    return "nothing" if array is None else f"{array.dtype} of shape {array.shape}"


def apart(left: Sequence[RunValue], right: Sequence[RunValue]) -> float:
    """How far outputs are apart, as a part of their length: 0 for equal ones."""
    largest = 0.0
    for one, two in zip(left, right, strict=True):
        if not isinstance(one, np.ndarray) or not isinstance(two, np.ndarray):
            continue
        if one.shape != two.shape or one.dtype != two.dtype:
            return float("inf")
        if is_text(one):
            is_other = [str(a) != str(b) for a, b in zip(one.flat, two.flat, strict=True)]
            largest = max(largest, sum(is_other) / max(len(is_other), 1))
            continue
        one, two = without_mask(one), without_mask(two)
        wide, gap = as_wide(one), distances(one, two)
        if not np.isfinite(gap).all():
            return float("inf")
        size = np.abs(np.where(np.isfinite(wide), wide, 0.0))
        scale = max(float(size.max(initial=0.0)), 1e-30)  # the squares of large numbers are infinite
        with np.errstate(all="ignore"):
            gap_length, length = np.linalg.norm(gap / scale), np.linalg.norm(size / scale)
        largest = max(largest, float(gap_length) / max(float(length), 1e-30 / scale))
    return largest
