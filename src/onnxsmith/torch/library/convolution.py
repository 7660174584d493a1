"""Convolutions, in one to three dimensions, and transposed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnxsmith.algorithms import convolution as convolutions
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, dtype_of, rank_of
from onnxsmith.algorithms.windows import is_exact_only
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_pair import parts_of
from onnxsmith.torch.library.kinds import Argument, Counts, Given, Translated
from onnxsmith.torch.library.registry import translates, translates_complex


def repeated(value: int | Sequence[int], count: int) -> list[int]:
    """One number for each dimension."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def batched(x: Tensor, spatial: int) -> tuple[Tensor, bool]:
    """A single sample as a batch of one, and whether it was single."""
    is_single = rank_of(x) == spatial + 1
    return (op.Unsqueeze(x, [0]) if is_single else x), is_single


def unbatched(x: Tensor, is_single: bool) -> Tensor:
    """The result of a batch of one as that of a single sample again."""
    return op.Squeeze(x, [0]) if is_single else x


@translates(
    *("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default"),
    *("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding"),
)
def conv(
    call: Call,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Counts = 1,
    padding: Counts | str = 0,
    dilation: Counts = 1,
    groups: int = 1,
) -> Translated:
    """A convolution of a batch, or of a single sample, which has one dimension less."""
    if call.overload.endswith(".padding") and isinstance(padding, int):
        padding = "valid"
    spatial = rank_of(weight) - 2
    x, is_single = batched(x, spatial)
    stride, dilation = repeated(stride, spatial), repeated(dilation, spatial)
    pads = _pads(call, padding, weight, dilation)
    outputs = call.output_shape()[-spatial:] if is_exact_only(dtype_of(x)) else None
    result = convolutions.convolve(x, weight, bias, stride, pads, dilation, groups, outputs)
    return unbatched(result, is_single)


def _pads(call: Call, padding: Counts | str, weight: Tensor, dilation: Sequence[int]) -> list[Size]:
    spatial = rank_of(weight) - 2
    if padding == "valid":
        return [0] * (2 * spatial)
    if padding == "same":
        totals = [(k - 1) * d for d, k in zip(dilation, call.shape_of(weight)[2:], strict=True)]
        return [each // 2 for each in totals] + [each - each // 2 for each in totals]
    assert not isinstance(padding, str)  # torch has no third word
    return [*repeated(padding, spatial), *repeated(padding, spatial)]


@translates("aten.convolution.default", "aten._convolution.default")
def convolution(
    call: Call,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Counts,
    padding: Counts,
    dilation: Counts,
    transposed: bool,
    output_padding: Counts,
    groups: int,
    *_: Argument,
) -> Translated:
    if transposed:
        return conv_transpose(call, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv(call, x, weight, bias, stride, padding, dilation, groups)


@translates("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(
    call: Call,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Counts = 1,
    padding: Counts = 0,
    output_padding: Counts = 0,
    groups: int = 1,
    dilation: Counts = 1,
) -> Translated:
    """The gradient of a convolution; of a batch or of a single sample."""
    spatial = rank_of(weight) - 2
    x, is_single = batched(x, spatial)
    stride, padding, more, dilation = (
        repeated(each, spatial) for each in (stride, padding, output_padding, dilation)
    )
    outputs = call.output_shape()[-spatial:] if is_exact_only(dtype_of(x)) else None
    result = convolutions.transposed(x, weight, bias, stride, padding, more, dilation, groups, outputs)
    return unbatched(result, is_single)


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

    def convolved(part: Tensor, kernel_part: Tensor) -> Tensor:
        result = function(call, part, kernel_part, None, *rest)
        assert isinstance(result, Tensor)  # of tensors
        return result

    real = convolved(z.real, kernel.real) - convolved(z.imag, kernel.imag)
    imag = convolved(z.real, kernel.imag) + convolved(z.imag, kernel.real)
    if bias is None:
        return Complex(real, imag)
    added, spatial = parts_of(bias), rank_of(kernel.real) - 2
    return Complex(
        real + convolutions.beside_channels(added.real, spatial),
        imag + convolutions.beside_channels(added.imag, spatial),
    )
