"""Convolutions of batches (batch, channel, …) in any number of dimensions, transposed ones, and their gradients.

Element types that ONNX Runtime's kernels would lose digits of go through products of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, dtype_of, int64s, product, rank_of, reshape, size_of, sizes_of
from onnxsmith.algorithms.windows import is_exact_only, padded, unfolded


def convolve(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    pads: Sequence[Size],
    dilation: Sequence[int],
    groups: int,
    outputs: Sequence[Size] | None = None,
) -> Tensor:
    """A convolution; `pads` are those before all dimensions, then those behind.

    The number of windows along each dimension, which is computed where it is needed, may be given.
    """
    if is_exact_only(dtype_of(x)):
        return exact(x, weight, bias, stride, pads, dilation, groups, outputs)
    spatial = rank_of(weight) - 2
    given = () if bias is None else (bias,)
    known = [each for each in pads if isinstance(each, int)]
    if len(known) < len(pads):
        x, known = padded(x, pads[:spatial], pads[spatial:]), [0] * len(pads)
    return op.Conv(x, weight, *given, strides=stride, dilations=dilation, group=groups, pads=known)


@algorithm(name="convolution", by_size=True)
def exact(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    pads: Sequence[Size],
    dilation: Sequence[int],
    groups: int,
    outputs: Sequence[Size] | None = None,
) -> Tensor:
    """A convolution as a product of matrices, which ONNX Runtime has for double and integers too."""
    kernel = sizes_of(weight)[2:]
    spatial = len(kernel)
    wide = padded(x, pads[:spatial], pads[spatial:])
    if outputs is None:
        outputs = [
            (size - (width - 1) * apart - 1) // step + 1
            for size, width, apart, step in zip(sizes_of(wide)[2:], kernel, dilation, stride, strict=True)
        ]
    windows = unfolded(wide, kernel, outputs, stride, dilation)
    batch, features = size_of(x, 0), size_of(weight, 0)
    inner = size_of(weight, 1) * product(kernel)
    columns = reshape(windows, [batch, groups, inner, product(outputs)])
    rows = reshape(weight, [groups, features // groups, inner])
    result = reshape(op.MatMul(rows, columns), [batch, features, *outputs])
    return result if bias is None else result + beside_channels(bias, spatial)


def beside_channels(bias: Tensor, spatial: int) -> Tensor:
    """A number for each channel, to broadcast with a batch."""
    return op.Reshape(bias, [-1] + [1] * spatial)


# -- transposed ------------------------------------------------------------------------------------------


def transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    more: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    outputs: Sequence[Size] | None = None,
) -> Tensor:
    """The gradient of a convolution by its input; `more` is added behind each dimension."""
    spatial = rank_of(weight) - 2
    if is_exact_only(dtype_of(x)):
        return exact_transposed(x, weight, bias, stride, padding, more, dilation, groups, outputs)
    if all(a < b for a, b in zip(more, stride, strict=True)):
        return op.ConvTranspose(
            x,
            weight,
            *(() if bias is None else (bias,)),
            strides=stride,
            dilations=dilation,
            group=groups,
            pads=[*padding, *padding],
            output_padding=more,
        )
    # ONNX Runtime wants less output padding than stride. What is cut off behind is less by it, and where that
    # is not enough, zeros follow.
    cut = [max(a - b, 0) for a, b in zip(padding, more, strict=True)]
    zeros = [max(b - a, 0) for a, b in zip(padding, more, strict=True)]
    result = op.ConvTranspose(
        x, weight, strides=stride, dilations=dilation, group=groups, pads=[*padding, *cut]
    )
    result = padded(result, [0] * spatial, zeros)
    return result if bias is None else result + beside_channels(bias, spatial)


@algorithm(name="transposed_convolution", by_size=True)
def exact_transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    more: Sequence[Size],
    dilation: Sequence[int],
    groups: int,
    outputs: Sequence[Size] | None = None,
) -> Tensor:
    """A plain convolution, with the kernel turned around, of the input with zeros between its elements."""
    kernel = sizes_of(weight)[2:]
    spatial = len(kernel)
    before = [(k - 1) * d - p for d, k, p in zip(dilation, kernel, padding, strict=True)]
    after = [a + b for a, b in zip(before, more, strict=True)]
    for k in range(spatial):
        x = _spread(x, 2 + k, stride[k])
    width, features = size_of(weight, 0) // groups, size_of(weight, 1)
    turned = reshape(weight, [groups, width, features, *kernel])
    turned = op.Transpose(turned, perm=[0, 2, 1, *range(3, 3 + spatial)])
    turned = reshape(turned, [groups * features, width, *kernel])
    axes = np.arange(2, 2 + spatial)
    ends = np.full(spatial, np.iinfo(np.int64).min)
    turned = op.Slice(turned, np.full(spatial, -1), ends, axes, np.full(spatial, -1))
    return exact(x, turned, bias, [1] * spatial, [*before, *after], dilation, groups, outputs)


def _spread(x: Tensor, axis: int, stride: int) -> Tensor:
    """Zeros between the elements along a dimension."""
    if stride == 1:
        return x
    sizes = sizes_of(x)
    rank = len(sizes)
    pads = np.zeros(2 * (rank + 1), np.int64)
    pads[rank + 1 + axis + 1] = stride - 1
    wide = op.Pad(op.Unsqueeze(x, [axis + 1]), pads)
    wide = reshape(wide, [*sizes[:axis], sizes[axis] * stride, *sizes[axis + 1 :]])
    return op.Slice(wide, [0], np.array([1 - stride]), [axis])


# -- gradients -------------------------------------------------------------------------------------------


@algorithm(by_size=True)
def gradient_of_input(
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """The gradient for the input of a convolution, from that of its result."""
    kernel = sizes_of(weight)[2:]
    inputs, outputs = sizes_of(x)[2:], sizes_of(gradient)[2:]
    reached = [
        (out - 1) * step + (width - 1) * apart + 1
        for out, step, width, apart in zip(outputs, stride, kernel, dilation, strict=True)
    ]
    # What no window reaches, behind the last of them, has no gradient; what was padded has no place.
    after = [size - full + pad for size, full, pad in zip(inputs, reached, padding, strict=True)]
    if is_exact_only(dtype_of(gradient)):
        more = [a + pad for a, pad in zip(after, padding, strict=True)]
        return exact_transposed(gradient, weight, None, stride, padding, more, dilation, groups, inputs)
    full = op.ConvTranspose(gradient, weight, strides=stride, dilations=dilation, group=groups)
    return padded(full, [-each for each in padding], after)


@algorithm(by_size=True)
def gradient_of_transposed_input(
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """The gradient for the input of a transposed convolution, from that of its result."""
    made = convolve(gradient, weight, None, stride, [*padding, *padding], dilation, groups)
    spatial = len(stride)
    # Output padding can make room for more windows than the input has elements.
    return op.Slice(made, np.zeros(spatial, np.int64), int64s(sizes_of(x)[2:]), np.arange(2, 2 + spatial))


@algorithm(by_size=True)
def gradient_of_weight(
    wide: Tensor,
    narrow: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """The gradient for the weights: the sum of each window of the wider side times the element of the narrower one.

    Of a convolution the input is the wider side, and the gradient the narrower one; of a transposed one it is the
    other way round.
    """
    kernel, outputs = sizes_of(weight)[2:], sizes_of(narrow)[2:]
    windows = unfolded(padded(wide, padding, padding), kernel, outputs, stride, dilation)
    batch, features = size_of(narrow, 0), size_of(narrow, 1)
    inner = size_of(weight, 1) * product(kernel)
    columns = op.Transpose(reshape(windows, [batch, groups, inner, product(outputs)]), perm=[0, 1, 3, 2])
    rows = reshape(narrow, [batch, groups, features // groups, product(outputs)])
    total = op.ReduceSum(op.MatMul(rows, columns), np.array([0]), keepdims=0)
    return reshape(total, sizes_of(weight))
