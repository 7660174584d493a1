"""RoiAlign whose coordinates are half a pixel further, for the definition that has no such coordinates."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.values import float_attribute, int_attribute, text_attribute
from onnxsmith.passes.versions.step import Answer, Refusal, Step, down


@down("RoiAlign", since=16)
def regions_moved_by_half_a_pixel(step: Step) -> Answer:
    """Regions that begin half a pixel earlier say the same, but for those of less than one: these were made as large.

    Such regions are averaged by products with matrices of weights, which the others do not pay for.
    """
    node = step.node
    step.not_a_reference("coordinate_transformation_mode", "mode", "spatial_scale", "sampling_ratio")
    if text_attribute(node, "coordinate_transformation_mode", "half_pixel") != "half_pixel":
        return step.again(*node.inputs, without=["coordinate_transformation_mode"])
    scale = float_attribute(node, "spatial_scale", 1.0)
    if text_attribute(node, "mode", "avg") != "avg" or scale <= 0:
        raise Refusal(
            "it takes the maximum (mode) at half-pixel coordinates, which RoiAlign reads since opset 16",
            'set coordinate_transformation_mode to "output_half_pixel"',
        )
    data, regions, images = (step.required(each) for each in range(3))
    dtype = step.dtype_of(1, "and half a pixel is to be of it")
    half = step.number_constant(0.5 / scale, dtype, "half")
    moved = step.op("Sub", regions, half)
    (large,) = step.again(data, moved, images, without=["coordinate_transformation_mode"])
    width, height = (_side(step, moved, each, dtype, scale) for each in (0, 1))
    one = step.number_constant(1, dtype, "one")
    is_small = step.op("Less", step.op("Min", width.size, height.size), one)
    which = step.op("Transpose", step.op("NonZero", is_small), perm=[1, 0])
    places = step.op("Reshape", which, step.int_constant([-1]))
    own = step.op("Gather", data, step.op("Gather", images, places, axis=0), axis=0)
    shape = step.op("Shape", data)
    rows, count_of_rows = height.taken(places).weights("output_height", _length(step, shape, 2))
    columns, count_of_columns = width.taken(places).weights("output_width", _length(step, shape, 3))
    summed = step.op("MatMul", step.op("MatMul", rows, own), step.op("Transpose", columns, perm=[0, 1, 3, 2]))
    count = step.op("Max", step.op("Mul", count_of_rows, count_of_columns), one)
    mean = step.op("Div", summed, step.unsqueezed(count, [1, 2, 3]))
    return step.op("ScatterND", large, which, mean)


def _length(step: Step, shape: ir.Value, axis: int) -> ir.Value:
    return step.op("Gather", shape, step.constant(np.array(axis, np.int64), "axis"), axis=0)


def _side(step: Step, regions: ir.Value, position: int, dtype: ir.DataType, scale: float) -> _Side:
    """Where regions begin along one axis of the data, and how long they are, in elements."""
    factor = step.number_constant(scale, dtype, "scale")
    ends = [
        step.op("Gather", regions, step.constant(np.array(each, np.int64), "position"), axis=1)
        for each in (position, position + 2)
    ]
    start = step.op("Mul", ends[0], factor)
    return _Side(step, start, step.op("Mul", step.op("Sub", ends[1], ends[0]), factor), dtype)


class _Side:
    """The extent of regions along one axis."""

    def __init__(self, step: Step, start: ir.Value, size: ir.Value, dtype: ir.DataType) -> None:
        self._step = step
        self.start = start
        self.size = size
        self._dtype = dtype

    def taken(self, places: ir.Value) -> _Side:
        """That of some of the regions."""
        start, size = (self._step.op("Gather", each, places, axis=0) for each in (self.start, self.size))
        return _Side(self._step, start, size, self._dtype)

    def _number(self, number: float) -> ir.Value:
        return self._step.constant(np.array(number, self._dtype.numpy()), "number")

    def _range(self, end: ir.Value, axes: list[int]) -> ir.Value:
        """0, 1, 2 … as numbers, along one of four axes."""
        step = self._step
        whole = step.op("Range", step.constant(0, "zero"), end, step.constant(1, "one"))
        return step.unsqueezed(step.op("Cast", whole, to=int(self._dtype)), axes)

    def _largest(self, counts: ir.Value) -> ir.Value:
        """The largest of counts, of which there may be none; at least one."""
        op = self._step.op
        one = self._step.constant(np.ones(1, self._dtype.numpy()), "one")
        found = self._step.reduced("ReduceMax", op("Concat", counts, one, axis=0), [0], keepdims=False)
        return op("Cast", found, to=int(ir.DataType.INT64))

    def weights(self, name: str, length: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The weights of the elements for each bin of each region, [region, 1, bin, element], and how many samples.

        A sample is between two elements, and weighs them by how near they are; beyond the ends it is the last element,
        and further out nothing.
        """
        op, step, number = self._step.op, self._step, self._number
        bins = int_attribute(step.node, name, 1)
        size = op("Div", self.size, number(bins))
        ratio = int_attribute(step.node, "sampling_ratio", 0)
        zero = op("Mul", size, number(0))
        # Regions of no size have no samples.
        count = op("Add", zero, number(ratio)) if ratio > 0 else op("Max", op("Ceil", size), zero)
        most = step.constant(ratio, "most") if ratio > 0 else self._largest(count)
        sample = self._range(most, [0, 1, 3])
        bin_ = self._range(step.constant(bins, "bins"), [0, 2, 3])
        start, wide, samples = (step.unsqueezed(each, [1, 2, 3]) for each in (self.start, size, count))
        step_size = op("Div", wide, op("Max", samples, number(1)))
        at = op(
            "Add",
            op("Add", start, op("Mul", bin_, wide)),
            op("Mul", op("Add", sample, number(0.5)), step_size),
        )
        end = op("Cast", length, to=int(self._dtype))
        is_near = op("And", op("Not", op("Less", at, number(-1))), op("Not", op("Greater", at, end)))
        is_near = op("And", is_near, op("Less", sample, samples))
        at = op("Min", op("Max", at, number(0)), op("Sub", end, number(1)))
        distance = op("Abs", op("Sub", self._range(length, [0, 1, 2]), at))
        found = op("Max", op("Sub", number(1), distance), number(0))
        found = op("Mul", found, op("Cast", is_near, to=int(self._dtype)))
        return step.unsqueezed(step.reduced("ReduceSum", found, [2], keepdims=False), [1]), count
