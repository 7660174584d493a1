"""Adaptive pools: windows, of differing lengths, that divide a dimension into a given number of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.reductions import mean_of
from onnxsmith.algorithms.values import Size, constant, dtype_of, expand, product, rank_of
from onnxsmith.core.value import Array
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.convolution import batched, unbatched
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.pooling import spatial_of
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType


@translates(
    *("aten.adaptive_avg_pool1d.default", "aten.adaptive_avg_pool2d.default"),
    *("aten.adaptive_avg_pool3d.default", "aten._adaptive_avg_pool2d.default"),
    "aten._adaptive_avg_pool3d.default",
)
def adaptive_avg_pool(call: Call, x: Tensor, output_size: Sequence[Size]) -> Translated:
    spatial = spatial_of(call)
    sizes, outputs = call.shape_of(x)[-spatial:], call.output_shape()[-spatial:]
    if all(isinstance(each, int) and each == 1 for each in outputs):
        return mean_of(x, range(-spatial, 0), True)
    known = [
        (a, b)
        for a, b in zip(sizes, outputs, strict=True)
        if isinstance(a, int) and isinstance(b, int) and b and a % b == 0
    ]
    if len(known) == spatial:
        kernel = [a // b for a, b in known]
        x, is_single = batched(x, spatial)
        return unbatched(op.AveragePool(x, kernel_shape=kernel, strides=kernel), is_single)
    for k in reversed(range(spatial)):
        x = _mean_of_parts(x, rank_of(x) - spatial + k, sizes[k], outputs[k])
    return x


def _mean_of_parts(x: Tensor, axis: int, size: Size, output: Size) -> Tensor:
    """The means of the parts of one dimension."""
    if isinstance(size, int) and isinstance(output, int) and size == output:
        return x
    places, is_inside, lengths = _windows(size, output)
    windows = op.Gather(x, places, axis=axis)
    after = [1] * (rank_of(x) - axis - 1)
    if is_inside is not None:
        mask = op.Reshape(is_inside, _beside(after))
        windows = op.Where(mask, windows, cast(0, dtype_of(x)))
    total = op.ReduceSum(windows, np.array([axis + 1]), keepdims=0)
    return op.Div(total, op.Reshape(cast(lengths, dtype_of(x)), np.array([-1, *after])))


def _beside(after: list[int]) -> Array:
    """The shape of a (part, element) mask beside the windows, which may have dimensions behind."""
    return np.array([0, -1, *after])


#: The places of the elements of each part; which of them are its own, None where all are; the lengths of the parts.
_Windows: TypeAlias = "tuple[Tensor, Tensor | None, TensorOrArray]"


def _windows(size: Size, output: Size) -> _Windows:
    """For each part: the places of its elements, as many as the longest has; which of them are its own; its length.

    A part begins at floor(k * size / output) and ends before ceil((k + 1) * size / output).
    """
    if isinstance(size, int) and isinstance(output, int):
        return _known_windows(size, output)
    whole, count = cast(size, DType.INT64), cast(output, DType.INT64)
    numbers = op.Range(np.int64(0), count, np.int64(1))
    starts = op.Div(numbers * whole, count)
    # All is positive, so a division that rounds down serves to round up.
    ends = op.Div((numbers + 1) * whole + op.Sub(count, np.int64(1)), count)
    lengths = ends - starts
    longest = op.ReduceMax(lengths, np.array([0]), keepdims=0)
    places = op.Unsqueeze(starts, [1]) + op.Range(np.int64(0), longest, np.int64(1))
    is_inside = places < op.Unsqueeze(ends, [1])
    return op.Min(places, op.Sub(whole, np.int64(1))), is_inside, lengths


def _known_windows(size: int, output: int) -> _Windows:
    numbers = np.arange(output)
    starts: Array = numbers * size // output
    ends: Array = -(-(numbers + 1) * size // output)
    lengths: Array = ends - starts
    places: Array = starts[:, None] + np.arange(int(lengths.max(initial=0)))
    is_inside: Array = np.less(places, ends[:, None])
    masked = None if is_inside.all() else constant(is_inside)
    return constant(np.minimum(places, max(size - 1, 0))), masked, lengths


@translates(
    *("aten.adaptive_max_pool1d.default", "aten.adaptive_max_pool2d.default"),
    "aten.adaptive_max_pool3d.default",
)
def adaptive_max_pool(call: Call, x: Tensor, output_size: Sequence[Size]) -> Translated:
    """The greatest of each part and its place, one dimension after the other.

    Places are counted within a channel. The first of equal ones wins in each dimension, and so over all of them.
    """
    spatial = spatial_of(call)
    sizes, outputs = call.shape_of(x)[-spatial:], call.output_shape()[-spatial:]
    first = rank_of(x) - spatial
    places: Tensor | None = None
    for k in reversed(range(spatial)):
        x, places = _greatest_of_parts(call, x, places, first + k, sizes[k], outputs[k], sizes[k + 1 :])
    return [x, places]


def _greatest_of_parts(
    call: Call,
    x: Tensor,
    inner: Tensor | None,
    axis: int,
    size: Size,
    output: Size,
    inner_sizes: Sequence[Size],
) -> tuple[Tensor, Tensor]:
    """The greatest of each part of one dimension; and its place, given the places in the dimensions behind."""
    places, is_inside, _ = _windows(size, output)
    windows = op.Gather(x, places, axis=axis)
    after = [1] * (rank_of(x) - axis - 1)
    if is_inside is not None:
        lowest = -np.inf if dtype_of(x).is_float else np.iinfo(dtype_of(x).numpy).min
        mask = op.Reshape(is_inside, _beside(after))
        windows = op.Where(mask, windows, cast(lowest, dtype_of(x)))
    best = op.ArgMax(windows, axis=axis + 1, keepdims=1)
    greatest = op.Squeeze(op.GatherElements(windows, best, axis=axis + 1), [axis + 1])
    own = op.Reshape(places, _beside(after)) * cast(product(inner_sizes), DType.INT64)
    if inner is None:
        candidates = expand(own, call.shape_of(windows))
    else:
        candidates = own + op.Gather(inner, places, axis=axis)
    return greatest, op.Squeeze(op.GatherElements(candidates, best, axis=axis + 1), [axis + 1])
