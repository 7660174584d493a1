"""Operators that give something else for the same inputs since a version, or went away."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.versions.step import AS_IT_IS, Answer, Step, up


@up("OneHot", since=11)
def negative_is_off(step: Step) -> Answer:
    """A negative index gave off-values; now it counts from the end. One that is too large still gives off-values."""
    indices, depth = step.required(0), step.required(1)
    known = step.array(0)
    if known is not None and (known.astype(np.float64) >= 0).all():
        return AS_IT_IS
    dtype = step.dtype_of(0, "and it is compared with 0")
    is_negative = step.op("Less", indices, step.number_constant(0, dtype, "zero"))
    beyond = step.op("Cast", depth, to=int(dtype))
    return step.again(step.op("Where", is_negative, beyond, indices), *step.node.inputs[1:])


@up("Scatter", since=11)
def scatter_elements(step: Step) -> Answer:
    """Scatter got another name."""
    return step.again(*step.node.inputs, op_type="ScatterElements")


@up("Erf", since=13)
@up("ReduceLogSum", "ReduceLogSumExp", since=28)
def in_floats(step: Step) -> Answer:
    """Integers are no longer taken: the result was what the number in floats is, cut off."""
    dtype = step.dtype_of(0, "and integers are no longer taken")
    if dtype.is_floating_point():
        return AS_IT_IS
    wide = step.op("Cast", step.required(0), to=int(ir.DataType.DOUBLE))
    (result,) = step.again(wide, *step.node.inputs[1:])
    return step.op("Cast", result, to=int(dtype))
