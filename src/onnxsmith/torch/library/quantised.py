# pyright: basic
"""Quantising and dequantising: what torch's quantisation leaves in a module becomes `QuantizeLinear` and its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import axis_of, cast, int64s, rank_of
from onnxsmith.types.dtypes import DType

#: The element types that `QuantizeLinear` has in every opset, and their ranges.
_EIGHT_BITS = {DType.INT8: (-128, 127), DType.UINT8: (0, 255)}


def _spread(value: Any, x: Any, axis: int | None) -> Any:
    """A number for each channel, so that it broadcasts along the channels' axis."""
    if axis is None:
        return value
    shape = [1] * rank_of(x)
    shape[axis] = -1
    return op.Reshape(value, int64s(shape))


def _quantised(
    x: Any, scale: Any, zero_point: Any, low: int, high: int, dtype: DType, axis: int | None = None
) -> Any:
    scale = cast(scale, DType.FLOAT)
    options = {} if axis is None else {"axis": axis}
    if dtype in _EIGHT_BITS:
        result = op.QuantizeLinear(cast(x, DType.FLOAT), scale, cast(zero_point, dtype), **options)
        return (
            result
            if _EIGHT_BITS[dtype] == (low, high)
            else op.Clip(result, cast(low, dtype), cast(high, dtype))
        )
    steps = op.Round(op.Div(cast(x, DType.FLOAT), _spread(scale, x, axis)))
    shifted = op.Add(steps, _spread(cast(zero_point, DType.FLOAT), x, axis))
    return cast(op.Clip(shifted, np.float32(low), np.float32(high)), dtype)


def _dequantised(x: Any, scale: Any, zero_point: Any, axis: int | None = None) -> Any:
    scale = cast(scale, DType.FLOAT)
    options = {} if axis is None else {"axis": axis}
    if x.dtype in _EIGHT_BITS:
        given = () if zero_point is None else (cast(zero_point, x.dtype),)
        return op.DequantizeLinear(x, scale, *given, **options)
    steps = cast(x, DType.FLOAT)
    if zero_point is not None:
        steps = op.Sub(steps, _spread(cast(zero_point, DType.FLOAT), x, axis))
    return op.Mul(steps, _spread(scale, x, axis))


@translates(
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed.quantize_per_tensor.tensor2",
)
def quantize_per_tensor(
    call: Call, x: Any, scale: Any, zero_point: Any, quant_min: Any, quant_max: Any, dtype: Any
) -> Any:
    if not isinstance(quant_min, int) or not isinstance(quant_max, int):
        raise call.refuse("a range that is a tensor")
    return _quantised(x, _single(scale), _single(zero_point), quant_min, quant_max, onnx_dtype(dtype))


@translates(
    "quantized_decomposed.dequantize_per_tensor.default",
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed.dequantize_per_tensor.tensor2",
)
def dequantize_per_tensor(
    call: Call, x: Any, scale: Any, zero_point: Any, quant_min: Any, quant_max: Any, dtype: Any, **__: Any
) -> Any:
    return _dequantised(x, _single(scale), _single(zero_point))


@translates("quantized_decomposed.quantize_per_channel.default")
def quantize_per_channel(
    call: Call, x: Any, scales: Any, zero_points: Any, axis: int, quant_min: int, quant_max: int, dtype: Any
) -> Any:
    place = axis_of(axis, rank_of(x))
    return _quantised(x, scales, zero_points, quant_min, quant_max, onnx_dtype(dtype), place)


@translates("quantized_decomposed.dequantize_per_channel.default")
def dequantize_per_channel(
    call: Call,
    x: Any,
    scales: Any,
    zero_points: Any,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: Any,
    **__: Any,
) -> Any:
    return _dequantised(x, scales, zero_points, axis_of(axis, rank_of(x)))


def _single(value: Any) -> Any:
    """A scale that is a tensor of one element as a scalar."""
    if hasattr(value, "type") and rank_of(value):
        return op.Reshape(value, np.zeros(0, np.int64))
    return value
