"""Operators that enlarge or shrink axes: `Pad`, `Resize`, `Upsample`, `Col2Im`, sampling grids."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import Call, Result, counted, rule, tensor
from onnxsmith.types.value_types import Dimension, Shape, describe_shape


@rule("Pad")
@rule("Pad", domain="com.microsoft")
def pad(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    if shape is None:
        return (tensor(dtype, None),)
    rank = len(shape)
    by_input = call.op.since_version >= 11 or call.op.domain != ""
    pads: Sequence[Dimension] | None
    pads = (
        call.entries(1) if by_input else call.integers("paddings" if call.op.since_version == 1 else "pads")
    )
    axes = tuple(range(rank))
    if by_input and call.input(3) is not None:
        entries = call.entries(3)
        numbers = [each for each in entries or () if isinstance(each, int)]
        if entries is None or len(numbers) < len(entries):
            return (tensor(dtype, (None,) * rank),)
        axes = call.check_axes(numbers, 3, rank)
    if pads is None:
        # Nothing is known of the padded axes, and all may be padded.
        return (tensor(dtype, tuple(None if axis in axes else each for axis, each in enumerate(shape))),)
    if len(pads) != 2 * len(axes):
        if call.op.domain:  # there pads may come as a matrix of one row
            return (tensor(dtype, (None,) * rank),)
        raise call.shape_error(
            f"needs {2 * len(axes)} entries in pads for {call.described(0)} "
            f"(all beginnings, then all ends), not {len(pads)}",
            1 if by_input else "pads",
        )
    out = list(shape)
    for position, axis in enumerate(axes):
        added = symbolic.add(pads[position], pads[position + len(axes)])
        size = symbolic.add(shape[axis], added)
        if isinstance(size, int) and size < 0:
            raise call.shape_error(
                f"cannot remove {symbolic.sub(0, added)} elements from axis {axis} of {call.described(0)}",
                1 if by_input else "pads",
            )
        out[axis] = size
    return (tensor(dtype, tuple(out)),)


@rule("Upsample")
@rule("Resize", before=11)
def upsample(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    since = call.op.since_version
    if since >= 9:
        return (tensor(dtype, _scaled(call, shape, call.array(1), None)),)
    if since == 1:
        height, width = call.attribute("height_scale"), call.attribute("width_scale")
        scales = np.array([1, 1, height, width], np.float32)
    else:
        scales = np.array(call.attribute("scales"), np.float32)
    return (tensor(dtype, _scaled(call, shape, scales, None)),)


@rule("Resize", since=11)
def resize(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    axes = call.integers("axes")
    for position in (2, 3):
        listed = call.shape(position)
        if listed is not None and len(listed) != 1:
            raise call.shape_error(f"needs a list, not {call.described(position)}", position)
    if shape is None:
        return (tensor(dtype, None),)
    if axes is not None:
        axes = call.check_axes(axes, "axes", len(shape))
    is_crop = call.string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize"
    if is_crop and (call.input(1) is None or call.length(1) == 0):
        raise call.shape_error("needs roi, which says what is cropped, with tf_crop_and_resize")
    if call.input(3) is not None:
        sizes_shape = call.shape(3)
        if sizes_shape != (0,):
            return (tensor(dtype, _sized(call, shape, call.entries(3), axes)),)
    if is_crop:
        return (tensor(dtype, (None,) * len(shape)),)
    return (tensor(dtype, _scaled(call, shape, call.array(2), axes)),)


def _sized(
    call: Call, shape: Shape, sizes: Sequence[Dimension] | None, axes: tuple[int, ...] | None
) -> Shape:
    chosen = tuple(range(len(shape))) if axes is None else axes
    out = list(shape)
    if sizes is not None and len(sizes) != len(chosen):
        raise call.shape_error(
            f"needs one entry of sizes per axis of {call.described(0)}, not {describe_shape(tuple(sizes))}", 3
        )
    if sizes is not None and any(isinstance(each, int) and each < 0 for each in sizes):
        raise call.shape_error(
            f"cannot resize {call.described(0)} to {describe_shape(tuple(sizes))}: sizes are not negative", 3
        )
    policy = call.string("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch" and sizes is not None:
        sizes = _keep_aspect_ratio(shape, sizes, chosen, policy)
    for position, axis in enumerate(chosen):
        out[axis] = None if sizes is None else sizes[position]
    return tuple(out)


def _keep_aspect_ratio(
    shape: Shape, sizes: Sequence[Dimension], axes: Sequence[int], policy: str
) -> Sequence[Dimension] | None:
    """One scale for all axes: the smallest or the largest of those asked for."""
    pairs = [(size, shape[axis]) for size, axis in zip(sizes, axes, strict=True)]
    numbers = [(size, now) for size, now in pairs if isinstance(size, int) and isinstance(now, int)]
    if len(numbers) < len(pairs) or any(now == 0 for _, now in numbers):
        return None
    pick = min if policy == "not_larger" else max
    scale = pick(np.float32(size) / np.float32(now) for size, now in numbers)
    return [math.floor(float(scale * np.float32(now)) + 0.5) for _, now in numbers]


def _scaled(
    call: Call, shape: Shape | None, scales: np.ndarray | None, axes: tuple[int, ...] | None
) -> Shape | None:
    if shape is None:
        return None
    chosen = tuple(range(len(shape))) if axes is None else axes
    if scales is None:
        return tuple(None if axis in chosen else each for axis, each in enumerate(shape))
    if scales.size != len(chosen):
        raise call.shape_error(
            f"needs one scale per axis of {call.described(0)}, not {scales.size}",
            None if call.op.since_version < 9 else 1 if call.op.since_version < 11 else 2,
        )
    if not np.isfinite(scales).all():
        raise call.shape_error(f"cannot scale {call.described(0)} by {tuple(scales.ravel().tolist())}")
    out = list(shape)
    for axis, scale in zip(chosen, scales.astype(np.float32).ravel(), strict=True):
        out[axis] = _scale_one(shape[axis], scale)
    return tuple(out)


def _scale_one(size: Dimension, scale: np.float32) -> Dimension:
    if scale == 1:
        return size
    if isinstance(size, int):
        return math.floor(np.float32(size) * scale)
    above, below = float(scale).as_integer_ratio()
    # Only where multiplying by a float32 and rounding down is the same as integer arithmetic.
    return symbolic.floordiv(symbolic.mul(size, above), below) if below <= 16 and 0 < above <= 4096 else None


@rule("Col2Im")
def col2im(call: Call) -> Result:
    shape, image, block = call.shape(0), call.entries(1), call.entries(2)
    if shape is not None and len(shape) != 3:
        raise call.shape_error(f"needs batches of columns of blocks, not {call.described(0)}", 0)
    lengths = call.length(1), call.length(2)
    if None not in lengths and lengths[0] != lengths[1]:
        raise call.shape_error(
            f"needs as many sizes in block_shape as in image_shape, not {lengths[1]} for {lengths[0]}", 2
        )
    count = lengths[0] if lengths[1] is None else lengths[1]
    for name, each in (("dilations", 1), ("pads", 2), ("strides", 1)):
        given = call.integers(name)
        if given is not None and count is not None and len(given) != each * count:
            raise call.attribute_error(
                name,
                f"needs {each * count} numbers in {name} for {counted(count, 'dimension')}, not {len(given)}",
            )
    batch = shape[0] if shape else None
    channels = (
        symbolic.floordiv(shape[1], symbolic.product(block))
        if shape is not None and block is not None
        else None
    )
    if image is not None:
        return (tensor(call.dtype(0), (batch, channels, *image)),)
    rank = call.length(1)
    return (tensor(call.dtype(0), None if rank is None else (batch, channels, *(None,) * rank)),)


@rule("GridSample")
@rule("GridSample", domain="com.microsoft")
def grid_sample(call: Call) -> Result:
    shape, grid = call.shape(0), call.shape(1)
    if shape is None and grid is None:
        return (tensor(call.dtype(0), None),)
    if shape is not None and grid is not None and len(shape) != len(grid):
        raise call.shape_error(
            f"needs X and grid of one rank, not {call.described(0)} and {call.described(1)}"
        )
    rank = len(shape or grid or ())
    if rank < 3:
        given = 0 if shape is not None else 1
        raise call.shape_error(f"needs three axes at least, not {call.described(given)}", given)
    if shape is not None and grid is not None and symbolic.compare_equal(shape[0], grid[0]) is False:
        raise call.shape_error(
            f"needs one grid for each entry of the batch, not {call.described(1)} for {call.described(0)}", 1
        )
    head = (None, None) if shape is None else shape[:2]
    tail = (None,) * (rank - 2) if grid is None else grid[1:-1]
    return (tensor(call.dtype(0), (*head, *tail)),)


@rule("AffineGrid")
def affine_grid(call: Call) -> Result:
    size, theta, listed = call.entries(1), call.shape(0), call.shape(1)
    if listed is not None and (len(listed) != 1 or (isinstance(listed[0], int) and listed[0] not in (4, 5))):
        message = f"needs size as (N, C, H, W) or (N, C, D, H, W), not {call.described(1)}"
        raise call.shape_error(message, 1)
    if size is None or len(size) not in (4, 5):
        axes = {4: 2, 5: 3}.get(call.length(1) or 0)
        batch = theta[0] if theta else None
        return (tensor(call.dtype(0), (batch, *(None,) * axes, axes) if axes else None),)
    batch = size[0] if size[0] is not None or theta is None else theta[0]
    return (tensor(call.dtype(0), (batch, *size[2:], len(size) - 2)),)
