"""Recurrent layers whose batch stands in front: opset 14 has a layout for that, before there were transposes."""

from __future__ import annotations

from onnxsmith.passes.values import is_read
from onnxsmith.passes.versions.step import Answer, Step, down

#: The inputs that are states, by operator.
_STATES = {"GRU": (5,), "LSTM": (5, 6), "RNN": (5,)}


@down("GRU", "LSTM", "RNN", since=14)
def batch_second(step: Step) -> Answer:
    """The data, the states and what comes out, transposed."""
    if not step.axis(0, "layout"):
        return step.again(*step.node.inputs, without=["layout"])
    inputs = list(step.node.inputs)
    for position in (0, *_STATES[step.node.op_type]):
        value = step.input(position)
        if value is not None:
            inputs[position] = step.op("Transpose", value, perm=[1, 0, 2])
    outputs = list(step.again(*inputs, without=["layout"]))
    for position, old in enumerate(step.node.outputs):
        if is_read(old):
            order = [2, 0, 1, 3] if position == 0 else [1, 0, 2]
            outputs[position] = step.op("Transpose", outputs[position], perm=order)
        elif not old.name:
            outputs[position].name = ""
    return outputs
