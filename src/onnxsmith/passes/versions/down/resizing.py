"""Resize with what newer definitions added, as far as older ones can say it."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from onnxsmith.passes.values import fixed_shape, int_attribute, ints_attribute, text_attribute
from onnxsmith.passes.versions.down.interpolation import interpolated
from onnxsmith.passes.versions.step import AS_IT_IS, DECLARE_SHAPES, Answer, Refusal, Step, down

_ADDED = ("antialias", "axes", "keep_aspect_ratio_policy")


@down("Resize", since=19)
def corners_of_fractions(step: Step) -> Answer:
    """With align_corners and scales the resized length may be a fraction: a region that ends earlier says that."""
    mode = text_attribute(step.node, "coordinate_transformation_mode", "half_pixel")
    scales = step.input(2)
    if mode == "half_pixel_symmetric":
        is_whole = text_attribute(step.node, "keep_aspect_ratio_policy", "stretch") == "stretch"
        if is_whole and (scales is None or fixed_shape(scales) == (0,)):
            # Sizes that are given are reached exactly, and symmetric as they are.
            return step.with_inputs(coordinate_transformation_mode="half_pixel")
        return _by_products(step)
    if mode != "align_corners" or scales is None or fixed_shape(scales) == (0,):
        return AS_IT_IS
    if int_attribute(step.node, "antialias", 0) and step.target < 18:
        return _by_products(step)
    own = step.op("Shape", step.required(0))
    axes = ints_attribute(step.node, "axes")
    if axes is not None:
        own = step.op("Gather", own, step.int_constant(axes, "axes"))
    one = step.constant(np.array(1.0), "one")
    double = int(ir.DataType.DOUBLE)
    fraction = step.op("Mul", step.op("Cast", own, to=double), step.op("Cast", scales, to=double))
    # A length of one has no second corner; anything but 0 will do to divide by.
    is_single = step.op("Equal", fraction, one)
    span = step.op("Where", is_single, one, step.op("Sub", fraction, one))
    ends = step.op("Div", step.op("Sub", step.op("Floor", fraction), one), span)
    ends = step.op("Cast", ends, to=int(ir.DataType.FLOAT))
    region = step.op("Concat", step.op("Sub", ends, ends), ends, axis=0)
    return step.again(
        step.input(0), region, scales, step.input(3), coordinate_transformation_mode="tf_crop_and_resize"
    )


@down("Resize", since=18)
def of_all_axes(step: Step) -> Answer:
    """Axes that are not named keep their size; sizes that keep the aspect ratio are worked out."""
    if int_attribute(step.node, "antialias", 0):
        return _by_products(step)
    policy = text_attribute(step.node, "keep_aspect_ratio_policy", "stretch")
    axes = ints_attribute(step.node, "axes")
    regions, scales, sizes = (step.input(k) for k in (1, 2, 3))
    shape = fixed_shape(step.input(0))
    if axes is None and policy == "stretch":
        return step.again(*step.node.inputs, without=_ADDED)
    count = step.rank_of(0, "and all axes are resized before opset 18")
    named = [each % count for each in (range(count) if axes is None else axes)]
    if policy != "stretch" and sizes is not None:
        sizes = _sizes_in_proportion(step, sizes, shape, named, policy)
    if axes is not None:
        scales = None if scales is None else _spread(step, scales, named, np.ones(count, np.float32))
        if sizes is not None:
            own = step.op("Shape", step.required(0))
            sizes = _scattered(step, own, sizes, named)
        if regions is not None:
            places = [*named, *(each + count for each in named)]
            regions = _spread(
                step, regions, places, np.array([0.0] * count + [1.0] * count, np.float32), dtype=True
            )
    return step.again(step.input(0), regions, scales, sizes, without=_ADDED)


def _by_products(step: Step) -> Answer:
    """Works out scales and sizes here, for a node that no older Resize can express."""
    count = step.rank_of(0, "and each axis is resized by itself")
    axes = ints_attribute(step.node, "axes")
    own = step.op("Shape", step.required(0))
    if axes is not None:
        own = step.op("Gather", own, step.int_constant([each % count for each in axes], "axes"))
    exact = step.op("Cast", own, to=int(ir.DataType.DOUBLE))
    scales, sizes = step.input(2), step.input(3)
    if scales is not None and fixed_shape(scales) != (0,):
        scales = step.op("Cast", scales, to=int(ir.DataType.DOUBLE))
        sizes = step.op("Cast", step.op("Floor", step.op("Mul", exact, scales)), to=int(ir.DataType.INT64))
        known = step.array(2, 64)
        still = [] if known is None else np.flatnonzero(known.astype(np.float64) == 1).tolist()
        return interpolated(step, scales, sizes, still)
    if sizes is None:
        raise Refusal("it is given neither scales nor sizes")
    scales = step.op("Div", step.op("Cast", sizes, to=int(ir.DataType.DOUBLE)), exact)
    policy = text_attribute(step.node, "keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        # One scale for all axes, the smallest or the largest that is asked for.
        op_type = "ReduceMin" if policy == "not_larger" else "ReduceMax"
        scale = step.reduced(op_type, scales, [0], keepdims=True)
        scales = step.op("Add", step.op("Sub", scales, scales), scale)
        half = step.constant(np.array(0.5), "half")
        rounded = step.op("Floor", step.op("Add", step.op("Mul", exact, scales), half))
        sizes = step.op("Cast", rounded, to=int(ir.DataType.INT64))
    return interpolated(step, scales, sizes)


def _spread(
    step: Step, values: ir.Value, places: list[int], rest: NDArray[np.float32], *, dtype: bool = False
) -> ir.Value:
    if dtype and values.dtype is not None:
        rest = rest.astype(values.dtype.numpy())
    return _scattered(step, step.constant(rest, "rest"), values, places)


def _scattered(step: Step, rest: ir.Value, values: ir.Value, places: list[int]) -> ir.Value:
    return step.op("ScatterElements", rest, step.int_constant(places, "axes"), values)


def _sizes_in_proportion(
    step: Step, sizes: ir.Value, shape: tuple[int, ...] | None, named: list[int], policy: str
) -> ir.Value:
    """The sizes that keep the proportions: one scale for all axes, the smallest or the largest that is asked for."""
    if shape is None:
        raise Refusal(
            "its sizes keep the proportions (keep_aspect_ratio_policy) of data whose size is not known",
            DECLARE_SHAPES,
        )
    own = step.constant(np.array([shape[each] for each in named], np.float64), "own_sizes")
    wanted = step.op("Cast", sizes, to=int(ir.DataType.DOUBLE))
    each = step.op("Div", wanted, own)
    op_type = "ReduceMin" if policy == "not_larger" else "ReduceMax"
    scale = step.reduced(op_type, each, [0], keepdims=True)
    half = step.constant(np.array(0.5), "half")
    rounded = step.op("Floor", step.op("Add", step.op("Mul", own, scale), half))
    return step.op("Cast", rounded, to=int(ir.DataType.INT64))


@down("Resize", since=13)
def with_region(step: Step) -> Answer:
    """A region and scales had to be given, and could be empty."""
    nothing = step.constant(np.zeros(0, np.float32), "nothing")
    return step.again(step.input(0), step.input(1) or nothing, step.input(2) or nothing, step.input(3))


@down("Resize", since=11)
def by_scales_alone(step: Step) -> Answer:
    """There was one way to read coordinates, and scales alone."""
    mode = text_attribute(step.node, "mode", "nearest")
    coordinates = text_attribute(step.node, "coordinate_transformation_mode", "half_pixel")
    nearest = text_attribute(step.node, "nearest_mode", "round_prefer_floor")
    if step.input(3) is not None:
        raise Refusal("it is given sizes, which Resize takes since opset 11", "give it scales")
    if coordinates != "asymmetric" or mode == "cubic" or (mode == "nearest" and nearest != "floor"):
        raise Refusal(
            f"it reads coordinates as '{coordinates}' in mode '{mode}' and rounds as '{nearest}';"
            " Resize does all that since opset 11, and before that 'asymmetric' with 'floor'"
        )
    kept = [name for name in step.node.attributes if name != "mode"]
    return step.again(step.input(0), step.input(2), without=kept)


@down("Resize", since=10)
def upsample(step: Step) -> Answer:
    """Resize was Upsample, which makes nothing smaller."""
    scales = step.array(1, 64)
    if scales is None or (scales.astype(np.float64) < 1).any():
        raise Refusal(
            "its scales are computed when the model runs or make it smaller, which Resize takes since opset 10"
        )
    return step.again(*step.node.inputs, op_type="Upsample")
