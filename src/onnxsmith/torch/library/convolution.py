# pyright: basic
"""Convolutions, in one to three dimensions, and transposed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import rank_of


def repeated(value: Any, count: int) -> list[int]:
    """One number for each dimension."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def convolve(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """A convolution of a batch, or of a single sample, which has one dimension less."""
    spatial = rank_of(weight) - 2
    is_single = rank_of(x) == spatial + 1
    if is_single:
        x = op.Unsqueeze(x, [0])
    attributes: dict[str, Any] = {
        "strides": repeated(stride, spatial),
        "dilations": repeated(dilation, spatial),
        "group": groups,
        "pads": _pads(padding, weight, repeated(dilation, spatial)),
    }
    given = () if bias is None else (bias,)
    result = op.Conv(x, weight, *given, **attributes)
    return op.Squeeze(result, [0]) if is_single else result


def _pads(padding: Any, weight: Any, dilation: Sequence[int]) -> list[int]:
    spatial = rank_of(weight) - 2
    if padding == "valid":
        return [0] * (2 * spatial)
    if padding == "same":
        totals = [d * (k - 1) for d, k in zip(dilation, weight.type.shape[2:], strict=True)]
        return [each // 2 for each in totals] + [each - each // 2 for each in totals]
    return repeated(padding, spatial) * 2


@translates(
    *("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default"),
    *("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding"),
)
def conv(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    if call.overload.endswith(".padding") and isinstance(padding, int):
        padding = "valid"
    return convolve(x, weight, bias, stride, padding, dilation, groups)


@translates("aten.convolution.default", "aten._convolution.default")
def convolution(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    *_: Any,
) -> Any:
    if transposed:
        return transposed_convolution(x, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolve(x, weight, bias, stride, padding, dilation, groups)


@translates("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    return transposed_convolution(x, weight, bias, stride, padding, output_padding, groups, dilation)


def transposed_convolution(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int, dilation: Any
) -> Any:
    """The gradient of a convolution; of a batch or of a single sample."""
    spatial = rank_of(weight) - 2
    is_single = rank_of(x) == spatial + 1
    if is_single:
        x = op.Unsqueeze(x, [0])
    given = () if bias is None else (bias,)
    result = op.ConvTranspose(
        x,
        weight,
        *given,
        strides=repeated(stride, spatial),
        dilations=repeated(dilation, spatial),
        group=groups,
        pads=repeated(padding, spatial) * 2,
        output_padding=repeated(output_padding, spatial),
    )
    return op.Squeeze(result, [0]) if is_single else result
