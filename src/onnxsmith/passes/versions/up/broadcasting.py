"""Broadcasting that had to be asked for, and could begin at any axis, before opset 7."""

from __future__ import annotations

from onnxsmith.passes.values import fixed_shape, int_attribute, rank
from onnxsmith.passes.versions.step import AS_IT_IS, Answer, Step, up


@up("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor", since=7)
def broadcast_from_the_last_axis(step: Step) -> Answer:
    """The second input's axes were put at `axis` of the first; now the last axes are put together."""
    if not {"broadcast", "axis"} & step.node.attributes.keys():
        return AS_IT_IS
    step.not_a_reference("broadcast", "axis")
    other = step.required(1)
    if int_attribute(step.node, "broadcast", 0) and "axis" in step.node.attributes:
        why = "and it is broadcast from an axis of the other"
        left, right = step.rank_of(0, why), step.rank_of(1, why)
        axis = int_attribute(step.node, "axis", 0)
        behind = left - (axis + left if axis < 0 else axis) - right
        if behind > 0:
            other = step.unsqueezed(other, range(right, right + behind))
    return step.again(step.input(0), other, without=["broadcast", "axis"])


@up("Gemm", since=7)
def gemm_broadcasts(step: Step) -> Answer:
    """The third input is broadcast, asked or not."""
    if "broadcast" not in step.node.attributes:
        return AS_IT_IS
    return step.again(*step.node.inputs, without=["broadcast"])


@up("PRelu", since=7)
def slope_of_channels(step: Step) -> Answer:
    """A slope for each channel is broadcast as numpy does: it gets the axes behind the channels."""
    slope = step.required(1)
    if fixed_shape(slope) in ((), (1,)):
        return AS_IT_IS
    why = "and a slope is broadcast from the last axis since opset 7"
    behind = step.rank_of(0, why) - 2
    if behind <= 0 or rank(slope) != 1:
        return AS_IT_IS
    return step.again(step.input(0), step.unsqueezed(slope, range(1, 1 + behind)))
