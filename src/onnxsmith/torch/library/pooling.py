"""Pools: the greatest or the mean of windows at even steps."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import (
    Numeric,
    Size,
    counted,
    dtype_of,
    int64s,
    is_static,
    product,
    rank_of,
    reshape,
)
from onnxsmith.algorithms.windows import is_exact_only, padded, sliding
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.convolution import Counts, batched, repeated, unbatched
from onnxsmith.torch.library.kinds import Argument, Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType


def spatial_of(call: Call) -> int:
    """How many dimensions an operator's windows have, by its name."""
    return next(n for n in (1, 2, 3) if f"{n}d" in call.overload)


@translates(
    *("aten.max_pool1d.default", "aten.max_pool2d.default", "aten.max_pool3d.default"),
    *("aten.max_pool1d_with_indices.default", "aten.max_pool2d_with_indices.default"),
    "aten.max_pool3d_with_indices.default",
)
def max_pool(
    call: Call,
    x: Tensor,
    kernel: Counts,
    stride: Counts = (),
    padding: Counts = 0,
    dilation: Counts = 1,
    ceil_mode: bool = False,
) -> Translated:
    spatial = spatial_of(call)
    wants_places = "with_indices" in call.overload
    plane = call.shape_of(x)[-spatial:]
    x, is_single = batched(x, spatial)
    kernel = repeated(kernel, spatial)
    stride = repeated(stride, spatial) if _is_given(stride) else kernel
    padding, dilation = repeated(padding, spatial), repeated(dilation, spatial)
    extents = [(width - 1) * step + 1 for width, step in zip(kernel, dilation, strict=True)]
    counting = _Counting(plane, call.output_shape()[-spatial:], extents, stride, padding)
    rounds_up = counting.rounds_up() if ceil_mode else False
    results = several(
        op.MaxPool,
        x,
        kernel_shape=kernel,
        strides=stride,
        pads=[*padding, *(counting.ends() if rounds_up is None else padding)],
        dilations=dilation,
        ceil_mode=int(bool(rounds_up)),
        outputs=2 if wants_places else 1,
    )
    if not wants_places:
        return unbatched(results[0], is_single)
    # ONNX counts places over the whole tensor, torch within each channel.
    places = op.Mod(results[1], cast(product(plane), DType.INT64))
    return [unbatched(results[0], is_single), unbatched(places, is_single)]


