"""Quantising to a type that is named, and back to one: by a zero point, and by a cast."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.values import int_attribute
from onnxsmith.passes.versions.step import Answer, Refusal, Step, down


@down("DequantizeLinear", since=23)
def cast_afterwards(step: Step) -> Answer:
    """The result had the type of the scale."""
    wanted = int_attribute(step.node, "output_dtype", 0)
    (result,) = step.again(*step.node.inputs, without=["output_dtype"])
    return step.op("Cast", result, to=wanted) if wanted else result


@down("QuantizeLinear", since=21)
def zero_point_says_the_type(step: Step) -> Answer:
    """A zero point, of zeros, of the type that is wanted."""
    if int_attribute(step.node, "block_size", 0):
        return _quantised_by_blocks(step)
    wanted = int_attribute(step.node, "output_dtype", 0)
    gone = ["output_dtype", "block_size"]
    if not wanted or step.input(2) is not None:
        return step.again(*step.node.inputs, without=gone)
    scale = step.required(1)
    zeros = step.op("Cast", step.op("Sub", scale, scale), to=wanted)
    return step.again(step.input(0), scale, zeros, without=gone)


@down("DequantizeLinear", since=21)
def without_blocks(step: Step) -> Answer:
    """A scale for each block is one for each element."""
    if not int_attribute(step.node, "block_size", 0):
        return step.again(*step.node.inputs, without=["block_size"])
    dtype = step.dtype_of(1, "and the result is of that type")
    numbers = step.op("Cast", step.required(0), to=int(dtype))
    if step.input(2) is not None:
        zero = step.op("Cast", _for_each_element(step, step.required(2)), to=int(dtype))
        numbers = step.op("Sub", numbers, zero)
    return step.op("Mul", numbers, _for_each_element(step, step.required(1)))


def _quantised_by_blocks(step: Step) -> Answer:
    """Divided, rounded, moved and cut off as the definition says, with a scale for each element."""
    zero = step.input(2)
    kind = None if zero is None else zero.dtype
    wanted = int_attribute(step.node, "output_dtype", 0) or int(kind or ir.DataType.UINT8)
    limits = _LIMITS.get(ir.DataType(wanted))
    if limits is None:
        raise Refusal(
            "it has a scale for each block, and quantises to a type that there is not before opset 21",
            "quantise to uint8, int8, uint16 or int16",
        )
    dtype = step.dtype_of(0, "and it is divided by a scale")
    number = step.op("Div", step.required(0), _for_each_element(step, step.required(1)))
    moved = step.op("Round", number)
    if zero is not None:
        moved = step.op("Add", moved, step.op("Cast", _for_each_element(step, zero), to=int(dtype)))
    bounds = [step.number_constant(each, dtype, "bound") for each in limits]
    return step.op("Cast", step.op("Clip", moved, *bounds), to=wanted)


def _for_each_element(step: Step, values: ir.Value) -> ir.Value:
    """The value of each block, repeated for each element of the data."""
    count = step.rank_of(0, "and blocks lie along an axis of it")
    axis = step.axis(1) % count
    block = step.constant(int_attribute(step.node, "block_size", 1), "block_size")
    size = step.op("Gather", step.op("Shape", step.required(0)), step.constant(axis, "axis"))
    places = step.op("Range", step.constant(0, "zero"), size, step.constant(1, "one"))
    return step.op("Gather", values, step.op("Div", places, block), axis=axis)


_LIMITS = {
    ir.DataType.INT8: (-128, 127),
    ir.DataType.UINT8: (0, 255),
    ir.DataType.INT16: (-32768, 32767),
    ir.DataType.UINT16: (0, 65535),
}
