"""Convolutions, in one to three dimensions, and transposed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import Size, dtype_of, product, rank_of, reshape
from onnxsmith.algorithms.windows import is_exact_only, padded, unfolded
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_pair import parts_of
from onnxsmith.torch.library.kinds import Argument, Counts
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import Given, Translated


def repeated(value: int | Sequence[int], count: int) -> list[int]:
    """One number for each dimension."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def convolve(
    call: Call,
    x: TensorValue,
    weight: TensorValue,
    bias: TensorValue | None,
    stride: Counts,
    padding: Counts | str,
    dilation: Counts,
    groups: int,
) -> TensorValue:
    """A convolution of a batch, or of a single sample, which has one dimension less."""
    spatial = rank_of(weight) - 2
    is_single = rank_of(x) == spatial + 1
    if is_single:
        x = op.Unsqueeze(x, [0])
    stride, dilation = repeated(stride, spatial), repeated(dilation, spatial)
    pads = _pads(call, padding, weight, dilation)
    if is_exact_only(dtype_of(x)):
        result = _exact(call, x, weight, bias, stride, pads, dilation, groups)
    else:
        given = () if bias is None else (bias,)
        known = [each for each in pads if isinstance(each, int)]
        if len(known) < len(pads):
            x, known = padded(x, pads[:spatial], pads[spatial:]), [0] * len(pads)
        result = op.Conv(x, weight, *given, strides=stride, dilations=dilation, group=groups, pads=known)
    return op.Squeeze(result, [0]) if is_single else result


