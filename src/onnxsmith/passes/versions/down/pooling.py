"""Pooling: windows that would begin in the padding, and windows with gaps."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.values import fixed_shape, int_attribute, ints_attribute, text_attribute
from onnxsmith.passes.versions.step import AS_IT_IS, DECLARE_SHAPES, Answer, Refusal, Step, down


@down("AveragePool", "MaxPool", since=22)
def windows_that_begin_in_the_data(step: Step) -> Answer:
    """Sizes that are rounded up are said by paddings, where rounding up would give a window too many."""
    kernel = ints_attribute(step.node, "kernel_shape")
    explicit = text_attribute(step.node, "auto_pad", "NOTSET") == "NOTSET"
    if not int_attribute(step.node, "ceil_mode", 0) or kernel is None or not explicit:
        return AS_IT_IS
    count = len(kernel)
    strides = ints_attribute(step.node, "strides") or (1,) * count
    dilations = ints_attribute(step.node, "dilations") or (1,) * count
    pads = list(ints_attribute(step.node, "pads") or (0,) * (2 * count))
    reach = [(size - 1) * gap + 1 for size, gap in zip(kernel, dilations, strict=True)]
    if all(pads[count + k] + strides[k] <= reach[k] for k in range(count)):
        return AS_IT_IS
    shape = fixed_shape(step.input(0))
    if shape is None:
        raise Refusal(
            "its sizes are rounded up (ceil_mode), and whether a window begins in the padding is not known",
            DECLARE_SHAPES,
        )
    is_changed = False
    for k, size in enumerate(shape[2:]):
        free = size + pads[k] + pads[count + k] - reach[k]
        windows = -(-free // strides[k]) + 1
        is_beyond = (windows - 1) * strides[k] >= size + pads[k]
        is_changed |= is_beyond
        if not is_beyond:  # what rounding up adds is padding
            pads[count + k] += (windows - 1) * strides[k] - free
    if not is_changed:
        return AS_IT_IS
    if int_attribute(step.node, "count_include_pad", 0) and pads != list(
        ints_attribute(step.node, "pads") or pads
    ):
        raise Refusal(
            "it counts its padding (count_include_pad), and rounding sizes up (ceil_mode) gives a window in the padding"
            f" along some axes, which {step.node.op_type} leaves out since opset 22"
        )
    return step.again(*step.node.inputs, without=["ceil_mode"], pads=pads)


@down("AveragePool", since=19)
def average_with_gaps(step: Step) -> Answer:
    """Windows with gaps are those of a convolution: the sum of what is in them, by how much that is."""
    if "dilations" not in step.node.attributes:
        return AS_IT_IS
    windows = _Windows(step)
    data = step.required(0)
    sums = windows.sums(windows.single_channels(data), windows.around(windows.pads, windows.extra))
    spatial = _spatial(step, data)
    shape = step.op("Concat", step.int_constant([1, 1], "ones"), spatial, axis=0)
    one = ir.AttrTensor("value", ir.Tensor(np.ones(1, windows.dtype.numpy())))
    places = step.op("ConstantOfShape", shape, value=one)
    if int_attribute(step.node, "count_include_pad", 0):
        half = len(windows.pads) // 2
        around = [0, 0, *windows.pads[:half], 0, 0, *windows.pads[half:]]
        value = step.constant(np.ones((), windows.dtype.numpy()), "one")
        places = step.op("Pad", places, step.int_constant(around, "pads"), value)
        counts = windows.sums(places, windows.around([0] * len(windows.pads), windows.extra))
    else:
        counts = windows.sums(places, windows.around(windows.pads, windows.extra))
    return windows.all_channels(step.op("Div", sums, counts), data)


@down("LpPool", since=18)
def norm_with_gaps(step: Step) -> Answer:
    """The same for powers, of which the root is taken."""
    if not {"dilations", "ceil_mode"} & step.node.attributes.keys():
        return AS_IT_IS
    windows = _Windows(step)
    power = int_attribute(step.node, "p", 2)
    data = step.required(0)
    exponent = step.constant(np.array(power, windows.dtype.numpy()), "power")
    raised = step.op("Pow", step.op("Abs", windows.single_channels(data)), exponent)
    sums = windows.sums(raised, windows.around(windows.pads, windows.extra))
    root = step.constant(np.array(1 / power, windows.dtype.numpy()), "root")
    return windows.all_channels(step.op("Pow", sums, root), data)


class _Windows:
    """The windows of a pooling node as those of a convolution with one channel."""

    def __init__(self, step: Step) -> None:
        self.step = step
        node = step.node
        self.dtype = step.dtype_of(0, "and windows are summed in that type")
        kernel = ints_attribute(node, "kernel_shape")
        if kernel is None or text_attribute(node, "auto_pad", "NOTSET") != "NOTSET":
            raise Refusal(
                f"it has windows with gaps (dilations) and pads by itself (auto_pad), which {node.op_type} does"
                f" since opset {step.since}",
                "say its pads, and leave auto_pad out",
            )
        count = len(kernel)
        self.kernel = kernel
        self.strides = ints_attribute(node, "strides") or (1,) * count
        self.dilations = ints_attribute(node, "dilations") or (1,) * count
        self.pads = list(ints_attribute(node, "pads") or (0,) * (2 * count))
        #: What rounding up adds behind each axis.
        self.extra = [0] * count
        if int_attribute(node, "ceil_mode", 0):
            shape = fixed_shape(step.input(0))
            if shape is None:
                raise Refusal(
                    f"its windows have gaps (dilations) and sizes are rounded up (ceil_mode), which {node.op_type} does"
                    f" since opset {step.since}, and the sizes are not known",
                    DECLARE_SHAPES,
                )
            for k, size in enumerate(shape[2:]):
                reach = (kernel[k] - 1) * self.dilations[k] + 1
                free = size + self.pads[k] + self.pads[count + k] - reach
                self.extra[k] = -(-free // self.strides[k]) * self.strides[k] - free

    def around(self, pads: list[int], extra: list[int]) -> list[int]:
        count = len(extra)
        return [*pads[:count], *(each + more for each, more in zip(pads[count:], extra, strict=True))]

    def sums(self, value: ir.Value, pads: list[int]) -> ir.Value:
        weights = self.step.constant(np.ones((1, 1, *self.kernel), self.dtype.numpy()), "window")
        return self.step.op("Conv", value, weights, strides=self.strides, dilations=self.dilations, pads=pads)

    def single_channels(self, data: ir.Value) -> ir.Value:
        step = self.step
        spatial = _spatial(step, data)
        return step.op("Reshape", data, step.op("Concat", step.int_constant([-1, 1], "one"), spatial, axis=0))

    def all_channels(self, result: ir.Value, data: ir.Value) -> ir.Value:
        step = self.step
        front = step.op(
            "Slice", step.op("Shape", data), step.int_constant([0], "zero"), step.int_constant([2], "two")
        )
        back = _spatial(step, result)
        return step.op("Reshape", result, step.op("Concat", front, back, axis=0))


def _spatial(step: Step, value: ir.Value) -> ir.Value:
    """The sizes behind the batch and the channels."""
    return step.op(
        "Slice", step.op("Shape", value), step.int_constant([2], "two"), step.int_constant([99], "end")
    )
