"""Attributes that an older definition does not have or calls otherwise: the same node, or others around it."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.ir_types import array_to_ir
from onnxsmith.passes.values import dimensions, is_read, text_attribute
from onnxsmith.passes.versions.step import AS_IT_IS, Answer, Refusal, Step, down


@down("GridSample", since=20)
def grid_sample_modes(step: Step) -> Answer:
    """Modes were named for images, and there was nothing but images."""
    if step.rank_of(0, "and opset 16 samples images alone") != 4:
        raise Refusal("it samples volumes, which GridSample does since opset 20")
    mode = text_attribute(step.node, "mode", "linear")
    return step.with_inputs(mode={"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode))


@down("Split", since=18)
def split_evenly(step: Step) -> Answer:
    """Parts of one size, the last one smaller: their sizes are said where they are not all one."""
    if step.input(1) is not None:
        return AS_IT_IS
    data, count = step.required(0), len(step.node.outputs)
    axis = step.axis(0)
    shape = dimensions(data)
    size = None if shape is None or not -len(shape) <= axis < len(shape) else shape[axis]
    if isinstance(size, int):
        if size % count == 0:
            return step.again(data, without=["num_outputs"])
        part = -(-size // count)
        sizes = step.int_constant([part] * (count - 1) + [size - part * (count - 1)], "split")
        return step.again(data, sizes, without=["num_outputs"])
    whole = step.op("Gather", step.op("Shape", data), step.int_constant([axis], "axis"))
    rounded = step.op("Add", whole, step.int_constant([count - 1], "round_up"))
    part = step.op("Div", rounded, step.int_constant([count], "parts"))
    rest = step.op("Sub", whole, step.op("Mul", part, step.int_constant([count - 1], "parts")))
    sizes = step.op("Concat", *[part] * (count - 1), rest, axis=0)
    return step.again(data, sizes, without=["num_outputs"])


@down("Mod", since=28)
def floor_modulus_of_floats(step: Step) -> Answer:
    """The quotient rounded down, for floats: C's remainder, put on the side of the divisor."""
    dtype = step.dtype_of(0, "and it decides which remainder is meant")
    if not dtype.is_floating_point():
        if not step.axis(0, "fmod"):
            return AS_IT_IS
        whole = step.op("Mul", step.op("Div", step.required(0), step.required(1)), step.required(1))
        return step.op("Sub", step.required(0), whole)
    if step.axis(0, "fmod"):
        return AS_IT_IS
    left, right = step.required(0), step.required(1)
    zero = step.number_constant(0, dtype, "zero")
    (rest,) = step.with_inputs(fmod=1)
    other_side = step.op("Less", step.op("Mul", step.op("Sign", rest), step.op("Sign", right)), zero)
    moved = step.op("Where", other_side, step.op("Add", rest, right), rest)
    # A zero has the sign of the divisor.
    is_zero = step.op("And", step.op("Equal", rest, zero), step.op("Not", step.op("IsNaN", left)))
    signed_zero = step.op("Mul", zero, step.op("Sign", right))
    return step.op("Where", is_zero, signed_zero, moved)


@down("Dropout", since=12)
def dropout_ratio_as_attribute(step: Step) -> Answer:
    """The older definition never drops anything."""
    training = step.array(2, 1)
    if step.input(2) is not None and (training is None or bool(training.any())):
        raise Refusal(
            "it may drop at random (training_mode), which Dropout does since opset 12",
            "leave training_mode out",
        )
    ratio = step.number(1)
    if step.input(1) is not None and ratio is None:
        ratio = 0.5  # it says nothing without training
    data = step.required(0)
    (output,) = step.again(data, without=["seed"], ratio=None if ratio is None else float(ratio), outputs=1)
    if len(step.node.outputs) < 2 or not is_read(step.node.outputs[1]):
        return [output]
    # What the mask is where nothing is dropped was not said before opset 12.
    true = ir.AttrTensor("value", array_to_ir(np.ones(1, np.bool_)))
    return [output, step.op("ConstantOfShape", step.op("Shape", data), value=true)]


@down("Dropout", since=10)
def dropout_mask_of_data_type(step: Step) -> Answer:
    """The mask had the type of the data."""
    if len(step.node.outputs) < 2 or not is_read(step.node.outputs[1]):
        return step.again(step.input(0), outputs=1)[:1]
    output, mask = step.with_inputs()
    return [output, step.op("Cast", mask, to=int(ir.DataType.BOOL))]


@down("OneHot", since=11)
def negative_from_the_end(step: Step) -> Answer:
    """A negative index counts from the end; before, it gave off-values."""
    indices, depth = step.required(0), step.required(1)
    known = step.array(0)
    if known is not None and (known.astype(np.float64) >= 0).all():
        return AS_IT_IS
    dtype = step.dtype_of(0, "and it is compared with 0")
    is_negative = step.op("Less", indices, step.number_constant(0, dtype, "zero"))
    size = step.op("Cast", depth, to=int(dtype))
    moved = step.op("Where", is_negative, step.op("Add", indices, size), indices)
    return step.again(moved, *step.node.inputs[1:])
