"""Batch normalisation with training, which older definitions say by the number of outputs, and no runtime has."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.values import float_attribute
from onnxsmith.passes.versions.step import Answer, Step, down


@down("BatchNormalization", since=14)
def batch_statistics(step: Step) -> Answer:
    """Without training the same node; with it, the statistics of the batch are worked out beside it."""
    if not step.axis(0, "training_mode"):
        return step.again(*step.node.inputs, without=["training_mode"], outputs=1)[:1]
    data = step.required(0)
    count = step.rank_of(0, "and statistics are those of all axes but the channels")
    dtype = step.dtype_of(0, "and statistics are of that type")
    axes = [0, *range(2, count)]
    mean = step.reduced("ReduceMean", data, axes, keepdims=True)
    centred = step.op("Sub", data, mean)
    variance = step.reduced("ReduceMean", step.op("Mul", centred, centred), axes, keepdims=True)
    epsilon = step.number_constant(float_attribute(step.node, "epsilon", 1e-5), dtype, "epsilon")
    normal = step.op("Div", centred, step.op("Sqrt", step.op("Add", variance, epsilon)))
    shape = step.int_constant([1, -1] + [1] * (count - 2), "shape")
    scale, bias = (step.op("Reshape", step.required(k), shape) for k in (1, 2))
    outputs: list[ir.Value | None] = [step.op("Add", step.op("Mul", normal, scale), bias)]
    momentum = float_attribute(step.node, "momentum", 0.9)
    flat = step.int_constant([-1], "flat")
    for position, batch in zip(range(1, len(step.node.outputs)), (mean, variance), strict=False):
        kept = step.required(2 + position)
        old = step.op("Mul", kept, step.number_constant(momentum, dtype, "momentum"))
        new = step.op(
            "Mul",
            step.op("Reshape", batch, flat),
            step.number_constant(1 - momentum, dtype, "momentum"),
        )
        outputs.append(step.op("Add", old, new))
    return outputs
