"""Scattering that puts what is there and what comes together: one update after the other, in a loop.

Older definitions replace what is there, and say nothing of places that come twice.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.values import text_attribute
from onnxsmith.passes.versions.step import Answer, Refusal, Step, down

_OPERATORS = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}


@down("ScatterND", since=18)
@down("ScatterND", since=16)
def scatter_slices(step: Step) -> Answer:
    """Updates are whole slices, each with the place where it goes."""
    if step.since == 18:
        step.at = 15
    data, indices, updates = (step.required(k) for k in range(3))
    depth = step.op("Gather", step.op("Shape", indices), step.int_constant([-1], "last"))
    places = step.op("Reshape", indices, step.op("Concat", step.int_constant([-1], "all"), depth, axis=0))
    rest = step.op(
        "Slice",
        step.op("Shape", data),
        depth,
        step.int_constant([np.iinfo(np.int64).max], "end"),
    )
    pieces = step.op("Reshape", updates, step.op("Concat", step.int_constant([-1], "all"), rest, axis=0))
    return _one_by_one(step, data, places, pieces)


@down("ScatterElements", since=18)
@down("ScatterElements", since=16)
def scatter_elements(step: Step) -> Answer:
    """Updates are single elements: the place of each is where it stands, but for the axis that is told."""
    if step.since == 18:
        step.at = 15
    data, indices, updates = (step.required(k) for k in range(3))
    count = step.rank_of(0, "and the places of elements are worked out")
    axis = step.axis(0) % count
    shape = step.op("Shape", indices)
    ones = step.op("ConstantOfShape", shape, value=ir.AttrTensor("value", ir.Tensor(np.ones(1, np.int64))))
    standing = step.op("Transpose", step.op("NonZero", ones), perm=[1, 0])
    column = step.int_constant([-1, 1], "column")
    size = step.op("Gather", step.op("Shape", data), step.int_constant([axis], "axis"))
    told = step.op("Reshape", step.op("Cast", indices, to=int(ir.DataType.INT64)), column)
    told = step.from_the_front(told, size)
    columns = [
        told if each == axis else step.op("Gather", standing, step.int_constant([each], "axis"), axis=1)
        for each in range(count)
    ]
    places = step.op("Concat", *columns, axis=1)
    return _one_by_one(step, data, places, step.op("Reshape", updates, step.int_constant([-1], "flat")))


def _one_by_one(step: Step, data: ir.Value, places: ir.Value, pieces: ir.Value) -> Answer:
    """A loop that takes what is at a place, puts an update to it, and puts it back."""
    operator = _OPERATORS.get(text_attribute(step.node, "reduction", "none"))
    if operator is None:
        raise Refusal("its reduction is none that there is")
    step.dtype_of(0, "and a loop carries it")
    # All pieces of the body are made as others are, and then put there.
    outside = len(step.made)
    turn, goes_on, carried = (
        ir.Value(name=step.edit.fresh_name(f"{step.node.outputs[0].name}_{name}"), type=kind, shape=shape)
        for name, kind, shape in (
            ("turn", ir.TensorType(ir.DataType.INT64), ir.Shape([])),
            ("goes_on", ir.TensorType(ir.DataType.BOOL), ir.Shape([])),
            ("carried", data.type, data.shape),
        )
    )
    here = step.op("Unsqueeze", turn, step.int_constant([0], "axes"))
    place = step.op("Gather", places, here)
    piece = step.op("Gather", pieces, here)
    joined = step.op(operator, step.op("GatherND", carried, place), piece)
    changed = step.op("ScatterND", carried, place, joined)
    still = step.op("Identity", goes_on)
    inside = step.made[outside:]
    del step.made[outside:]
    changed.type, changed.shape = data.type, data.shape
    still.type, still.shape = goes_on.type, goes_on.shape
    body = ir.Graph([turn, goes_on, carried], [still, changed], nodes=inside, name="scatter")
    count = step.op("Gather", step.op("Shape", places), step.constant(0, "first"))
    return step.op("Loop", count, None, data, body=body)
