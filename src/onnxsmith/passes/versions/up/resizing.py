"""Upsample and Resize: scales that became an input, and coordinates whose meaning has to be said."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.values import fixed_shape, float_attribute, ints_attribute, text_attribute
from onnxsmith.passes.versions.step import AS_IT_IS, Answer, Step, up


@up("Upsample", since=7)
def four_scales(step: Step) -> Answer:
    """Only images were scaled, by two numbers."""
    step.not_a_reference("height_scale", "width_scale")
    scales = [float_attribute(step.node, f"{name}_scale", 1.0) for name in ("height", "width")]
    mode = text_attribute(step.node, "mode", "nearest")
    return step.again(
        step.input(0),
        without=["height_scale", "width_scale"],
        scales=[1.0, 1.0, *scales],
        mode="linear" if mode == "bilinear" else mode,
    )


@up("Upsample", since=9)
def scales_as_input(step: Step) -> Answer:
    """The scales became an input."""
    return step.again(step.input(0), step.as_input("scales", ir.DataType.FLOAT), without=["scales"])


@up("Upsample", since=10)
def resize(step: Step) -> Answer:
    """Upsample became Resize."""
    return step.again(*step.node.inputs, op_type="Resize")


@up("Resize", since=11)
def coordinates_as_before(step: Step) -> Answer:
    """How coordinates are meant can be said, and is another by default; and there is a region, here none.

    The nearest element was the one before where data grew, and the one behind where it shrank.
    """
    data, scales = step.required(0), step.required(1)
    if text_attribute(step.node, "mode", "nearest") != "nearest":
        return [_resized(step, data, scales, "floor")]
    found = step.array(1, 64)
    known = None if found is None else found.astype(np.float64)
    one = step.constant(np.ones((), np.float32), "one")
    if known is None or (known < 1).any():
        smaller = scales if known is not None and (known <= 1).all() else step.op("Min", scales, one)
        data = _resized(step, data, smaller, "ceil")
    if known is None or (known > 1).any():
        larger = scales if known is not None and (known >= 1).all() else step.op("Max", scales, one)
        data = _resized(step, data, larger, "floor")
    return data if data is not step.required(0) else step.op("Identity", data)


def _resized(step: Step, data: ir.Value, scales: ir.Value, nearest: str) -> ir.Value:
    region = step.constant(np.zeros(0, np.float32), "roi")
    (result,) = step.again(
        data, region, scales, coordinate_transformation_mode="asymmetric", nearest_mode=nearest
    )
    return result


@up("Resize", since=19)
def corners_of_whole_lengths(step: Step) -> Answer:
    """With align_corners the resized length may be a fraction since opset 19: whole sizes say that it was not."""
    if text_attribute(step.node, "coordinate_transformation_mode", "half_pixel") != "align_corners":
        return AS_IT_IS
    scales = step.input(2)
    if scales is None or fixed_shape(scales) == (0,):
        return AS_IT_IS
    own = step.op("Cast", step.op("Shape", step.required(0)), to=int(ir.DataType.FLOAT))
    axes = ints_attribute(step.node, "axes")
    if axes is not None:
        own = step.op("Gather", own, step.int_constant(axes, "axes"))
    sizes = step.op("Cast", step.op("Floor", step.op("Mul", own, scales)), to=int(ir.DataType.INT64))
    return step.again(step.input(0), step.input(1), None, sizes)
