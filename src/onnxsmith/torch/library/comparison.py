"""Comparisons and logic: what gives truth values."""

from __future__ import annotations

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, common
from onnxsmith.types.dtypes import DType

ORDERINGS = {
    "aten.lt.Tensor": "Less",
    "aten.lt.Scalar": "Less",
    "aten.le.Tensor": "LessOrEqual",
    "aten.le.Scalar": "LessOrEqual",
    "aten.gt.Tensor": "Greater",
    "aten.gt.Scalar": "Greater",
    "aten.ge.Tensor": "GreaterOrEqual",
    "aten.ge.Scalar": "GreaterOrEqual",
}


@translates(*ORDERINGS)
def ordering(call: Call, x: Tensor, y: Numeric) -> Translated:
    return cast(getattr(op, ORDERINGS[call.overload])(*common(call, x, y)), call.dtype)


@translates("aten.eq.Tensor", "aten.eq.Scalar")
def equal(call: Call, x: Tensor, y: Numeric) -> Translated:
    return cast(op.Equal(*common(call, x, y)), call.dtype)


@translates("aten.ne.Tensor", "aten.ne.Scalar")
def not_equal(call: Call, x: Tensor, y: Numeric) -> Translated:
    return cast(~op.Equal(*common(call, x, y)), call.dtype)


LOGICAL = {
    "aten.logical_and.default": "And",
    "aten.logical_or.default": "Or",
    "aten.logical_xor.default": "Xor",
}


@translates(*LOGICAL)
def logical(call: Call, x: Tensor, y: Numeric) -> Translated:
    return getattr(op, LOGICAL[call.overload])(cast(x, DType.BOOL), cast(y, DType.BOOL))


@translates("aten.logical_not.default")
def logical_not(call: Call, x: Tensor) -> Translated:
    return op.Not(cast(x, DType.BOOL))
