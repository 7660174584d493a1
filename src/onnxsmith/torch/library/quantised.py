"""Quantising and what undoes it, by ONNX's QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, as_tensor, axis_of, dtype_of, rank_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Argument, Translated
from onnxsmith.torch.library.marks import is_training, with_formula
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: A scale or a zero point: a number, or a tensor of one element.
Parameter: TypeAlias = Tensor | float

_RANGES = {(0, 255): DType.UINT8, (-128, 127): DType.INT8}


def _quantised(
    x: Tensor, scale: Tensor, zero: Tensor, low: int, high: int, dtype: DType, axis: int | None
) -> Tensor:
    """Whole numbers: as QuantizeLinear where its range is asked for, else rounded, clipped and cast."""
    given = {} if axis is None else {"axis": axis}
    if _RANGES.get((low, high)) is dtype:
        return op.QuantizeLinear(x, scale, cast(zero, dtype), **given)
    scale, zero = (_beside(each, x, axis) for each in (scale, zero))
    rounded = op.Round(op.Div(cast(x, DType.FLOAT), scale)) + cast(zero, DType.FLOAT)
    return cast(op.Clip(rounded, np.float32(low), np.float32(high)), dtype)


def _restored(q: Tensor, scale: Tensor, zero: Tensor, axis: int | None) -> Tensor:
    given = {} if axis is None else {"axis": axis}
    if dtype_of(q) in (DType.UINT8, DType.INT8):
        return op.DequantizeLinear(q, scale, cast(zero, dtype_of(q)), **given)
    scale, zero = (_beside(each, q, axis) for each in (scale, zero))
    return op.Mul(cast(op.Sub(cast(q, DType.INT32), cast(zero, DType.INT32)), DType.FLOAT), scale)


def _beside(value: Tensor, x: Tensor, axis: int | None) -> Tensor:
    """A number for each channel, shaped to stand beside the tensor."""
    return value if axis is None else op.Reshape(value, [-1] + [1] * (rank_of(x) - axis - 1))


def _scalar(value: Parameter, dtype: DType) -> Tensor:
    """A parameter, given as a number or as a tensor of one element, as a scalar."""
    made = as_tensor(value, dtype)
    return op.Reshape(made, np.zeros(0, np.int64)) if rank_of(made) else made


@translates(
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed.quantize_per_tensor.tensor2",
)
def quantize_per_tensor(
    call: Call,
    x: Tensor,
    scale: Parameter,
    zero_point: Parameter,
    quant_min: int | Tensor,
    quant_max: int | Tensor,
    dtype: torch.dtype,
) -> Translated:
    if not isinstance(quant_min, int) or not isinstance(quant_max, int):
        raise call.refuse("quantising to a range that is not known")
    scale, zero = _scalar(scale, DType.FLOAT), _scalar(zero_point, DType.INT64)
    return _quantised(cast(x, DType.FLOAT), scale, zero, quant_min, quant_max, onnx_dtype(dtype), None)


@translates(
    "quantized_decomposed.dequantize_per_tensor.default",
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed.dequantize_per_tensor.tensor2",
)
def dequantize_per_tensor(
    call: Call,
    x: Tensor,
    scale: Parameter,
    zero_point: Parameter,
    *_: Argument,
    out_dtype: torch.dtype | None = None,
) -> Translated:
    return _restored(x, _scalar(scale, DType.FLOAT), _scalar(zero_point, DType.INT64), None)


@translates("quantized_decomposed.quantize_per_channel.default")
def quantize_per_channel(
    call: Call,
    x: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> Translated:
    axis = axis_of(axis, rank_of(x))
    scales = cast(scales, DType.FLOAT)
    return _quantised(
        cast(x, DType.FLOAT), scales, zero_points, quant_min, quant_max, onnx_dtype(dtype), axis
    )


@translates("quantized_decomposed.dequantize_per_channel.default")
def dequantize_per_channel(
    call: Call,
    x: Tensor,
    scales: Tensor,
    zero_points: Tensor | None,
    axis: int,
    *_: Argument,
    out_dtype: torch.dtype | None = None,
) -> Translated:
    if zero_points is None:
        zero_points = op.Mul(cast(scales, DType.INT64), np.int64(0))
    return _restored(x, cast(scales, DType.FLOAT), zero_points, axis_of(axis, rank_of(x)))


def _fake(x: Tensor, scale: Tensor, zero: Tensor, low: int, high: int, axis: int | None) -> Tensor:
    """Quantised and restored. A narrower range than a byte's is clipped before, in the numbers it stands for."""
    given = dtype_of(x)
    x = cast(x, DType.FLOAT)
    dtype = DType.UINT8 if low >= 0 else DType.INT8
    bounds = np.iinfo(dtype.numpy)
    if low < bounds.min or high > bounds.max:
        q = _quantised(x, scale, zero, low, high, DType.INT32, axis)
    elif (low, high) == (bounds.min, bounds.max):
        q = _quantised(x, scale, zero, low, high, dtype, axis)
    else:
        q = _quantised(x, scale, zero, bounds.min, bounds.max, dtype, axis)
        q = cast(op.Clip(cast(q, DType.INT32), np.int32(low), np.int32(high)), dtype)
    return cast(_restored(q, scale, zero, axis), given)


def _faked(x: Tensor, scale: Tensor, zero: Tensor, low: int, high: int, axis: int | None) -> Tensor:
    """The same with torch's gradient: that of the identity in the range, 0 outside of it."""
    result = _fake(x, scale, zero, low, high, axis)
    if not is_training():
        return result

    def formula(g: Tensor) -> list[Tensor]:
        steps, offset = (_beside(each, x, axis) for each in (scale, zero))
        q = op.Round(op.Div(cast(x, DType.FLOAT), steps)) + cast(offset, DType.FLOAT)
        is_inside = (q >= np.float32(low)) & (q <= np.float32(high))
        return [op.Where(is_inside, g, 0)]

    return with_formula([result], [x], formula)[0]


@translates(
    "aten.fake_quantize_per_tensor_affine.default", "aten.fake_quantize_per_tensor_affine.tensor_qparams"
)
def fake_quantize_per_tensor(
    call: Call, x: Tensor, scale: Parameter, zero_point: Parameter, quant_min: int, quant_max: int
) -> Translated:
    return _faked(
        x, _scalar(scale, DType.FLOAT), _scalar(zero_point, DType.INT64), quant_min, quant_max, None
    )


@translates("aten.fake_quantize_per_channel_affine.default")
def fake_quantize_per_channel(
    call: Call,
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> Translated:
    zero = op.Round(zero_point) if dtype_of(zero_point).is_float else zero_point
    return _faked(
        x, cast(scale, DType.FLOAT), cast(zero, DType.INT64), quant_min, quant_max, axis_of(axis, rank_of(x))
    )


@translates("aten._int_mm.default")
def int_mm(call: Call, x: Tensor, y: Numeric) -> Translated:
    return op.MatMulInteger(x, y)
