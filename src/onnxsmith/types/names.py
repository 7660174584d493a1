"""The names users write in annotations: FLOAT, INT64, STRING and so on, one per element type.

Each is a scalar type; brackets give it a shape.
"""

from __future__ import annotations

from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

FLOAT = TensorType(DType.FLOAT, ())
DOUBLE = TensorType(DType.DOUBLE, ())
FLOAT16 = TensorType(DType.FLOAT16, ())
BFLOAT16 = TensorType(DType.BFLOAT16, ())
FLOAT8E4M3FN = TensorType(DType.FLOAT8E4M3FN, ())
FLOAT8E4M3FNUZ = TensorType(DType.FLOAT8E4M3FNUZ, ())
FLOAT8E5M2 = TensorType(DType.FLOAT8E5M2, ())
FLOAT8E5M2FNUZ = TensorType(DType.FLOAT8E5M2FNUZ, ())
FLOAT8E8M0 = TensorType(DType.FLOAT8E8M0, ())
FLOAT6E2M3 = TensorType(DType.FLOAT6E2M3, ())
FLOAT6E3M2 = TensorType(DType.FLOAT6E3M2, ())
FLOAT4E2M1 = TensorType(DType.FLOAT4E2M1, ())
INT2 = TensorType(DType.INT2, ())
INT4 = TensorType(DType.INT4, ())
INT8 = TensorType(DType.INT8, ())
INT16 = TensorType(DType.INT16, ())
INT32 = TensorType(DType.INT32, ())
INT64 = TensorType(DType.INT64, ())
UINT2 = TensorType(DType.UINT2, ())
UINT4 = TensorType(DType.UINT4, ())
UINT8 = TensorType(DType.UINT8, ())
UINT16 = TensorType(DType.UINT16, ())
UINT32 = TensorType(DType.UINT32, ())
UINT64 = TensorType(DType.UINT64, ())
BOOL = TensorType(DType.BOOL, ())
STRING = TensorType(DType.STRING, ())
COMPLEX64 = TensorType(DType.COMPLEX64, ())
COMPLEX128 = TensorType(DType.COMPLEX128, ())

#: Every name above; `onnxsmith` exports exactly these.
TYPE_NAMES: tuple[str, ...] = tuple(dtype.name for dtype in DType)
