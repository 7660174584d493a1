"""Normalisations: how training is said, and what scales belong to."""

from __future__ import annotations

from onnxsmith.passes.values import is_read
from onnxsmith.passes.versions.step import AS_IT_IS, Answer, Refusal, Step, up


@up("BatchNormalization", since=6)
def batch_without_consumed_inputs(step: Step) -> Answer:
    """`consumed_inputs` was a hint to a runtime of long ago."""
    return step.again(*step.node.inputs, without=["consumed_inputs"])


@up("BatchNormalization", since=7)
def batch_without_is_test(step: Step) -> Answer:
    """How many outputs there are says whether a model is being trained, and did so before."""
    if "is_test" not in step.node.attributes:
        return AS_IT_IS
    return step.again(*step.node.inputs, without=["is_test"])


@up("BatchNormalization", since=9)
def batch_by_channel(step: Step) -> Answer:
    """Statistics are those of channels, and no longer those of single activations."""
    if not step.axis(1, "spatial"):
        raise Refusal("it normalises every activation by itself (spatial=0), which opset 9 cannot say")
    return step.again(*step.node.inputs, without=["spatial"])


@up("BatchNormalization", since=14)
def batch_training_mode(step: Step) -> Answer:
    """An attribute says whether a model is being trained, no longer the number of outputs."""
    used = [position for position, each in enumerate(step.node.outputs) if is_read(each)]
    if not used or used == [0]:
        return step.again(*step.node.inputs, outputs=1)[:1]
    if used[-1] > 2:
        raise Refusal("its outputs saved_mean and saved_var are read, which there are not since opset 14")
    return step.again(*step.node.inputs, outputs=3, training_mode=1)


@up("GroupNormalization", since=21)
def group_by_channel(step: Step) -> Answer:
    """A scale and a bias for each channel, no longer for each group."""
    groups = step.axis(0, "num_groups")
    data = step.required(0)
    channels = step.op("Shape", data, start=1, end=2)
    count = step.op("Div", channels, step.int_constant([groups], "groups"))
    shape = step.op("Concat", step.int_constant([1], "one"), count, axis=0)
    flat = step.int_constant([-1], "flat")
    per_channel = [
        step.op("Reshape", step.op("Expand", step.unsqueezed(step.required(k), [1]), shape), flat)
        for k in (1, 2)
    ]
    return step.again(data, *per_channel)
