"""Pad with axes, and around the edges."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnxsmith.passes.versions.step import Answer, Refusal, Step, down


@down("Pad", since=18)
def pads_of_all_axes(step: Step) -> Answer:
    """Axes that are not named are padded by nothing."""
    count = step.rank_of(0, "and all axes are padded before opset 18")
    axes, pads = step.numbers(3), step.numbers(1)
    if axes is not None and pads is not None:
        return step.again(step.input(0), _of_all(step, axes, pads, count), step.input(2))
    axis_values = step.op("Cast", step.required(3), to=int(ir.DataType.INT64))
    rank = step.int_constant([count], "rank")
    front = step.from_the_front(axis_values, rank)
    places = step.op("Concat", front, step.op("Add", front, rank), axis=0)
    nothing = step.int_constant([0] * (2 * count), "no_pads")
    whole_pads = step.op("ScatterElements", nothing, places, step.required(1))
    return step.again(step.input(0), whole_pads, step.input(2))


@down("Pad", since=19)
def wrapped(step: Step) -> Answer:
    """Takes the elements around the edges from the opposite ones: by index, axis by axis.

    What a negative amount takes away is gone before the rest goes round, as in ONNX Runtime.
    """
    data = step.required(0)
    count = step.rank_of(0, "and axes are padded one by one")
    pads = step.required(1)
    if step.input(3) is not None:
        # The same node with all axes named in order, one version below.
        axes = step.numbers(3)
        amounts = step.numbers(1)
        if axes is None or amounts is None:
            raise Refusal(
                "its axes are computed when the model runs, and it wraps around", "make axes a constant"
            )
        pads = _of_all(step, axes, amounts, count)
    one, zero = step.constant(1, "one"), step.constant(0, "zero")
    cropped = step.op("Where", step.op("Less", pads, zero), pads, zero)
    grown = step.op("Sub", pads, cropped)
    for axis in range(count):
        ends = step.constant(axis, "axis"), step.constant(axis + count, "axis")
        fewer_before, fewer_after = (step.op("Gather", cropped, end) for end in ends)
        before, after = (step.op("Gather", grown, end) for end in ends)
        size = step.op("Gather", step.op("Shape", data), ends[0])
        kept = step.op("Add", step.op("Add", size, fewer_before), fewer_after)
        places = step.op("Range", step.op("Neg", before), step.op("Add", kept, after), one)
        indices = step.op("Sub", step.op("Mod", places, kept), fewer_before)
        data = step.op("Gather", data, indices, axis=axis)
    return data


def _of_all(step: Step, axes: Sequence[int], pads: Sequence[int], count: int) -> ir.Value:
    """The pads of all axes, from those of some."""
    whole = [0] * (2 * count)
    for k, axis in enumerate(axes):
        whole[axis % count], whole[axis % count + count] = pads[k], pads[len(axes) + k]
    return step.int_constant(whole, "pads")
