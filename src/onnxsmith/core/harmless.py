"""Calls that may be made whether or not somebody needs them: they cannot fail, and compute single values.

`a and b` computes both where `b` is made of such calls; otherwise `b` goes into a branch. Knows operators by name and
what is known of their inputs; knows no graphs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Elementwise operators that give a result for all inputs.
_NAMES = """
Abs Acos Acosh Add And Asin Asinh Atan Atanh BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CastLike Ceil Clip Constant Cos
Cosh Equal Erf Exp Floor Greater GreaterOrEqual Identity IsInf IsNaN Less LessOrEqual Log Max Min Mul Neg Not Or Pow
Reciprocal Relu Round Sigmoid Sign Sin Sinh Softplus Sqrt Sub Sum Tan Tanh Where Xor
"""
_ELEMENTWISE = frozenset(_NAMES.split())


def is_harmless(op: OperatorDef, inputs: Sequence[Value | None], outputs: Sequence[Known]) -> bool:
    """True if a call may be made where its result is not needed."""
    if op.domain:
        return False
    given = [each.known for each in inputs if each is not None]
    if op.name == "Shape":
        return True
    if op.name == "Gather":
        return _is_size(*given)
    if not all(map(_is_single, outputs)):
        return False
    if op.name in ("Reshape", "Squeeze", "Unsqueeze"):
        return _is_single(given[0])
    if not all(map(_is_single, given)):
        return False
    if op.name in ("Div", "Mod"):
        return _has_quotient(*given)
    if op.name == "Cast":
        return not _is_text(given[0]) and not _is_text(outputs[0])
    return op.name in _ELEMENTWISE


def _is_single(known: Known) -> bool:
    """True if a value has certainly one element."""
    kind = known.type
    return isinstance(kind, TensorType) and kind.shape is not None and all(each == 1 for each in kind.shape)


def _is_text(known: Known) -> bool:
    return isinstance(known.type, TensorType) and known.type.dtype is DType.STRING


def _is_size(sizes: Known, index: Known) -> bool:
    """True if this is a dimension that is there, as `len(x)` and `x.shape[1]` read one."""
    if not isinstance(sizes.data, tuple) or not isinstance(index.data, np.ndarray) or index.data.size != 1:
        return False
    return -len(sizes.data) <= int(index.data.item()) < len(sizes.data)


def _has_quotient(dividend: Known, divisor: Known) -> bool:
    """True if there is a quotient: of floats always, of integers over what is known and not 0."""
    dtype = dividend.type.dtype if isinstance(dividend.type, TensorType) else None
    if dtype is None:
        return False
    return dtype.is_float or (isinstance(divisor.data, np.ndarray) and bool(divisor.data.all()))