def _exact(
    call: Call,
    x: TensorValue,
    weight: TensorValue,
    bias: TensorValue | None,
    stride: Sequence[int],
    pads: Sequence[Size],
    dilation: Sequence[int],
    groups: int,
) -> TensorValue:
    """A convolution as a product of matrices, which ONNX Runtime has for double and integers too."""
    kernel = call.shape_of(weight)[2:]
    spatial = len(kernel)
    outputs = call.output_shape()[-spatial:]
    windows = unfolded(padded(x, pads[:spatial], pads[spatial:]), kernel, outputs, stride, dilation)
    batch, features = call.size(x, 0), call.size(weight, 0)
    inner = call.size(weight, 1) * product(kernel)
    columns = reshape(windows, [batch, groups, inner, product(outputs)])
    rows = reshape(weight, [groups, features // groups, inner])
    result = reshape(op.MatMul(rows, columns), [batch, features, *outputs])
    return result if bias is None else op.Add(result, _beside_channels(bias, spatial))


def _beside_channels(bias: TensorValue, spatial: int) -> TensorValue:
    return op.Reshape(bias, [-1] + [1] * spatial)


def _pads(call: Call, padding: Counts | str, weight: TensorValue, dilation: Sequence[int]) -> list[Size]:
    spatial = rank_of(weight) - 2
    if padding == "valid":
        return [0] * (2 * spatial)
    if padding == "same":
        totals = [(k - 1) * d for d, k in zip(dilation, call.shape_of(weight)[2:], strict=True)]
        return [each // 2 for each in totals] + [each - each // 2 for each in totals]
    assert not isinstance(padding, str)  # torch has no third word
    return [*repeated(padding, spatial), *repeated(padding, spatial)]


@translates(
    *("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default"),
    *("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding"),
)
def conv(
    call: Call,
    x: TensorValue,
    weight: TensorValue,
    bias: TensorValue | None = None,
    stride: Counts = 1,
    padding: Counts | str = 0,
    dilation: Counts = 1,
    groups: int = 1,
) -> Translated:
    if call.overload.endswith(".padding") and isinstance(padding, int):
        padding = "valid"
    return convolve(call, x, weight, bias, stride, padding, dilation, groups)


@translates("aten.convolution.default", "aten._convolution.default")
def convolution(
    call: Call,
    x: TensorValue,
    weight: TensorValue,
    bias: TensorValue | None,
    stride: Counts,
    padding: Counts,
    dilation: Counts,
    transposed: bool,
    output_padding: Counts,
    groups: int,
    *_: Argument,
) -> Translated:
    if transposed:
        return transposed_convolution(
            call, x, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return convolve(call, x, weight, bias, stride, padding, dilation, groups)


@translates("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(
    call: Call,
    x: TensorValue,
    weight: TensorValue,
    bias: TensorValue | None = None,
    stride: Counts = 1,
    padding: Counts = 0,
    output_padding: Counts = 0,
    groups: int = 1,
    dilation: Counts = 1,
) -> Translated:
    return transposed_convolution(call, x, weight, bias, stride, padding, output_padding, groups, dilation)


def transposed_convolution(
    call: Call,
    x: TensorValue,
    weight: TensorValue,
    bias: TensorValue | None,
    stride: Counts,
    padding: Counts,
    output_padding: Counts,
    groups: int,
    dilation: Counts,
) -> TensorValue:
    """The gradient of a convolution; of a batch or of a single sample."""
    spatial = rank_of(weight) - 2
    is_single = rank_of(x) == spatial + 1
    if is_single:
        x = op.Unsqueeze(x, [0])
    stride, padding, more, dilation = (
        repeated(each, spatial) for each in (stride, padding, output_padding, dilation)
    )
    if is_exact_only(dtype_of(x)):
        result = exact_transposed(call, x, weight, bias, stride, padding, more, groups, dilation)
    elif all(a < b for a, b in zip(more, stride, strict=True)):
        result = op.ConvTranspose(
            x,
            weight,
            *(() if bias is None else (bias,)),
            strides=stride,
            dilations=dilation,
            group=groups,
            pads=padding * 2,
            output_padding=more,
        )
    else:
        # ONNX Runtime wants less output padding than stride. What is cut off behind is less by it, and where that
        # is not enough, zeros follow.
        cut = [max(a - b, 0) for a, b in zip(padding, more, strict=True)]
        zeros = [max(b - a, 0) for a, b in zip(padding, more, strict=True)]
        result = op.ConvTranspose(
            x, weight, strides=stride, dilations=dilation, group=groups, pads=[*padding, *cut]
        )
        result = padded(result, [0] * spatial, zeros)
        result = result if bias is None else op.Add(result, _beside_channels(bias, spatial))
    return op.Squeeze(result, [0]) if is_single else result


def exact_transposed(
    call: Call,
    x: TensorValue,
    weight: TensorValue,
    bias: TensorValue | None,
    stride: Sequence[int],
    padding: Sequence[int],
    more: Sequence[Size],
    groups: int,
    dilation: Sequence[int],
) -> TensorValue:
    """A plain convolution, with the kernel turned around, of the input with zeros between its elements."""
    kernel = call.shape_of(weight)[2:]
    spatial = len(kernel)
    before = [(k - 1) * d - p for d, k, p in zip(dilation, kernel, padding, strict=True)]
    after = [a + b for a, b in zip(before, more, strict=True)]
    for k in range(spatial):
        x = _spread(call, x, 2 + k, stride[k])
    width, features = call.size(weight, 0) // groups, call.size(weight, 1)
    turned = reshape(weight, [groups, width, features, *kernel])
    turned = op.Transpose(turned, perm=[0, 2, 1, *range(3, 3 + spatial)])
    turned = reshape(turned, [groups * features, width, *kernel])
    axes = np.arange(2, 2 + spatial)
    ends = np.full(spatial, np.iinfo(np.int64).min)
    turned = op.Slice(turned, np.full(spatial, -1), ends, axes, np.full(spatial, -1))
    return _exact(call, x, turned, bias, [1] * spatial, [*before, *after], dilation, groups)


def _spread(call: Call, x: TensorValue, axis: int, stride: int) -> TensorValue:
    """Zeros between the elements along a dimension."""
    if stride == 1:
        return x
    sizes = call.shape_of(x)
    rank = len(sizes)
    pads = np.zeros(2 * (rank + 1), np.int64)
    pads[rank + 1 + axis + 1] = stride - 1
    wide = op.Pad(op.Unsqueeze(x, [axis + 1]), pads)
    wide = reshape(wide, [*sizes[:axis], sizes[axis] * stride, *sizes[axis + 1 :]])
    return op.Slice(wide, [0], np.array([1 - stride]), [axis])


COMPLEX = (
    *("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default"),
    *("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding"),
    *("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input"),
    *("aten.convolution.default", "aten._convolution.default"),
)


@translates_complex(*COMPLEX)
def complex_convolution(
    call: Call, x: Given, weight: Given, bias: Given | None = None, *rest: Argument
) -> Translated:
    """As (a + bi)(c + di), with convolutions for products."""
    function: Callable[..., Translated] = conv
    if "transpose" in call.overload:
        function = conv_transpose
    elif "convolution" in call.overload:
        function = convolution
    z, kernel = parts_of(x), parts_of(weight)

    def convolved(part: TensorValue, kernel_part: TensorValue) -> TensorValue:
        result = function(call, part, kernel_part, None, *rest)
        assert isinstance(result, TensorValue)  # of tensors
        return result

    real = op.Sub(convolved(z.real, kernel.real), convolved(z.imag, kernel.imag))
    imag = op.Add(convolved(z.real, kernel.imag), convolved(z.imag, kernel.real))
    if bias is None:
        return Complex(real, imag)
    added, spatial = parts_of(bias), rank_of(kernel.real) - 2
    return Complex(
        op.Add(real, _beside_channels(added.real, spatial)),
        op.Add(imag, _beside_channels(added.imag, spatial)),
    )
