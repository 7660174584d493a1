"""Convolutions. The input's cotangent is a transposed convolution; the weight's has five forms, which were measured.

Windows of one element are a batched product. Few channels are a convolution with the cotangent as its weights, and so
are groups; groups of one channel are a sum for each place of the window. All else is a product of matrices for each
place of the window. It takes all images at once where they are small beside the number of their channels, and one image
after the other where they are not.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from onnxsmith.algorithms.values import Size, int64s, size_of, sizes_of
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.broadcasting import as_type_of
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.grad.windows import Window, kernel_of, static, window_of
from onnxsmith.types.dtypes import DType

#: Up to as many channels of the input a convolution by the cotangent is the fastest way to that of the weights.
_FEW_CHANNELS = 4
#: A window of more places is gone over by a convolution, too: each place costs three nodes.
_MOST_PLACES = 64
#: A window of more places, of one channel, is gone over by a convolution: each place costs two passes over the image.
_MOST_SUMS = 25


def _kernel(step: Step) -> tuple[int, ...]:
    found = step.integers("kernel_shape") or kernel_of(step.input(1))
    if found is None:
        raise NotDifferentiableError(
            f"there is no gradient of {step.name} with a window that only the model knows",
            help="give kernel_shape, or declare the shape of the weights",
        )
    return found


@rule("Conv")
def convolution(step: Step, g: Tensor) -> Cotangents:
    x, weight = step.input(0), step.input(1)
    step.rank(0)
    window = window_of(step, x, step.output(), _kernel(step))
    group = step.integer("group", 1)
    return (
        lambda: transposed(g, weight, window, group, x),
        lambda: weight_cotangent(x, g, window, group, weight),
        lambda: bias_cotangent(g, window.rank),
    )


@rule("ConvTranspose")
def transposed_convolution(step: Step, g: Tensor) -> Cotangents:
    x, weight, y = step.input(0), step.input(1), step.output()
    step.rank(0)
    # The roles are exchanged: it is the way back of a convolution from its output to its input.
    window = window_of(step, y, x, _kernel(step))
    group = step.integer("group", 1)

    def of_input() -> Tensor:
        return as_type_of(
            op.Conv(
                window.padded(g), weight, strides=window.strides, dilations=window.dilations, group=group
            ),
            x,
        )

    return (
        of_input,
        lambda: weight_cotangent(g, x, window, group, weight),
        lambda: bias_cotangent(g, window.rank),
    )


def bias_cotangent(g: Tensor, rank: int) -> Tensor:
    """The sum over all but the channels."""
    return op.ReduceSum(g, np.array([0, *range(2, rank + 2)]), keepdims=0)


def transposed(g: Tensor, weight: Tensor, window: Window, group: int, x: Tensor) -> Tensor:
    """The cotangent of what a convolution is of."""
    shared = {"strides": window.strides, "dilations": window.dilations, "group": group}
    if not window.is_static:
        return as_type_of(window.cut(op.ConvTranspose(g, weight, **shared)), x)
    before, behind = static(window.before), static(window.behind)
    pads = [*before, *(max(each, 0) for each in behind)]
    rest = [max(-each, 0) for each in behind]
    if any(each < 0 for each in before):
        return as_type_of(window.cut(op.ConvTranspose(g, weight, **shared)), x)
    return as_type_of(op.ConvTranspose(g, weight, pads=pads, output_padding=rest, **shared), x)


def weight_cotangent(x: Tensor, g: Tensor, window: Window, group: int, weight: Tensor) -> Tensor:
    """The cotangent of a convolution's weights, from `x` to `g`."""
    if all(each == 1 for each in window.kernel) and group == 1:
        made = _of_single_elements(x, g, window)
    elif _is_depthwise(x, g, window, group):
        made = by_sums(x, g, window)
    elif group > 1 or _has_few_channels(x) or math.prod(window.kernel) > _MOST_PLACES:
        made = by_convolution(x, g, window, group)
    else:
        made = by_products(x, g, window, at_once=_are_small(x, g))
    return as_type_of(made, weight)


