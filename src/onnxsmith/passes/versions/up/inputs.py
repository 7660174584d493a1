"""Attributes that became inputs: constants of the same content."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.values import float_attribute, int_attribute
from onnxsmith.passes.versions.step import AS_IT_IS, Answer, Refusal, Step, up


@up("Squeeze", "Unsqueeze", "ReduceSum", since=13)
@up(
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSumSquare", since=18,
)  # fmt: skip
def axes_as_input(step: Step) -> Answer:
    """Axes became an input."""
    axes = step.as_input("axes")
    return AS_IT_IS if axes is None else step.again(step.input(0), axes, without=["axes"])


@up("Split", since=2)
def split_as_attribute(step: Step) -> Answer:
    """The sizes were an input or an attribute, and the axis had no default."""
    sizes = step.ints(1, "split")
    axis = step.node.attributes.get("axis", 0)
    if sizes is None:
        return AS_IT_IS if "axis" in step.node.attributes else step.with_inputs(axis=axis)
    return step.again(step.input(0), split=sizes, axis=axis)


@up("Split", since=13)
def split_as_input(step: Step) -> Answer:
    """The sizes of the parts became an input."""
    sizes = step.as_input("split")
    return AS_IT_IS if sizes is None else step.again(step.input(0), sizes, without=["split"])


@up("Split", since=18)
def split_into(step: Step) -> Answer:
    """How many parts there are is said where their sizes are not."""
    if step.input(1) is not None:
        return AS_IT_IS
    return step.with_inputs(num_outputs=len(step.node.outputs))


@up("Reshape", since=5)
def shape_as_input(step: Step) -> Answer:
    """The shape became an input."""
    shape = step.as_input("shape")
    if shape is None:
        raise Refusal("its attribute shape is not given")
    return step.again(step.input(0), shape, without=["shape", "consumed_inputs"])


@up("Clip", since=11)
def bounds_as_inputs(step: Step) -> Answer:
    """The bounds became inputs, of the type of the data."""
    given = [name for name in ("min", "max") if name in step.node.attributes]
    dtype = step.dtype_of(0, "and its bounds are of that type")
    if not given and dtype != ir.DataType.DOUBLE:
        return AS_IT_IS
    step.not_a_reference("min", "max")
    # The bounds of FLOAT were the default: all but doubles lie between them.
    lowest, highest = float(np.finfo(np.float32).min), float(np.finfo(np.float32).max)
    bounds: list[ir.Value | None] = []
    for name, default in (("min", lowest), ("max", highest)):
        if name in given or dtype == ir.DataType.DOUBLE:
            number = float_attribute(step.node, name, default)
            bounds.append(step.constant(np.array(number, dtype.numpy()), name))
        else:
            bounds.append(None)
    return step.again(step.input(0), *bounds, without=["min", "max"])


@up("Pad", since=2)
def pads_by_their_name(step: Step) -> Answer:
    """`paddings` became `pads`."""
    pads = step.node.attributes.get("paddings")
    if pads is None or pads.is_ref():
        raise Refusal("its attribute paddings is not given")
    return step.again(*step.node.inputs, without=["paddings"], pads=list(pads.as_ints()))


@up("Pad", since=11)
def pads_as_input(step: Step) -> Answer:
    """The pads and the value became inputs."""
    pads = step.as_input("pads")
    value: ir.Value | None = None
    if "value" in step.node.attributes:
        step.not_a_reference("value")
        dtype = step.dtype_of(0, "and its value is of that type")
        value = step.number_constant(float_attribute(step.node, "value", 0.0), dtype, "value")
    return step.again(step.input(0), pads, value, without=["pads", "value"])


@up("Slice", since=10)
def slice_by_inputs(step: Step) -> Answer:
    """Starts, ends and axes became inputs."""
    inputs = [step.as_input(name) for name in ("starts", "ends", "axes")]
    return step.again(step.input(0), *inputs, without=["starts", "ends", "axes"])


@up("TopK", since=10)
def k_as_input(step: Step) -> Answer:
    """The count became an input, a vector of one."""
    step.not_a_reference("k")
    return step.again(
        step.input(0), step.int_constant([int_attribute(step.node, "k", 1)], "k"), without=["k"]
    )


@up("Tile", since=6)
def repeats_of_all_axes(step: Step) -> Answer:
    """One axis was repeated, and now all are told how often."""
    tiles, axis = step.number(1), step.number(2)
    if tiles is None or axis is None:
        raise Refusal("its inputs tiles and axis are computed when the model runs")
    rank = step.rank_of(0, "and every axis is told how often it is repeated since opset 6")
    repeats = [1] * rank
    repeats[int(axis)] = int(tiles)
    return step.again(step.input(0), step.int_constant(repeats, "repeats"))


@up("DFT", since=20)
def dft_axis_as_input(step: Step) -> Answer:
    """The axis became an input, a scalar, with another default."""
    axis = step.as_input("axis")
    if axis is None:
        axis = step.constant(np.array(1, np.int64), "axis")
    return step.again(step.input(0), step.input(1), axis, without=["axis"])
