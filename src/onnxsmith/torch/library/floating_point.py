"""Operators on the parts of a floating-point number: sign, exponent, neighbours; and angles of two of them."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import angles, elementary
from onnxsmith.algorithms.operators import Tensor
from onnxsmith.algorithms.special import float_parts
from onnxsmith.algorithms.values import Numeric, as_tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import tensors
from onnxsmith.types.dtypes import DType


@translates("aten.signbit.default", "prims.signbit.default")
def signbit(call: Call, x: Tensor) -> Tensor:
    return float_parts.signbit(x)


@translates("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(call: Call, x: Tensor, y: Numeric) -> Tensor:
    if isinstance(y, bool | int | float):
        size = abs(as_tensor(x, call.dtype))
        return -size if np.signbit(y) else size
    return float_parts.copysign(*tensors(call, x, y))


@translates("aten.fmax.default", "prims.fmax.default")
def fmax(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return elementary.fmax(*tensors(call, x, y))


@translates("aten.fmin.default", "prims.fmin.default")
def fmin(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return elementary.fmin(*tensors(call, x, y))


@translates("aten.atan2.default", "aten.arctan2.default", "prims.atan2.default")
def atan2(call: Call, y: Numeric, x: Numeric) -> Tensor:
    dtype = DType.DOUBLE if call.dtype is DType.DOUBLE else DType.FLOAT
    return angles.atan2(as_tensor(y, dtype), as_tensor(x, dtype))


@translates("aten.hypot.default", "prims.hypot.default")
def hypot(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return angles.hypot(*tensors(call, x, y))


@translates("aten.frexp.Tensor", "prims.frexp.default")
def frexp(call: Call, x: Tensor) -> tuple[Tensor, Tensor]:
    return float_parts.frexp(x)


@translates("aten.nextafter.default", "prims.nextafter.default")
def nextafter(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return float_parts.nextafter(*tensors(call, x, y))