def _is_depthwise(x: Tensor, g: Tensor, window: Window, group: int) -> bool:
    """True if each channel has a window of its own, whose elements `by_sums` reads in whole rows."""
    shapes = shape_of(x), shape_of(g)
    if group == 1 or any(each is None or each[1] != group for each in shapes):
        return False
    if math.prod(window.kernel) > _MOST_SUMS:
        return False
    return all(each == 1 for each in window.strides) or _is_in_blocks(x, window)


def _is_in_blocks(x: Tensor, window: Window) -> bool:
    """True if the elements that a stride lies apart can be brought beside each other by `SpaceToDepth`."""
    is_square = window.rank == 2 and len(set(window.strides)) == 1 and set(window.dilations) == {1}
    return is_square and window.is_static and dtype_of(x) in (DType.FLOAT, DType.DOUBLE)


def _has_few_channels(x: Tensor) -> bool:
    shape = shape_of(x)
    channels = None if shape is None else shape[1]
    return isinstance(channels, int) and channels <= _FEW_CHANNELS


def _are_small(x: Tensor, g: Tensor) -> bool:
    """True if images have few places beside their channels; False where only the model knows."""
    places, channels = _places(g), size_of(x, 1)
    return isinstance(places, int) and isinstance(channels, int) and places < 2 * channels


def _of_single_elements(x: Tensor, g: Tensor, window: Window) -> Tensor:
    picked = window.padded(x)
    if any(each != 1 for each in window.strides):
        picked = window.picked(picked, (0,) * window.rank, 2, sizes_of(g)[2:])
    # (N, M, L) · (N, L, C), and the sum over N.
    left, right = _in_rows(g), _in_rows(picked)
    products = op.MatMul(left, op.Transpose(right, perm=[0, 2, 1]))
    total = op.ReduceSum(products, np.array([0]), keepdims=0)
    return op.Unsqueeze(total, np.arange(2, 2 + window.rank))


def _in_rows(x: Tensor) -> Tensor:
    """All places of a channel in a row."""
    return op.Reshape(x, op.Concat(op.Shape(x, end=2), np.array([-1]), axis=0))


def by_convolution(x: Tensor, g: Tensor, window: Window, group: int = 1) -> Tensor:
    """The batch takes the place of channels, the cotangent that of weights; strides and dilations change places."""
    padded = window.padded(x)
    rank = window.rank
    rest = list(range(2, 2 + rank))
    if group == 1:
        images = op.Transpose(padded, perm=[1, 0, *rest])
    else:
        spatial = op.Shape(padded, start=2)
        apart = op.Reshape(padded, op.Concat(op.Shape(padded, end=1), np.array([group, -1]), spatial, axis=0))
        # (N, G, C/G, …) as (C/G, G · N, …): each group with its whole batch.
        turned = op.Transpose(apart, perm=[2, 1, 0, *(k + 1 for k in rest)])
        images = op.Reshape(turned, op.Concat(op.Shape(turned, end=1), np.array([-1]), spatial, axis=0))
    kernels = op.Transpose(g, perm=[1, 0, *rest])
    made = op.Conv(images, kernels, strides=window.dilations, dilations=window.strides, group=group)
    return op.Transpose(made, perm=[1, 0, *rest])


def by_sums(x: Tensor, g: Tensor, window: Window) -> Tensor:
    """For each place of the window, the sum over all windows of the cotangent times what stands there.

    With a stride, each element of a block of that size goes into a channel of its own first. What stands at one place
    of all windows is then a part of a channel, and not every other element of it.
    """
    outputs: list[Size] = sizes_of(g)[2:]
    if all(each == 1 for each in window.strides):
        padded = window.padded(x)
        picked = [window.picked(padded, each, 2, outputs) for each in window.offsets()]
    else:
        picked = _picked_from_blocks(x, window, outputs)
    axes = np.array([0, *range(2, window.rank + 2)])
    sums = [op.Unsqueeze(op.ReduceSum(each * g, axes, keepdims=0), [1]) for each in picked]
    return op.Reshape(op.Concat(*sums, axis=1), int64s([size_of(g, 1), 1, *window.kernel]))


