"""The outputs of two runs: which belong together, and how they differ. Does not say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from onnxsmith.comparing.sides import Side
from onnxsmith.graphs.agreement import (
    CONVERTED,
    Difference,
    Tolerance,
    as_array,
    as_wide,
    compare,
    distances,
    is_text,
    masking,
    unit_of,
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
        return _of_elements(one, two, tolerance)
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return _of_elements(list(one.values()), [two[key] for key in one], tolerance)
    mine, theirs = as_array(one), as_array(two)
    # Over many nodes rounding grows to what results of two libraries are apart.
    limit = tolerance if tolerance.is_given else CONVERTED
    if mine is None or theirs is None:
        return compare(one, two, limit)
    return compare(*in_narrower(mine, theirs), limit)


def _of_elements(one: Sequence[RunValue], two: Sequence[RunValue], tolerance: Tolerance) -> Difference | None:
    """How the first elements differ that do, with their place."""
    for place, (mine, theirs) in enumerate(zip(one, two, strict=True)):
        found = value_difference(mine, theirs, tolerance)
        if found is not None:
            return replace(found, index=(place, *found.index))
    return None


def in_narrower(left: Array, right: Array) -> tuple[Array, Array]:
    """Two arrays of floating-point numbers of two widths in the narrower one; others as they are."""
    one, two = unit_of(left), unit_of(right)
    if left.dtype == right.dtype or not one or not two:
        return left, right
    with np.errstate(all="ignore"):  # what it cannot hold becomes infinite
        return (left, right.astype(left.dtype)) if one >= two else (left.astype(right.dtype), right)


def _without_mask(array: Array) -> Array:
    """An array of numbers with 0 in the place of elements that only mask others; the same one if there are none."""
    if is_text(array) or array.dtype.kind == "c":
        return array
    with np.errstate(all="ignore"):
        sizes = np.abs(as_wide(array))
    mask = masking(np.where(np.isfinite(sizes), sizes, 0.0))
    return array if mask is None else np.where(mask, np.zeros((), array.dtype), array)


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
        one, two = _without_mask(one), _without_mask(two)
        wide, gap = as_wide(one), distances(one, two)
        if not np.isfinite(gap).all():
            return float("inf")
        size = np.abs(np.where(np.isfinite(wide), wide, 0.0))
        scale = max(float(size.max(initial=0.0)), 1e-30)  # the squares of large numbers are infinite
        with np.errstate(all="ignore"):
            gap_length, length = np.linalg.norm(gap / scale), np.linalg.norm(size / scale)
        largest = max(largest, float(gap_length) / max(float(length), 1e-30 / scale))
    return largest
