"""Reading an image at the places of a grid; and images as columns of windows, and back."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, dtype_of, int64s, product, rank_of, reshape
from onnxsmith.algorithms.windows import padded, unfolded, window_places
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.convolution import batched, unbatched
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

_MODES = ("bilinear", "nearest", "bicubic")
_MODES_SINCE_20 = ("linear", "nearest", "cubic")
_PADDINGS = ("zeros", "border", "reflection")


@translates("aten.grid_sampler.default", "aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default")
def grid_sampler(
    call: Call,
    x: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Translated:
    if rank_of(x) == 5 and op.version < 20:
        raise call.refuse("grid_sample in three dimensions, which ONNX has from opset 20 on")
    modes = _MODES if op.version < 20 else _MODES_SINCE_20
    return op.GridSample(
        x,
        cast(grid, dtype_of(x)),
        mode=modes[interpolation_mode],
        padding_mode=_PADDINGS[padding_mode],
        align_corners=int(align_corners),
    )


@translates("aten.im2col.default", lifts=True)
def im2col(
    call: Call,
    x: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Translated:
    """The windows of an image as columns."""
    x, is_single = batched(x, 2)
    outputs = [
        (size + 2 * around - step * (width - 1) - 1) // move + 1
        for size, around, step, width, move in zip(
            call.shape_of(x)[2:], padding, dilation, kernel_size, stride, strict=True
        )
    ]
    windows = unfolded(padded(x, padding, padding), kernel_size, outputs, stride, dilation)
    sizes = call.shape_of(x)
    columns = reshape(windows, [sizes[0], sizes[1] * product(kernel_size), product(outputs)])
    return unbatched(columns, is_single)


@translates("aten.col2im.default", lifts=True)
def col2im(
    call: Call,
    x: Tensor,
    output_size: Sequence[Size],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Translated:
    """Columns as windows of an image, summed where they overlap."""
    x, is_single = batched(x, 1)
    height, width = (size + 2 * around for size, around in zip(output_size, padding, strict=True))
    counts = [
        (size - step * (kernel - 1) - 1) // move + 1
        for size, step, kernel, move in zip((height, width), dilation, kernel_size, stride, strict=True)
    ]
    rows, columns = (
        window_places(kernel, count, move, step)
        for kernel, count, move, step in zip(kernel_size, counts, stride, dilation, strict=True)
    )
    # (element down, element right, window down, window right): the order of a column's elements, then columns
    rows = op.Unsqueeze(rows * cast(width, DType.INT64), [1, 3])
    places = op.Reshape(rows + op.Unsqueeze(columns, [0, 2]), [-1])
    batch, channels = call.size(x, 0), call.size(x, 1) // product(kernel_size)
    elements = product(kernel_size) * product(counts)
    values = reshape(x, [batch, channels, elements])
    empty = op.Expand(cast(0, dtype_of(x)), int64s([batch, channels, height * width]))
    spread = op.Expand(places, int64s([batch, channels, elements]))
    image = op.ScatterElements(empty, spread, values, axis=2, reduction="add")
    image = reshape(image, [batch, channels, height, width])
    image = padded(image, [-each for each in padding], [-each for each in padding])
    return unbatched(image, is_single)


@translates("aten.pixel_shuffle.default", lifts=True)
def pixel_shuffle(call: Call, x: Tensor, upscale_factor: int) -> Translated:
    if rank_of(x) == 4 and dtype_of(x).is_float:
        return op.DepthToSpace(x, blocksize=upscale_factor, mode="CRD")
    sizes = call.shape_of(x)
    rank, r = len(sizes), upscale_factor
    apart = reshape(x, [*sizes[:-3], sizes[-3] // (r * r), r, r, *sizes[-2:]])
    lead = [*range(rank - 3)]
    turned = op.Transpose(apart, perm=[*lead, *(rank - 3 + each for each in (0, 3, 1, 4, 2))])
    return reshape(turned, call.output_shape())


@translates("aten.pixel_unshuffle.default", lifts=True)
def pixel_unshuffle(call: Call, x: Tensor, downscale_factor: int) -> Translated:
    sizes = call.shape_of(x)
    rank, r = len(sizes), downscale_factor
    apart = reshape(x, [*sizes[:-2], sizes[-2] // r, r, sizes[-1] // r, r])
    lead = [*range(rank - 2)]
    turned = op.Transpose(apart, perm=[*lead, *(rank - 2 + each for each in (1, 3, 0, 2))])
    return reshape(turned, call.output_shape())


@translates("aten.channel_shuffle.default", "aten.native_channel_shuffle.default", lifts=True)
def channel_shuffle(call: Call, x: Tensor, groups: int) -> Translated:
    sizes = call.shape_of(x)
    apart = reshape(x, [sizes[0], groups, sizes[1] // groups, *sizes[2:]])
    return reshape(op.Transpose(apart, perm=[0, 2, 1, *range(3, len(sizes) + 1)]), sizes)
