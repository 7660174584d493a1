"""Weights of two regions: which of them have no equal in the other, and what computed them.

One model may compute a weight that the other holds, in another order of its elements or in another width: weights are
told apart by their size and length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import onnx_ir as ir

from onnxsmith.comparing.sides import Side
from onnxsmith.comparing.signatures import Signature
from onnxsmith.observing import Step


class TakenWeight(NamedTuple):
    """A weight that a step takes: one that the model holds, or computes of others by `makers`."""

    signature: Signature
    taker: Step
    makers: tuple[Step, ...]


def odd_weights(
    sides: tuple[Side, Side],
    regions: tuple[Sequence[Step], Sequence[Step]],
    is_fixed: Callable[[ir.Value], bool],
) -> tuple[TakenWeight, TakenWeight] | None:
    """The weight of each region that has no equal in the other, where it is one of each, of one size."""
    left, right = (list(_taken(*each, is_fixed)) for each in zip(sides, regions, strict=True))
    for one in list(left):
        same = next((each for each in right if _is_same(one.signature, each.signature)), None)
        if same is not None:
            left.remove(one)
            right.remove(same)
    if len(left) != 1 or len(right) != 1 or left[0].signature.size != right[0].signature.size:
        return None
    return left[0], right[0]


def _taken(side: Side, region: Sequence[Step], is_fixed: Callable[[ir.Value], bool]) -> Iterator[TakenWeight]:
    for step in region:
        if all(is_fixed(each) for each in step.run.outputs):
            continue
        for each in step.run.inputs:
            value = None if each is None else side.line.actual(each)
            if value is None:
                continue
            if value in side.line.constants:
                side.note_constant(value)
            elif not is_fixed(value):
                continue
            found = side.signatures.get(value)
            if found is not None:
                makers = () if value in side.line.constants else tuple(side.region(value, ()))
                yield TakenWeight(found, step, makers)


def _is_same(one: Signature, other: Signature) -> bool:
    drift = max(one.drift, other.drift) * max(one.length, other.length)
    return one.size == other.size and abs(one.length - other.length) <= max(drift, 1e-30)
