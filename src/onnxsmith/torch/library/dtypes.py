"""torch's element types and ONNX's, one table."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

import torch

from onnxsmith.types.dtypes import DType

#: Element types that an export computes in another: `fallback_dtype`.
SUBSTITUTES: ContextVar[Mapping[torch.dtype, DType]] = ContextVar("SUBSTITUTES", default=MappingProxyType({}))

_BY_TORCH: dict[torch.dtype, DType] = {
    torch.float32: DType.FLOAT,
    torch.float64: DType.DOUBLE,
    torch.float16: DType.FLOAT16,
    torch.bfloat16: DType.BFLOAT16,
    torch.int8: DType.INT8,
    torch.int16: DType.INT16,
    torch.int32: DType.INT32,
    torch.int64: DType.INT64,
    torch.uint8: DType.UINT8,
    torch.uint16: DType.UINT16,
    torch.uint32: DType.UINT32,
    torch.uint64: DType.UINT64,
    torch.bool: DType.BOOL,
    torch.complex64: DType.COMPLEX64,
    torch.complex128: DType.COMPLEX128,
    torch.complex32: DType.COMPLEX64,
    torch.float8_e4m3fn: DType.FLOAT8E4M3FN,
    torch.float8_e4m3fnuz: DType.FLOAT8E4M3FNUZ,
    torch.float8_e5m2: DType.FLOAT8E5M2,
    torch.float8_e5m2fnuz: DType.FLOAT8E5M2FNUZ,
    torch.qint8: DType.INT8,
    torch.quint8: DType.UINT8,
    torch.qint32: DType.INT32,
}
_PARTS: dict[torch.dtype, DType] = {
    torch.complex32: DType.FLOAT16,
    torch.complex64: DType.FLOAT,
    torch.complex128: DType.DOUBLE,
}
_BY_ONNX = {dtype: each for each, dtype in reversed(_BY_TORCH.items())}


def onnx_dtype(dtype: torch.dtype) -> DType:
    """ONNX's element type for torch's; of a complex one, that of its parts."""
    return SUBSTITUTES.get().get(dtype) or _PARTS.get(dtype) or _BY_TORCH[dtype]


def boundary_dtype(dtype: torch.dtype) -> DType:
    """ONNX's element type for torch's at the model's inputs and outputs, which no substitute changes."""
    return _PARTS.get(dtype) or _BY_TORCH[dtype]


def torch_dtype(dtype: DType) -> torch.dtype:
    """torch's element type for ONNX's."""
    return _BY_ONNX[dtype]
