"""Inputs that were attributes: constants are read, what is computed has no place in an attribute."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.cleanup.constants import constant_tensor
from onnxsmith.passes.versions.step import AS_IT_IS, Answer, Refusal, Step, down


@down("Squeeze", "Unsqueeze", since=13)
def axes_as_attribute(step: Step) -> Answer:
    """Axes were an attribute."""
    axes = step.ints(1, "axes")
    return step.again(step.input(0), axes=axes)


@down("Split", since=13)
def split_as_attribute(step: Step) -> Answer:
    """The sizes of the parts were an attribute."""
    return step.again(step.input(0), split=step.ints(1, "split"))


@down("Clip", since=11)
def bounds_as_attributes(step: Step) -> Answer:
    """The bounds were attributes, and of FLOAT."""
    bounds: dict[str, ir.Attr] = {}
    for position, name in ((1, "min"), (2, "max")):
        if step.input(position) is None:
            continue
        number = step.number(position)
        if number is None or number != float(np.float32(number)):
            raise Refusal(
                f"its input {name} is computed when the model runs or no float32, and was an attribute before opset 11",
                f"make {name} a constant",
            )
        bounds[name] = ir.AttrFloat32(name, number)
    return step.again(step.input(0), attributes=bounds)


@down("Pad", since=11)
def pads_as_attribute(step: Step) -> Answer:
    """The pads and the value were attributes."""
    value = 0.0
    if step.input(2) is not None:
        number = step.number(2)
        if number is None:
            raise Refusal(
                "its value is computed when the model runs, and was an attribute before opset 11",
                "make the value a constant",
            )
        value = number
    return step.again(step.input(0), pads=step.ints(1, "pads"), value=float(value))


@down("Slice", since=10)
def slice_by_attributes(step: Step) -> Answer:
    """Starts, ends and axes were attributes, and there were no steps."""
    steps = step.ints(4, "steps")
    if steps is not None and set(steps) - {1}:
        raise Refusal("it has steps other than 1, which Slice has since opset 10")
    return step.again(
        step.input(0), starts=step.ints(1, "starts"), ends=step.ints(2, "ends"), axes=step.ints(3, "axes")
    )


@down("TopK", since=10)
def k_as_attribute(step: Step) -> Answer:
    """The count was an attribute."""
    counts = step.ints(1, "K")
    return step.again(step.input(0), k=None if counts is None else counts[0])


@down("DFT", since=20)
def dft_axis_as_attribute(step: Step) -> Answer:
    """The axis was an attribute, counted from the front."""
    axes = step.ints(2, "axis") or (-2,)
    axis = axes[0]
    if axis < 0:
        axis += step.rank_of(0, "and the axis is counted from the front before opset 20")
    return step.again(step.input(0), step.input(1), axis=axis)


@down("Constant", since=12)
def constant_as_tensor(step: Step) -> Answer:
    """Numbers and text were tensors before opset 12."""
    names = [each for each in step.node.attributes if each.startswith("value_")]
    step.not_a_reference(*names)
    tensor = constant_tensor(step.node) if names else None
    return AS_IT_IS if tensor is None else step.again(without=names, value=ir.AttrTensor("value", tensor))
