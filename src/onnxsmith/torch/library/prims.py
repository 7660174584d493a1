"""torch's primitives, which its decompositions are made of: operands have one element type, shapes are explicit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import double
from onnxsmith.algorithms.values import Numeric, Size, dtype_of, expand, int64s, rank_of, reshape
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Argument, Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: Operators that have torch's name, but for the capital.
UNARY = {
    f"prims.{name.lower()}.default": name
    for name in (
        *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp"),
        *("Floor", "Log", "Neg", "Reciprocal", "Round", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh"),
    )
}
BINARY = {
    **{f"prims.{name.lower()}.default": name for name in ("Add", "Div", "Mul", "Pow", "Sub")},
    "prims.maximum.default": "Max",
    "prims.minimum.default": "Min",
}
#: The same on truth values.
ON_TRUTH = {"Add": "Or", "Max": "Or", "Mul": "And", "Min": "And"}
COMPARISONS = {
    "prims.eq.default": "Equal",
    "prims.ge.default": "GreaterOrEqual",
    "prims.gt.default": "Greater",
    "prims.le.default": "LessOrEqual",
    "prims.lt.default": "Less",
}
BITWISE = {
    "prims.bitwise_and.default": ("BitwiseAnd", "And"),
    "prims.bitwise_or.default": ("BitwiseOr", "Or"),
    "prims.bitwise_xor.default": ("BitwiseXor", "Xor"),
}
REDUCTIONS = {
    "prims.amax.default": "ReduceMax",
    "prims.amin.default": "ReduceMin",
    "prims.prod.default": "ReduceProd",
    "prims.sum.default": "ReduceSum",
}


@translates(*UNARY)
def unary(call: Call, x: Tensor) -> Translated:
    return getattr(op, UNARY[call.overload])(x)


@translates(*BINARY)
def binary(call: Call, x: Tensor, y: Tensor) -> Translated:
    name = BINARY[call.overload]
    name = ON_TRUTH.get(name, name) if call.dtype is DType.BOOL else name
    return getattr(op, name)(cast(x, call.dtype), cast(y, call.dtype))


def _compared(x: Numeric, y: Numeric) -> DType:
    """The element type of two operands, one of which may be a number."""
    return dtype_of(next(each for each in (x, y) if isinstance(each, Tensor)))


@translates(*COMPARISONS)
def comparison(call: Call, x: Numeric, y: Numeric) -> Translated:
    dtype = _compared(x, y)
    return getattr(op, COMPARISONS[call.overload])(cast(x, dtype), cast(y, dtype))


@translates("prims.ne.default")
def not_equal(call: Call, x: Numeric, y: Numeric) -> Translated:
    dtype = _compared(x, y)
    return ~op.Equal(cast(x, dtype), cast(y, dtype))


@translates(*BITWISE)
def bitwise(call: Call, x: Tensor, y: Tensor) -> Translated:
    on_bits, on_truth = BITWISE[call.overload]
    return getattr(op, on_truth if call.dtype is DType.BOOL else on_bits)(
        cast(x, call.dtype), cast(y, call.dtype)
    )


@translates(*REDUCTIONS)
def reduction(
    call: Call, x: Tensor, dims: Sequence[int] | None, *, output_dtype: torch.dtype | None = None
) -> Translated:
    x = cast(x, call.dtype)
    axes = range(rank_of(x)) if dims is None else dims
    return (
        getattr(op, REDUCTIONS[call.overload])(x, np.array(list(axes), np.int64), keepdims=0)
        if len(axes)
        else x
    )


@translates("prims.rsqrt.default")
def rsqrt(call: Call, x: Tensor) -> Translated:
    return op.Reciprocal(op.Sqrt(x))


@translates("prims.log1p.default")
def log1p(call: Call, x: Tensor) -> Translated:
    return double.log1p(x)


@translates("prims.isfinite.default")
def isfinite(call: Call, x: Tensor) -> Translated:
    return ~(op.IsNaN(x) | op.IsInf(x)) if dtype_of(x).is_float else op.Equal(x, x)


@translates("prims.where.default", lifts=("x", "y"))
def where(call: Call, condition: Numeric, x: Tensor, y: Tensor) -> Translated:
    return op.Where(condition, cast(x, call.dtype), cast(y, call.dtype))


@translates("prims.broadcast_in_dim.default", lifts=True)
def broadcast_in_dim(call: Call, x: Tensor, shape: Sequence[Size], dimensions: Sequence[int]) -> Translated:
    missing = [k for k in range(call.rank) if k not in dimensions]
    return expand(op.Unsqueeze(x, missing) if missing else x, call.output_shape())


@translates(
    *("prims.reshape.default", "prims.collapse_view.default", "prims.split_dim.default"),
    *("prims.squeeze.default", "prims.view_of.default", "prims.collapse.default"),
    lifts=True,
)
def reshaped(call: Call, x: Tensor, *_: Argument) -> Translated:
    return reshape(x, call.output_shape())


@translates("prims.transpose.default", lifts=True)
def transpose(call: Call, x: Tensor, permutation: Sequence[int]) -> Translated:
    return op.Transpose(x, perm=list(permutation)) if len(permutation) else x


@translates("prims.cat.default", lifts=("tensors",))
def cat(call: Call, tensors: Sequence[Tensor], dim: int) -> Translated:
    return tensors[0] if len(tensors) == 1 else op.Concat(*tensors, axis=dim)


@translates("prims.slice.default", lifts=True)
def slice_(
    call: Call,
    x: Tensor,
    starts: Sequence[Size],
    ends: Sequence[Size],
    strides: Sequence[Size] | None = None,
) -> Translated:
    axes = np.arange(len(starts))
    return op.Slice(x, int64s(starts), int64s(ends), axes, int64s(strides or [1] * len(starts)))


@translates("prims.iota.default")
def iota(
    call: Call, length: Size, *, start: Numeric, step: Numeric, dtype: torch.dtype, **_: Argument
) -> Translated:
    counted = op.Range(np.int64(0), cast(length, DType.INT64), np.int64(1))
    return counted * cast(step, DType.INT64) + cast(start, DType.INT64)
