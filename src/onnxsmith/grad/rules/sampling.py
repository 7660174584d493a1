"""Operators that take an image at other places: Resize, GridSample, RoiAlign, DeformConv."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, mul
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Operand
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.broadcasting import as_type_of
from onnxsmith.grad.operators import op, several
from onnxsmith.grad.rules.indexing import size_along
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.grad.through import defined
from onnxsmith.types.dtypes import DType

#: Whole places along one dimension as those that are read, and whether they are inside; None where all are.
Bounded: TypeAlias = "Callable[[Tensor, Tensor], tuple[Tensor, Tensor | None]]"


# -- Resize --------------------------------------------------------------------------------------------------


@rule("Resize", "Upsample")
def resize(step: Step, g: Tensor) -> Cotangents:
    """Resizing is linear, axis by axis. What it does to an axis is a matrix: the resized identity."""
    x, rank = step.input(0), step.rank()
    before, after = shape_of(x), shape_of(step.output())
    assert before is not None  # its rank has been asked for
    crops = step.text("coordinate_transformation_mode") == "tf_crop_and_resize"
    named = step.integers("axes")
    axes = [each % rank for each in named] if named is not None else list(range(rank))
    for position, axis in enumerate(axes):
        same = after is not None and isinstance(before[axis], int) and before[axis] == after[axis]
        if same and not crops and not _is_scaled(step, position):
            continue
        matrix = _resizing(step, x, axis, position)
        g = _times_along(g, matrix, axis, rank)
    return (as_type_of(g, x),)


def _is_scaled(step: Step, position: int) -> bool:
    """True if an axis is resized by a factor that is not known to be 1."""
    if not step.has(2):
        return False
    scales = step.content(2)
    return scales is None or (scales.size > position and float(scales[position]) != 1.0)


def _resizing(step: Step, x: Tensor, axis: int, position: int) -> Tensor:
    """The matrix (before, after) of an axis."""
    size = op.Shape(x, start=axis, end=axis + 1)
    square = op.Expand(np.zeros((1, 1), np.float32), op.Concat(size, size, axis=0))
    identity = op.EyeLike(square)
    kept: dict[str, Any] = {name: value for name, value in step.attributes.items() if name in _OF_AN_AXIS}
    region: Tensor | None = None
    if step.text("coordinate_transformation_mode") == "tf_crop_and_resize":
        ends = op.Reshape(step.input(1), [2, -1])  # all beginnings, then all ends
        own = op.Slice(ends, [position], [position + 1], [1])
        region = op.Reshape(op.Concat(op.Cast(np.array([[0], [1]]), to=dtype_of(own)), own, axis=1), [-1])
    scales = step.optional(2) if step.name == "Resize" else step.optional(1)
    if scales is not None and shape_of(scales) != (0,):
        factor = op.Concat(np.ones(1, np.float32), op.Slice(scales, [position], [position + 1]), axis=0)
        matrix = op.Resize(identity, region, factor, **kept)
    else:
        result = op.Shape(step.output(), start=axis, end=axis + 1)
        matrix = op.Resize(identity, region, None, op.Concat(size, result, axis=0), **kept)
    dtype = dtype_of(x)
    return matrix if dtype is DType.FLOAT else op.Cast(matrix, to=dtype)


_OF_AN_AXIS = (
    "antialias", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "mode", "nearest_mode",
)  # fmt: skip


def _times_along(g: Tensor, matrix: Tensor, axis: int, rank: int) -> Tensor:
    """A product with the transposed of a matrix along an axis."""
    if axis == rank - 1:
        return op.MatMul(g, op.Transpose(matrix, perm=[1, 0]))
    if axis == rank - 2:
        return op.MatMul(matrix, g)
    order = [*(k for k in range(rank) if k != axis), axis]
    made = op.MatMul(op.Transpose(g, perm=order), op.Transpose(matrix, perm=[1, 0]))
    return op.Transpose(made, perm=[int(each) for each in np.argsort(order)])


# -- places between pixels -----------------------------------------------------------------------------------


def _floats(x: Tensor, like: Tensor) -> Tensor:
    return op.Cast(x, to=dtype_of(like))


def _inside(place: Tensor, size: Tensor) -> tuple[Tensor, Tensor | None]:
    """Zeros are read outside."""
    is_inside = op.And(op.Not(op.Less(place, 0.0)), op.Less(place, _floats(size, place)))
    return op.Where(is_inside, place, 0.0), is_inside


def _at_border(place: Tensor, size: Tensor) -> tuple[Tensor, Tensor | None]:
    """The nearest pixel is read outside."""
    return op.Max(op.Min(place, _floats(size, place) - 1.0), 0.0), None


def _taken(rows: Tensor, places: Sequence[Tensor], sizes: Sequence[Tensor], bounded: Bounded) -> Tensor:
    """The pixels (N, P, C) of rows (N, S, C) at whole places (N, P), one tensor for each dimension."""
    held = [bounded(place, size) for place, size in zip(places, sizes, strict=True)]
    index, *others = (op.Cast(place, to=DType.INT64) for place, _ in held)
    for size, whole in zip(sizes[1:], others, strict=True):
        index = index * size + whole
    inside = [ok for _, ok in held if ok is not None]
    found = op.GatherND(rows, op.Unsqueeze(index, [-1]), batch_dims=1)
    return op.Where(op.Unsqueeze(reduce(op.And, inside), [-1]), found, 0.0) if inside else found


def _linear(rows: Tensor, places: Sequence[Tensor], sizes: Sequence[Tensor], bounded: Bounded) -> Tensor:
    """Between pixels the mean of those around, by distance."""
    floors = [op.Floor(each) for each in places]
    parts: list[Tensor] = []
    for corner in itertools.product((0, 1), repeat=len(places)):
        shares = [
            place - floor if offset else floor + 1.0 - place
            for offset, place, floor in zip(corner, places, floors, strict=True)
        ]
        at = [floor + 1.0 if offset else floor for offset, floor in zip(corner, floors, strict=True)]
        parts.append(_taken(rows, at, sizes, bounded) * op.Unsqueeze(reduce(mul, shares), [-1]))
    return reduce(add, parts)


#: What GridSample's cubic interpolation takes.
_CUBIC = -0.75


def _cubic_weights(t: Tensor) -> list[Tensor]:
    """The weights of the four pixels around a place, which is `t` behind the second."""

    def near(d: Tensor) -> Tensor:
        return ((_CUBIC + 2.0) * d - (_CUBIC + 3.0)) * d * d + 1.0

    def far(d: Tensor) -> Tensor:
        return ((_CUBIC * d - 5.0 * _CUBIC) * d + 8.0 * _CUBIC) * d - 4.0 * _CUBIC

    return [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]


def _cubic(rows: Tensor, places: Sequence[Tensor], sizes: Sequence[Tensor], bounded: Bounded) -> Tensor:
    floors = [op.Floor(each) for each in places]
    weights = [_cubic_weights(place - floor) for place, floor in zip(places, floors, strict=True)]
    parts: list[Tensor] = []
    for corner in itertools.product(range(4), repeat=len(places)):
        weight = reduce(mul, [each[k] for k, each in zip(corner, weights, strict=True)])
        at = [floor + float(k - 1) for k, floor in zip(corner, floors, strict=True)]
        parts.append(_taken(rows, at, sizes, bounded) * op.Unsqueeze(weight, [-1]))
    return reduce(add, parts)


def _in_rows(x: Tensor) -> Tensor:
    """An image (N, C, …) as pixels (N, S, C)."""
    flat = op.Reshape(x, op.Concat(op.Shape(x, end=2), np.array([-1]), axis=0))
    return op.Transpose(flat, perm=[0, 2, 1])


# -- GridSample ----------------------------------------------------------------------------------------------


def _mirrored(low: float, at_pixels: bool) -> Bounded:
    """Places beyond the border are those as far before it; it stands at pixels, or between them."""

    def bounded(place: Tensor, size: Tensor) -> tuple[Tensor, Tensor | None]:
        length = _floats(size, place) - (1.0 if at_pixels else 0.0)
        span = op.Max(length, 1e-6)
        away = op.Abs(place - low)
        turns = op.Floor(away / span)
        rest = away - turns * span
        is_even = op.Equal(turns - op.Floor(turns * 0.5) * 2.0, 0.0)
        back = op.Where(is_even, rest, span - rest) + low
        return _at_border(back, size)

    return bounded


@defined("GridSample")
def grid_sample(step: Step, x: Tensor, grid: Tensor) -> Tensor:
    mode = step.text("mode", "linear").replace("bilinear", "linear").replace("bicubic", "cubic")
    outside = step.text("padding_mode", "zeros")
    at_pixels = bool(step.integer("align_corners"))
    dimensions = len(shape_of(x) or ()) - 2
    sizes = [size_along(x, k + 2) for k in range(dimensions)]
    points = op.Reshape(grid, op.Concat(op.Shape(grid, end=1), np.array([-1, dimensions]), axis=0))
    bounded: Bounded = {"zeros": _inside, "border": _at_border}.get(
        outside, _mirrored(0.0 if at_pixels else -0.5, at_pixels)
    )
    places: list[Tensor] = []
    for k, size in enumerate(sizes):
        last = dimensions - 1 - k  # a grid names the last dimension first
        unit = op.Squeeze(op.Slice(points, [last], [last + 1], [2]), [2])
        length = _floats(size, unit)
        place = (unit + 1.0) * 0.5 * (length - 1.0) if at_pixels else ((unit + 1.0) * length - 1.0) * 0.5
        if mode != "cubic" and outside != "zeros":
            place, _ = bounded(place, size)
        places.append(place)
    rows = _in_rows(x)
    if mode == "nearest":
        made = _taken(rows, [op.Round(each) for each in places], sizes, bounded)
    elif mode == "cubic":
        made = _cubic(rows, places, sizes, bounded)
    else:
        made = _linear(rows, places, sizes, bounded)
    shape = op.Concat(op.Shape(x, end=2), op.Shape(grid, start=1, end=dimensions + 1), axis=0)
    return op.Reshape(op.Transpose(made, perm=[0, 2, 1]), shape)


# -- RoiAlign ------------------------------------------------------------------------------------------------


@defined("RoiAlign")
def roi_align(step: Step, x: Tensor, rois: Tensor, batch: Tensor) -> Tensor:
    """Places in each region, of which each result is the mean or, by weighted corners, the greatest."""
    ratio = step.integer("sampling_ratio")
    if ratio <= 0 or step.text("mode", "avg") == "max":
        raise NotDifferentiableError(
            "there is no gradient of RoiAlign that takes the greatest, or as many places as a region is large",
            help="give sampling_ratio, and mode='avg'",
        )
    counts = step.integer("output_height", 1), step.integer("output_width", 1)
    half = 0.5 if step.text("coordinate_transformation_mode", "half_pixel") == "half_pixel" else 0.0
    scale = step.number("spatial_scale", 1.0)
    x1, y1, x2, y2 = (op.Slice(rois, [k], [k + 1], [1]) * scale - half for k in range(4))
    lengths = [y2 - y1, x2 - x1]
    if not half:
        lengths = [op.Max(each, 1.0) for each in lengths]
    sizes = [size_along(x, 2), size_along(x, 3)]
    along: list[Tensor] = []
    for first, length, count in zip((y1, x1), lengths, counts, strict=True):
        steps = (np.arange(count * ratio, dtype=np.float32) + 0.5) / (count * ratio)
        place = first + length * steps.reshape(1, -1)
        along.append(place)
    rows, columns = along
    places = [
        op.Unsqueeze(rows, [2]) + op.Unsqueeze(columns, [1]) * 0.0,
        op.Unsqueeze(columns, [1]) + op.Unsqueeze(rows, [2]) * 0.0,
    ]
    flat = [op.Reshape(each, op.Concat(op.Shape(rois, end=1), np.array([-1]), axis=0)) for each in places]
    bounds = [(place, _floats(size, place)) for place, size in zip(flat, sizes, strict=True)]
    near = [op.And(op.Not(op.Less(place, -1.0)), op.Not(op.Greater(place, end))) for place, end in bounds]
    held = [op.Max(op.Min(place, end - 1.0), 0.0) for place, end in bounds]
    images = op.Gather(_in_rows(x), batch, axis=0)
    found = _linear(images, held, sizes, _at_border)
    found = op.Where(op.Unsqueeze(reduce(op.And, near), [-1]), found, 0.0)
    height, width = counts
    apart = op.Reshape(
        found, op.Concat(op.Shape(rois, end=1), np.array([height, ratio, width, ratio, -1]), axis=0)
    )
    return op.Transpose(op.ReduceMean(apart, np.array([2, 4]), keepdims=0), perm=[0, 3, 1, 2])


# -- DeformConv ----------------------------------------------------------------------------------------------


@defined("DeformConv")
def deformed_convolution(
    step: Step, x: Tensor, weight: Tensor, offset: Tensor, bias: Tensor | None, mask: Tensor | None
) -> Tensor:
    """Each place of the window is taken at its own offset; then it is a product of matrices for each group."""
    kernel = tuple(int(each) for each in (shape_of(weight) or ())[2:] if isinstance(each, int))
    strides, dilations = step.integers("strides") or (1, 1), step.integers("dilations") or (1, 1)
    pads = step.integers("pads") or (0,) * 4
    groups, group = step.integer("offset_group", 1), step.integer("group", 1)
    area = int(np.prod(kernel))
    sizes = [size_along(x, 2), size_along(x, 3)]
    heights = op.Range(np.int64(0), size_along(offset, 2), np.int64(1))
    widths = op.Range(np.int64(0), size_along(offset, 3), np.int64(1))
    parts: list[Operand] = []
    channels = _in_parts(x, groups, 1)
    for number in range(groups):
        rows = _in_rows(channels[number])
        for at, (i, j) in enumerate(itertools.product(range(kernel[0]), range(kernel[1]))):
            first = 2 * (number * area + at)
            moved = [op.Slice(offset, [first + k], [first + k + 1], [1]) for k in range(2)]
            fixed = [
                op.Reshape(_floats(heights * strides[0] + (i * dilations[0] - pads[0]), x), [1, 1, -1, 1]),
                op.Reshape(_floats(widths * strides[1] + (j * dilations[1] - pads[1]), x), [1, 1, 1, -1]),
            ]
            places = [
                op.Reshape(a + b, op.Concat(op.Shape(x, end=1), np.array([-1]), axis=0))
                for a, b in zip(moved, fixed, strict=True)
            ]
            found = _linear(rows, places, sizes, _inside)
            if mask is not None:
                share = op.Slice(mask, [number * area + at], [number * area + at + 1], [1])
                found = found * op.Reshape(share, op.Concat(op.Shape(x, end=1), np.array([-1, 1]), axis=0))
            parts.append(op.Unsqueeze(op.Transpose(found, perm=[0, 2, 1]), [2]))
    # (N, C, K, L): the places of one group beside each other, then the groups below each other.
    stacks = [op.Concat(*parts[k * area : (k + 1) * area], axis=2) for k in range(groups)]
    columns = stacks[0] if groups == 1 else op.Concat(*stacks, axis=1)
    results: list[Tensor] = []
    images = _in_parts(columns, group, 1)
    weights = _in_parts(weight, group, 0)
    for image, matrix in zip(images, weights, strict=True):
        left = op.Reshape(matrix, op.Concat(op.Shape(matrix, end=1), np.array([-1]), axis=0))
        right = op.Reshape(
            image,
            op.Concat(op.Shape(image, end=1), op.Unsqueeze(size_along(left, 1), [0]), np.array([-1]), axis=0),
        )
        results.append(op.MatMul(left, right))
    made = results[0] if group == 1 else op.Concat(*results, axis=1)
    made = op.Reshape(made, op.Concat(op.Shape(made, end=2), op.Shape(offset, start=2), axis=0))
    return made if bias is None else made + op.Reshape(bias, [1, -1, 1, 1])


def _in_parts(x: Tensor, count: int, axis: int) -> list[Tensor]:
    """Equal parts along an axis: channels, or rows."""
    if count == 1:
        return [x]
    return list(several(op.Split(x, axis=axis, num_outputs=count, outputs=count)))
