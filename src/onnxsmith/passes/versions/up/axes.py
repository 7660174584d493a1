"""Operators whose axis means something else: all that follows it was one, now it is one axis."""

from __future__ import annotations

from onnxsmith.passes.values import fixed_shape, rank
from onnxsmith.passes.versions.step import Answer, Step, up


@up("Hardmax", "LogSoftmax", "Softmax", since=13)
def along_all_that_follows(step: Step) -> Answer:
    """Until opset 12 the data was made a matrix at the axis; since then one axis is what is normalised along."""
    data = step.required(0)
    axis = step.axis(1)
    dimensions = rank(data)
    if dimensions is not None and axis % dimensions == dimensions - 1:
        return step.with_inputs(axis=-1)
    shape = fixed_shape(data)
    if shape is not None and all(size == 1 for size in shape[axis % len(shape) + 1 :]):
        return step.with_inputs(axis=axis)
    matrix = step.op("Flatten", data, axis=axis)
    (result,) = step.again(matrix, axis=-1)
    allowzero = None
    if step.target >= 14:  # a size of 0 stays one
        step.at, allowzero = 14, 1
    return step.op("Reshape", result, step.op("Shape", data), allowzero=allowzero)
