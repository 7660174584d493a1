"""Element type conversions: `Cast`, `CastLike`, `BitCast`, and quantisation."""

from __future__ import annotations

import numpy as np

from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.content import as_array, fits, from_array
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, TensorType

_DTYPE_WAS_TEXT_BEFORE = 6


@rule("Cast")
def cast(call: Call) -> Result:
    if call.op.since_version < _DTYPE_WAS_TEXT_BEFORE:
        name = call.string("to", "")
        dtype = DType.__members__.get(name)
    else:
        dtype = call.given_dtype("to")
    return (Known(TensorType(dtype, call.shape(0)), _converted(call.inputs[0], dtype)),)


@rule("CastLike")
def cast_like(call: Call) -> Result:
    dtype = call.dtype(1)
    return (Known(TensorType(dtype, call.shape(0)), _converted(call.inputs[0], dtype)),)


def _converted(known: Known | None, dtype: DType | None) -> Data:
    if known is None or known.data is None or dtype is None:
        return None
    if isinstance(known.data, tuple) and dtype in (DType.INT64, DType.INT32):
        return tuple(_held(each, dtype) for each in known.data)
    if isinstance(known.data, str | int) and dtype in (DType.INT64, DType.INT32):
        return _held(known.data, dtype)
    array = as_array(known)
    if array is None or array.dtype.kind not in "biuf" or not (dtype.is_native and dtype is not DType.STRING):
        return None
    if not fits(array, dtype):
        return None
    with np.errstate(all="ignore"):
        return from_array(array.astype(dtype.numpy))


def _held(entry: Dimension, dtype: DType) -> Dimension:
    """Nothing where a number is beyond the type."""
    end = 1 << (dtype.bits - 1)
    return None if isinstance(entry, int) and not -end <= entry < end else entry


@rule("BitCast")
def bit_cast(call: Call) -> Result:
    dtype, own = call.given_dtype("to"), call.dtype(0)
    if dtype is not None and own is not None and dtype.bits != own.bits:
        raise call.attribute_error(
            "to",
            f"cannot read {own.spelling} as {dtype.spelling}: they have {own.bits} and {dtype.bits} bits",
        )
    return (tensor(dtype, call.shape(0)),)


@rule("QuantizeLinear")
@rule("QuantizeLinear", domain="com.microsoft")
def quantize_linear(call: Call) -> Result:
    if call.input(2) is not None:
        dtype = call.dtype(2)
    else:
        dtype = call.given_dtype("output_dtype") or DType.UINT8
    return (tensor(dtype, call.shape(0)),)


@rule("DequantizeLinear")
@rule("DequantizeLinear", domain="com.microsoft")
def dequantize_linear(call: Call) -> Result:
    is_float = not call.op.domain and call.op.since_version < 19
    dtype = DType.FLOAT if is_float else call.given_dtype("output_dtype") or call.dtype(1)
    return (tensor(dtype, call.shape(0)),)


@rule("DynamicQuantizeLinear")
def dynamic_quantize_linear(call: Call) -> Result:
    return tensor(DType.UINT8, call.shape(0)), tensor(DType.FLOAT, ()), tensor(DType.UINT8, ())
