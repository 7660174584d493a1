"""Resize by products: each axis times a matrix of weights that the model works out.

For what no older Resize can say: smoothing (antialias), and coordinates that are symmetric about the middle. It takes
any sizes; a matrix has as many columns as the axis has elements, so it costs more than a Resize.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.values import float_attribute, int_attribute, ints_attribute, text_attribute
from onnxsmith.passes.versions.step import Refusal, Step

_DOUBLE = int(ir.DataType.DOUBLE)
_INT64 = int(ir.DataType.INT64)
#: Element types that a product is made in as they are.
_PRODUCTS = (ir.DataType.FLOAT, ir.DataType.DOUBLE)


def interpolated(step: Step, scales: ir.Value, lengths: ir.Value, still: Collection[int] = ()) -> ir.Value:
    """The resized data; `scales` and `lengths` have an entry for each axis that the node names, or for all.

    `still` are those of the entries whose axis is known to stay as it is.
    """
    count = step.rank_of(0, "and each axis is resized by itself")
    named = ints_attribute(step.node, "axes")
    axes = range(count) if named is None else [each % count for each in named]
    dtype = step.dtype_of(0, "and decides what it is computed in")
    data = step.required(0)
    own = step.op("Shape", data)
    kind = _Kind.of(step)
    wide = dtype if dtype in _PRODUCTS or kind.is_nearest else ir.DataType.FLOAT
    values = data if wide is dtype else step.op("Cast", data, to=int(wide))
    for position, axis in enumerate(axes):
        if position in still:
            continue
        line = _Line(
            step,
            _element(step, own, axis),
            _element(step, lengths, position),
            _element(step, step.op("Cast", scales, to=_DOUBLE), position),
        )
        if kind.is_nearest:
            values = step.op("Gather", values, line.nearest(kind), axis=axis)
        else:
            values = _product(step, values, axis, count, *line.weights(kind), wide)
    if wide is not dtype:
        return _narrowed(step, values, dtype)
    return values if values is not data else step.op("Identity", data)


def _element(step: Step, values: ir.Value, position: int) -> ir.Value:
    return step.op("Gather", values, step.constant(np.array(position, np.int64), "position"), axis=0)


def _product(
    step: Step,
    values: ir.Value,
    axis: int,
    count: int,
    columns: ir.Value,
    weights: ir.Value,
    wide: ir.DataType,
) -> ir.Value:
    """One axis, whose elements at `columns` are weighed."""
    values = step.op("Gather", values, columns, axis=axis)
    matrix = step.op("Transpose", step.op("Cast", weights, to=int(wide)), perm=[1, 0])
    if axis == count - 1:
        return step.op("MatMul", values, matrix)
    order = [*(each for each in range(count) if each != axis), axis]
    made = step.op("MatMul", step.op("Transpose", values, perm=order), matrix)
    return step.op("Transpose", made, perm=[order.index(each) for each in range(count)])


def _narrowed(step: Step, values: ir.Value, dtype: ir.DataType) -> ir.Value:
    """The values in their own element type again; ints are rounded and end at their limits."""
    if dtype.is_integer():
        limits = np.iinfo(dtype.numpy())
        low, high = (step.constant(np.array(each, np.float32), "limit") for each in (limits.min, limits.max))
        values = step.op("Min", step.op("Max", step.op("Round", values), low), high)
    return step.op("Cast", values, to=int(dtype))


@dataclass(frozen=True, slots=True)
class _Kind:
    """The attributes of the node that say how elements are weighed."""

    coordinates: str
    mode: str
    rounding: str
    is_smoothed: bool
    is_inside: bool
    cubic: float

    @classmethod
    def of(cls, step: Step) -> _Kind:
        node = step.node
        step.not_a_reference(
            *("coordinate_transformation_mode", "mode", "nearest_mode", "antialias", "exclude_outside"),
            *("cubic_coeff_a", "axes", "keep_aspect_ratio_policy"),
        )
        coordinates = text_attribute(node, "coordinate_transformation_mode", "half_pixel")
        if coordinates == "tf_crop_and_resize":
            raise Refusal(
                "it smooths a region (antialias with tf_crop_and_resize), which Resize does since opset 18"
            )
        return cls(
            coordinates,
            text_attribute(node, "mode", "nearest"),
            text_attribute(node, "nearest_mode", "round_prefer_floor"),
            bool(int_attribute(node, "antialias", 0)),
            bool(int_attribute(node, "exclude_outside", 0)),
            float_attribute(node, "cubic_coeff_a", -0.75),
        )

    @property
    def is_nearest(self) -> bool:
        return self.mode == "nearest"


class _Line:
    """One axis: its length before and after, and the scale between them."""

    def __init__(self, step: Step, own: ir.Value, length: ir.Value, scale: ir.Value) -> None:
        self._step = step
        self._own = step.op("Cast", own, to=_DOUBLE)
        self._length = length
        self._scale = scale

    def _number(self, number: float) -> ir.Value:
        return self._step.constant(np.array(number, np.float64), "number")

    def _range(self, start: ir.Value, end: ir.Value) -> ir.Value:
        whole = self._step.op("Range", start, end, self._step.constant(1, "one"))
        return self._step.op("Cast", whole, to=_DOUBLE)

    def _coordinates(self, mode: str) -> ir.Value:
        """Where the elements of the result are in the data."""
        op, number = self._step.op, self._number
        places = self._range(self._step.constant(0, "zero"), self._length)
        if mode == "asymmetric":
            return op("Div", places, self._scale)
        width = op("Mul", self._scale, self._own)
        is_one = op("Equal", width, number(1))
        if mode == "align_corners":
            # A length of one has no second corner.
            span = op("Where", is_one, number(1), op("Sub", width, number(1)))
            found = op("Div", op("Mul", places, op("Sub", self._own, number(1))), span)
            return op("Where", is_one, op("Mul", places, number(0)), found)
        found = op("Sub", op("Div", op("Add", places, number(0.5)), self._scale), number(0.5))
        if mode == "pytorch_half_pixel":
            nothing = op("Mul", places, number(0))
            return op("Where", is_one, op("Sub", nothing, number(0.5)), found)
        if mode == "half_pixel_symmetric":
            covered = op("Div", op("Cast", self._length, to=_DOUBLE), self._scale)
            return op("Add", found, op("Mul", op("Sub", self._own, covered), number(0.5)))
        if mode != "half_pixel":
            raise Refusal(f"it reads coordinates as '{mode}', which there is not")
        return found

    def _clipped(self, places: ir.Value) -> ir.Value:
        """Places as indices: what is beyond an end is the element there."""
        op = self._step.op
        last = op("Sub", self._own, self._number(1))
        return op("Cast", op("Max", op("Min", places, last), self._number(0)), to=_INT64)

    def nearest(self, kind: _Kind) -> ir.Value:
        """The indices of the nearest elements."""
        op = self._step.op
        found = self._coordinates(kind.coordinates)
        if kind.rounding == "round_prefer_floor":
            found = op("Ceil", op("Sub", found, self._number(0.5)))
        elif kind.rounding == "round_prefer_ceil":
            found = op("Floor", op("Add", found, self._number(0.5)))
        else:
            found = op("Floor" if kind.rounding == "floor" else "Ceil", found)
        return self._clipped(found)

    def weights(self, kind: _Kind) -> tuple[ir.Value, ir.Value]:
        """The indices that are weighed, some beyond the ends, and a row of weights for each element of the result."""
        op, number, step = self._step.op, self._number, self._step
        centres = step.unsqueezed(self._coordinates(kind.coordinates), [1])
        # What makes data smaller is wider by as much; what makes it larger is not smoothed.
        density = op("Min", self._scale, number(1)) if kind.is_smoothed else number(1)
        reach = number(2.0 if kind.mode == "cubic" else 1.0)
        beyond = op("Cast", op("Ceil", op("Div", reach, density)), to=_INT64)
        places = self._range(op("Neg", beyond), op("Add", op("Cast", self._own, to=_INT64), beyond))
        distance = op("Abs", op("Mul", op("Sub", step.unsqueezed(places, [0]), centres), density))
        found = self._cubic(distance, kind.cubic) if kind.mode == "cubic" else self._linear(distance)
        if kind.is_inside:
            inside = op("Equal", places, op("Cast", self._clipped(places), to=_DOUBLE))
            found = op("Mul", found, step.unsqueezed(op("Cast", inside, to=_DOUBLE), [0]))
        total = step.reduced("ReduceSum", found, [1], keepdims=True)
        return self._clipped(places), op("Div", found, total)

    def _linear(self, distance: ir.Value) -> ir.Value:
        op = self._step.op
        return op("Max", op("Sub", self._number(1), distance), self._number(0))

    def _cubic(self, distance: ir.Value, a: float) -> ir.Value:
        """Two polynomials of the distance: up to one, and up to two."""
        op, number = self._step.op, self._number
        near, far = ([a + 2, -(a + 3), 0, 1], [a, -5 * a, 8 * a, -4 * a])
        sides: list[ir.Value] = []
        for first, *others in (near, far):
            value = number(first)
            for each in others:
                value = op("Add", op("Mul", value, distance), number(each))
            sides.append(value)
        outer = op("Where", op("Less", distance, number(2)), sides[1], number(0))
        return op("Where", op("Less", distance, number(1)), sides[0], outer)