def _picked_from_blocks(x: Tensor, window: Window, outputs: list[Size]) -> list[Tensor]:
    """The elements at each place of all windows, for one stride in two dimensions."""
    stride, channels = window.strides[0], size_of(x, 1)
    behind: list[Size] = []
    for size, before, after in zip(sizes_of(x)[2:], window.before, window.behind, strict=True):
        behind.append(after + -(size + before + after) % stride)
    whole = replace(window, behind=tuple(behind))
    blocks = op.SpaceToDepth(whole.padded(x), blocksize=stride)
    found: list[Tensor] = []
    for row, column in window.offsets():
        first = channels * (row % stride * stride + column % stride)
        starts: list[Size] = [first, row // stride, column // stride]
        ends = [first + channels, row // stride + outputs[0], column // stride + outputs[1]]
        found.append(op.Slice(blocks, int64s(starts), int64s(ends), np.arange(1, 4)))
    return found


def by_products(x: Tensor, g: Tensor, window: Window, *, at_once: bool) -> Tensor:
    """A product for each place of the window: of the cotangent, and of what stands at that place of all windows.

    Of all images at once, (M, N · L) times (N · L, C); or of one after the other, (M, L) times (L, C), and the sum.
    Beside each other in one tensor, the places would be K times as large as the image: that takes longer than the
    products do.
    """
    rank = window.rank
    last = [0, *range(2, 2 + rank), 1]
    pixels = op.Transpose(window.padded(x), perm=last)
    outputs: list[Size] = sizes_of(g)[2:]
    batch, channels, count = size_of(x, 0), size_of(x, 1), _places(g)
    picked = [window.picked(pixels, each, 1, outputs) for each in window.offsets()]
    if at_once:
        rows = op.Reshape(op.Transpose(g, perm=last), int64s([batch * count, size_of(g, 1)]))
        shape = int64s([batch * count, channels])
        made = op.Concat(*(op.Gemm(rows, op.Reshape(each, shape), transA=1) for each in picked), axis=1)
    else:
        rows = op.Reshape(g, int64s([batch, size_of(g, 1), count]))
        shape = int64s([batch, count, channels])
        products = op.Concat(*(op.MatMul(rows, op.Reshape(each, shape)) for each in picked), axis=2)
        made = op.ReduceSum(products, np.array([0]), keepdims=0)
    apart = op.Reshape(made, int64s([size_of(g, 1), *window.kernel, channels]))
    return op.Transpose(apart, perm=[0, rank + 1, *range(1, rank + 1)])


def _places(g: Tensor) -> Size:
    """How many windows there are in an image."""
    count: Size = 1
    for each in sizes_of(g)[2:]:
        count = count * each
    return count


@rule("Col2Im")
def columns_to_image(step: Step, g: Tensor) -> Cotangents:
    """The elements at each place of the blocks, which overlap, one below the other."""
    block, x = step.content(2), step.input(0)
    if block is None:
        raise NotDifferentiableError("there is no gradient of Col2Im with blocks that only the model knows")
    kernel = tuple(int(each) for each in block)
    rank = len(kernel)
    pads = step.integers("pads") or (0,) * (2 * rank)
    strides = step.integers("strides") or (1,) * rank
    dilations = step.integers("dilations") or (1,) * rank
    sizes = sizes_of(g)[2:]
    counts: list[Size] = []
    for k in range(rank):
        room = sizes[k] + (pads[k] + pads[k + rank] - dilations[k] * (kernel[k] - 1) - 1)
        counts.append(room // strides[k] + 1)
    window = Window(kernel, strides, dilations, pads[:rank], pads[rank:])
    padded = window.padded(g)
    rows = [_in_rows(window.picked(padded, each, 2, counts)) for each in window.offsets()]
    stacked = op.Concat(*(op.Unsqueeze(each, [2]) for each in rows), axis=2)
    return (as_type_of(op.Reshape(stacked, op.Shape(x), allowzero=1), x),)
