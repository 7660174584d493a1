"""Reductions whose axes are an input: an attribute where they are known, else a question for each axis."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.values import int_attribute
from onnxsmith.passes.versions.step import Answer, Refusal, Step, down

#: Of these, the reduction along several axes is that along one after the other.
_ONE_BY_ONE = {
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
}
#: Of these, the reduction along no axis is the data.
_NOTHING = {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"}


@down("ReduceSum", since=13)
@down(
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSumSquare", since=18,
)  # fmt: skip
def axes_as_attribute(step: Step) -> Answer:
    """Axes were an attribute, and none meant all."""
    is_nothing = bool(int_attribute(step.node, "noop_with_empty_axes", 0))
    axes = step.numbers(1)
    if step.input(1) is not None and axes is None:
        return _one_by_one(step, is_nothing=is_nothing)
    if axes:
        return step.again(step.input(0), without=["noop_with_empty_axes"], axes=axes)
    if not is_nothing:
        return step.again(step.input(0), without=["noop_with_empty_axes"])
    if step.node.op_type not in _NOTHING:
        raise Refusal(
            f"it reduces along no axis (noop_with_empty_axes), which {step.node.op_type} does since opset {step.since}"
        )
    return step.op("Identity", step.required(0))


def _one_by_one(step: Step, *, is_nothing: bool) -> Answer:
    """Reduce along each axis that is among those that are computed, one after the other."""
    op_type = step.node.op_type
    if op_type not in _ONE_BY_ONE:
        step.ints(1, "axes")  # says why it cannot be done
    if op_type not in _NOTHING and is_nothing:
        raise Refusal(
            f"it may reduce along no axis (noop_with_empty_axes), which {op_type} does since opset {step.since}",
            "make axes a constant",
        )
    data, axes = step.required(0), step.required(1)
    count = step.rank_of(0, "and its axes are computed when the model runs")
    front = step.from_the_front(axes, step.int_constant([count], "rank"))
    is_empty = step.op("Equal", step.op("Size", axes), step.constant(0, "zero"))
    if is_nothing:
        is_empty = None
    named = front
    for axis in range(count):
        is_named = _among(step, axis, named, is_empty)
        data = _reduced_if(step, is_named, data, axis)
    if int_attribute(step.node, "keepdims", 1):
        return step.op("Identity", data)
    if is_nothing:
        return step.op("Squeeze", data, front)
    every = step.int_constant(range(count), "axes")
    # No axes are all of them.
    some = step.op("Where", step.op("Not", is_empty), step.constant(1, "one"), step.constant(0, "zero"))
    all_or_none = step.op("Sub", step.constant(1, "one"), some)
    chosen = step.op(
        "Concat",
        front,
        step.op(
            "Slice",
            every,
            step.int_constant([0], "zero"),
            step.op("Mul", step.unsqueezed(all_or_none, [0]), step.int_constant([count], "rank")),
        ),
        axis=0,
    )
    return step.op("Squeeze", data, chosen)


def _among(step: Step, axis: int, axes: ir.Value, is_empty: ir.Value | None) -> ir.Value:
    """True if an axis is among some, or there are none and that is all of them."""
    same = step.op(
        "Cast", step.op("Equal", axes, step.int_constant([axis], "axis")), to=int(ir.DataType.INT64)
    )
    found = step.op("ReduceSum", same, keepdims=0)
    is_there = step.op("Greater", found, step.constant(0, "zero"))
    return is_there if is_empty is None else step.op("Or", is_there, is_empty)


def _reduced_if(step: Step, condition: ir.Value, data: ir.Value, axis: int) -> ir.Value:
    branches: list[ir.Graph] = []
    for op_type in (step.node.op_type, "Identity"):
        attributes = []
        if op_type != "Identity":
            attributes = [ir.AttrInt64s("axes", [axis]), ir.AttrInt64("keepdims", 1)]
        node = ir.Node("", op_type, [data], attributes, num_outputs=1)
        node.outputs[0].name = step.edit.fresh_name(f"{data.name}_{op_type.lower()}")
        node.outputs[0].type = data.type or step.required(0).type
        branches.append(ir.Graph([], list(node.outputs), nodes=[node], name=f"{op_type.lower()}_{axis}"))
    result = step.op("If", condition, then_branch=branches[0], else_branch=branches[1])
    result.type = step.required(0).type
    return result