class _Counting:
    """How many windows a pool has that rounds their number up, along each dimension.

    torch leaves out a last window that begins in the padding. So do ONNX Runtime, and ONNX since opset 22; the
    definitions before count it.
    """

    def __init__(
        self,
        sizes: Sequence[Size],
        outputs: Sequence[Size],
        extents: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
    ) -> None:
        self.sizes, self.outputs = sizes, outputs
        self.extents, self.stride, self.padding = extents, stride, padding

    def rounds_up(self) -> bool | None:
        """True if ONNX is to round up; None where it must in one dimension and must not in another."""
        if op.version >= 22 or not is_static([*self.sizes, *self.outputs]):
            return True
        rooms = [
            size + 2 * around - extent
            for size, around, extent in zip(self.sizes, self.padding, self.extents, strict=True)
        ]
        for is_up in (True, False):
            counts = [
                (-(-room // step) if is_up else room // step) + 1
                for room, step in zip(rooms, self.stride, strict=True)
            ]
            if counts == self.outputs:
                return is_up
        return None

    def ends(self) -> list[int]:
        """The padding behind that makes room for all windows where nothing is rounded up."""
        return [
            max(around, (out - 1) * step + extent - size - around)
            for size, out, extent, step, around in zip(
                self.sizes, self.outputs, self.extents, self.stride, self.padding, strict=True
            )
            if isinstance(size, int) and isinstance(out, int)  # all are known where this is asked
        ]


def _is_given(stride: Counts) -> bool:
    return isinstance(stride, int) or len(stride) > 0


@translates("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def avg_pool(
    call: Call,
    x: Tensor,
    kernel: Counts,
    stride: Counts = (),
    padding: Counts = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Translated:
    spatial = spatial_of(call)
    kernel = repeated(kernel, spatial)
    stride = repeated(stride, spatial) if _is_given(stride) else kernel
    padding = repeated(padding, spatial)
    if divisor_override is not None:
        total = _window_sums(call, x, kernel, stride, padding)
        return op.Div(total, cast(divisor_override, dtype_of(total)))
    sizes, outputs = call.shape_of(x)[-spatial:], call.output_shape()[-spatial:]
    rounds_up = _Counting(sizes, outputs, kernel, stride, padding).rounds_up() if ceil_mode else False
    if is_exact_only(dtype_of(x)) or rounds_up is None:
        counts = window_counts(sizes, outputs, kernel, stride, padding, count_include_pad)
        divisor = cast(functools.reduce(op.Mul, counts), dtype_of(x))
        return op.Div(_window_sums(call, x, kernel, stride, padding), divisor)
    x, is_single = batched(x, spatial)
    result = op.AveragePool(
        x,
        kernel_shape=kernel,
        strides=stride,
        pads=padding * 2,
        ceil_mode=int(rounds_up),
        count_include_pad=int(count_include_pad),
    )
    return unbatched(result, is_single)


def _window_sums(call: Call, x: Tensor, kernel: list[int], stride: list[int], padding: list[int]) -> Tensor:
    """The sums of windows. The zeros around are made first, so that every window has all its elements."""
    spatial = len(kernel)
    sizes, outputs = call.shape_of(x)[-spatial:], call.output_shape()[-spatial:]
    after = [
        (out - 1) * step + width - size - before
        for out, step, width, size, before in zip(outputs, stride, kernel, sizes, padding, strict=True)
    ]
    x = padded(x, padding, after)
    if is_exact_only(dtype_of(x)):
        for k in range(spatial):
            axis = rank_of(x) - spatial + k
            windows = sliding(x, axis, kernel[k], outputs[k], stride[k], 1)
            x = op.ReduceSum(windows, np.array([axis]), keepdims=0)
        return x
    x, is_single = batched(x, spatial)
    count = cast(float(np.prod(kernel)), dtype_of(x))
    return unbatched(op.AveragePool(x, kernel_shape=kernel, strides=stride) * count, is_single)


def window_counts(
    sizes: Sequence[Size],
    outputs: Sequence[Size],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    with_padding: bool,
) -> list[Tensor]:
    """For each dimension: how many elements of each window count, shaped to stand beside the windows."""
    spatial = len(kernel)
    counts: list[Tensor] = []
    for k in range(spatial):
        starts = counted(outputs[k]) * stride[k] - padding[k]
        end = sizes[k] + padding[k] if with_padding else sizes[k]
        ends = op.Min(starts + kernel[k], cast(end, DType.INT64))
        begins = starts if with_padding else op.Max(starts, np.int64(0))
        counts.append(op.Reshape(ends - begins, [-1] + [1] * (spatial - 1 - k)))
    return counts


@translates("aten.max_unpool2d.default", "aten.max_unpool3d.default")
def max_unpool(
    call: Call, x: Tensor, places: Tensor, output_size: Sequence[Size], *_: Argument
) -> Translated:
    """Zeros, but for the values of `x` at their places."""
    spatial = spatial_of(call)
    sizes = call.output_shape()
    lead = sizes[:-spatial]
    zeros = op.Expand(cast(0, dtype_of(x)), int64s([*lead, product(sizes[-spatial:])]))
    own = product(call.shape_of(x)[-spatial:])
    values, flat = reshape(x, [*lead, own]), reshape(places, [*lead, own])
    return reshape(op.ScatterElements(zeros, flat, values, axis=len(lead)), sizes)


@translates("aten.fractional_max_pool2d.default", "aten.fractional_max_pool3d.default")
def fractional_max_pool(
    call: Call, x: Tensor, kernel: Counts, output_size: Sequence[Size], samples: Tensor
) -> Translated:
    """The greatest of windows whose places along each dimension depend on a random number for each channel."""
    spatial = spatial_of(call)
    x, is_single = batched(x, spatial)
    widths = repeated(kernel, spatial)
    sizes = call.shape_of(x)
    outputs = call.output_shape()[-spatial:]
    # In two dimensions the first random number is for the width; in three they stand in order.
    order = [1, 0] if spatial == 2 else [0, 1, 2]
    places: Tensor | None = None
    for axis in range(spatial):
        sample = op.Gather(samples, np.array([order[axis]]), axis=2)
        starts = _fractional_starts(sample, sizes[2 + axis], outputs[axis], widths[axis])
        within = op.Unsqueeze(starts, [3]) + np.arange(widths[axis]).reshape(1, 1, 1, -1)
        # (batch, channel, output and window of each dimension in turn)
        shape = [*sizes[:2], *([1, 1] * axis), outputs[axis], widths[axis], *([1, 1] * (spatial - 1 - axis))]
        within = reshape(within, shape)
        places = within if places is None else places * cast(sizes[2 + axis], DType.INT64) + within
    assert places is not None  # there is a dimension
    perm = [0, 1, *(2 + 2 * k for k in range(spatial)), *(3 + 2 * k for k in range(spatial))]
    window = math.prod(widths)
    plane = product(outputs)
    places = reshape(op.Transpose(places, perm=perm), [*sizes[:2], plane * window])
    values = op.GatherElements(reshape(x, [*sizes[:2], product(sizes[2:])]), places, axis=2)
    values, places = (reshape(each, [*sizes[:2], plane, window]) for each in (values, places))
    best = op.ArgMax(values, axis=3, keepdims=1)
    found = [
        reshape(op.GatherElements(each, best, axis=3), [*sizes[:2], *outputs]) for each in (values, places)
    ]
    return [unbatched(each, is_single) for each in found]


def _fractional_starts(sample: Tensor, size: Size, output: Size, width: int) -> Tensor:
    """Where windows begin, for each channel: (batch, channel, output)."""
    dtype = dtype_of(sample)
    last = size - width
    numbers: TensorOrArray
    steps: Numeric
    if isinstance(output, int):
        steps = max(output - 1, 1)
        numbers = np.arange(output).reshape(1, 1, -1)
    else:
        numbers = op.Range(np.int64(0), cast(output, DType.INT64), np.int64(1))
        steps = op.Max(cast(output - 1, DType.INT64), np.int64(1))
    alpha = op.Div(cast(last, dtype), cast(steps, dtype))
    begin = cast(op.Add(cast(numbers, dtype), sample) * alpha, DType.INT64)
    starts = op.Sub(begin, cast(sample * alpha, DType.INT64))
    is_last = op.Equal(numbers, cast(output - 1, DType.INT64))
    return op.Where(is_last, cast(last, DType.INT64), starts)
