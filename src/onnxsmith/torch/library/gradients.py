"""Gradients that torch has operators for: of convolutions and of mean pools."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms import convolution
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import Size, counted, dtype_of, rank_of, with_last
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.convolution import repeated
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.pooling import window_counts
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType


@translates("aten.convolution_backward.default")
def convolution_backward(
    call: Call,
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[Size] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> Translated:
    """The gradients of the input, of the weights and of the bias, those that are asked for."""
    spatial = rank_of(weight) - 2
    stride, padding, dilation = (repeated(each, spatial) for each in (stride, padding, dilation))
    results: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        of_input = convolution.gradient_of_input
        if transposed:
            of_input = convolution.gradient_of_transposed_input
        results[0] = of_input(gradient, x, weight, stride, padding, dilation, groups)
    if output_mask[1]:
        wide, narrow = (gradient, x) if transposed else (x, gradient)
        results[1] = convolution.gradient_of_weight(wide, narrow, weight, stride, padding, dilation, groups)
    if output_mask[2]:
        results[2] = op.ReduceSum(gradient, np.array([0, *range(2, 2 + spatial)]), keepdims=0)
    return results


@translates("aten.avg_pool2d_backward.default", "aten.avg_pool3d_backward.default")
def avg_pool_backward(
    call: Call,
    gradient: Tensor,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Translated:
    """Each element of a window gets its share of the window's gradient."""
    spatial = 2 if "2d" in call.overload else 3
    kernel = repeated(kernel, spatial)
    stride = repeated(stride, spatial) if len(stride) else kernel
    padding = repeated(padding, spatial)
    inputs, outputs = call.shape_of(x)[-spatial:], call.shape_of(gradient)[-spatial:]
    if divisor_override is not None:
        divisor = cast(divisor_override, dtype_of(gradient))
    else:
        counts = window_counts(inputs, outputs, kernel, stride, padding, count_include_pad)
        divisor = cast(functools.reduce(op.Mul, counts), dtype_of(gradient))
    shares = op.Div(gradient, divisor)
    for k in range(spatial):
        first = counted(outputs[k]) * stride[k] - padding[k]
        covers = _covers(first, first + kernel[k], inputs[k])
        shares = _spread_over(shares, cast(covers, dtype_of(shares)), rank_of(shares) - spatial + k)
    return shares


@translates("aten._adaptive_avg_pool2d_backward.default", "aten._adaptive_avg_pool3d_backward.default")
def adaptive_avg_pool_backward(call: Call, gradient: Tensor, x: Tensor) -> Translated:
    """Each element of a part gets its share of the part's gradient."""
    spatial = 2 if "2d" in call.overload else 3
    inputs, outputs = call.shape_of(x)[-spatial:], call.shape_of(gradient)[-spatial:]
    for k in range(spatial):
        size, output = cast(inputs[k], DType.INT64), cast(outputs[k], DType.INT64)
        numbers = counted(outputs[k])
        starts = op.Div(numbers * size, output)
        # All is positive, so a division that rounds down serves to round up.
        past = (numbers + 1) * size + op.Sub(output, np.int64(1))
        ends = op.Div(past, output)
        lengths = op.Unsqueeze(cast(ends - starts, dtype_of(gradient)), [1])
        covers = cast(_covers(starts, ends, inputs[k]), dtype_of(gradient))
        gradient = _spread_over(gradient, op.Div(covers, lengths), rank_of(gradient) - spatial + k)
    return gradient


def _covers(starts: Tensor, ends: Tensor, size: Size) -> Tensor:
    """The mask of the elements of a dimension that are in each window: (window, element)."""
    places = counted(size)
    is_behind = places >= op.Unsqueeze(starts, [1])
    return is_behind & (places < op.Unsqueeze(ends, [1]))


def _spread_over(x: Tensor, shares: TensorOrArray, axis: int) -> Tensor:
    """One dimension of windows as one of elements, by a matrix of (window, element)."""
    return with_last(op.MatMul(with_last(x, axis), shares), axis)
