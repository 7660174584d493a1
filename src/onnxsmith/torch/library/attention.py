"""Scaled dot-product attention."""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import (
    constant,
    dimensions_of,
    dtype_of,
    expand,
    filled,
    int64s,
    rank_of,
    reshape,
)
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dropout import dropped
from onnxsmith.torch.library.kinds import Argument
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import Translated, cast
from onnxsmith.types.dtypes import DType


@translates("aten.scaled_dot_product_attention.default")
def scaled_dot_product_attention(
    call: Call,
    query: TensorValue,
    key: TensorValue,
    value: TensorValue,
    attn_mask: TensorValue | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | Number | None = None,
    enable_gqa: bool = False,
) -> Translated:
    dtype = call.dtype
    if dtype is DType.BFLOAT16 and not dropout_p:
        # torch adds up in single precision, and rounds once. Eight bits for each step are 4 to 14 times further off.
        query, key, value = (cast(each, DType.FLOAT) for each in (query, key, value))
        if attn_mask is not None and dtype_of(attn_mask) is not DType.BOOL:
            attn_mask = cast(attn_mask, DType.FLOAT)
        result = _attended(call, query, key, value, attn_mask, 0.0, is_causal, scale, enable_gqa)
        return cast(result, dtype)
    return _attended(call, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _attended(
    call: Call,
    query: TensorValue,
    key: TensorValue,
    value: TensorValue,
    attn_mask: TensorValue | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | Number | None,
    enable_gqa: bool,
) -> TensorValue:
    """Attention in the element type of the query."""
    dtype = dtype_of(query)
    is_known = scale is None or isinstance(scale, int | float)
    if is_known and not dropout_p and _has_operator(query, key, value, attn_mask, enable_gqa):
        # ONNX Runtime is faster with it than with what it stands for, and rows that are masked altogether are zeros.
        given = () if attn_mask is None else (_whole_mask(call, query, key, attn_mask),)
        options = {} if scale is None else {"scale": float(scale)}
        return op.Attention(query, key, value, *given, is_causal=int(is_causal), outputs=1, **options)
    if enable_gqa:
        key, value = _repeated_heads(call, query, key), _repeated_heads(call, query, value)
    width = call.size(query, -1)
    if scale is None:
        factor = 1 / math.sqrt(width) if isinstance(width, int) else None
        scaled = cast(factor, dtype) if factor is not None else op.Reciprocal(op.Sqrt(cast(width, dtype)))
    else:
        scaled = cast(scale, dtype)
    rank = rank_of(key)
    turned = op.Transpose(key, perm=[*range(rank - 2), rank - 1, rank - 2])
    scores = op.MatMul(op.Mul(query, scaled), turned)
    if is_causal:
        scores = op.Where(_causal(call, query, key), scores, cast(-np.inf, dtype))
    if attn_mask is None:
        return op.MatMul(_thinned(call, op.Softmax(scores, axis=-1), dropout_p), value)
    if dtype_of(attn_mask) is DType.BOOL:
        scores = op.Where(attn_mask, scores, cast(-np.inf, dtype))
    else:
        scores = op.Add(scores, cast(attn_mask, dtype))
    weights = op.Softmax(scores, axis=-1)
    # torch gives zeros for a row that is masked altogether, where a softmax of minus infinities is not a number.
    weights = op.Where(op.IsNaN(weights), cast(0, dtype), weights)
    return op.MatMul(_thinned(call, weights, dropout_p), value)


@translates("higher_order.flex_attention")
def flex_attention(call: Call, *_: Argument, **__: Argument) -> Translated:
    raise call.refuse(
        "its score function, which torch compiles for each element alone; "
        "torch.nn.functional.scaled_dot_product_attention with a mask that is added says the same"
    )


def _thinned(call: Call, weights: TensorValue, dropout_p: float) -> TensorValue:
    return dropped(call, weights, dropout_p)[0] if dropout_p else weights


def _has_operator(
    query: TensorValue, key: TensorValue, value: TensorValue, mask: TensorValue | None, enable_gqa: bool
) -> bool:
    """Whether the opset's `Attention` says the same."""
    # In float16, ONNX Runtime adds up in float16 too, and is further off than what the operator stands for.
    if not op.has("Attention") or dtype_of(query) is not DType.FLOAT:
        return False
    if any(rank_of(each) != 4 for each in (query, key, value)) or (
        mask is not None and rank_of(mask) not in (2, 4)
    ):
        return False
    shapes = [dimensions_of(each) for each in (query, key, value)]
    # What torch broadcasts, the operator does not.
    is_plain = shapes[0][0] == shapes[1][0] == shapes[2][0] and shapes[1][1] == shapes[2][1]
    return is_plain and (enable_gqa or shapes[0][1] == shapes[1][1])


def _whole_mask(call: Call, query: TensorValue, key: TensorValue, mask: TensorValue) -> TensorValue:
    """The mask with all rows and columns, which ONNX Runtime's `Attention` does not broadcast."""
    sizes = [*call.shape_of(mask)[:-2], call.size(query, -2), call.size(key, -2)]
    return expand(mask if dtype_of(mask) is DType.BOOL else cast(mask, dtype_of(query)), sizes)


def _causal(call: Call, query: TensorValue, key: TensorValue) -> TensorValue:
    rows, columns = call.size(query, -2), call.size(key, -2)
    if isinstance(rows, int) and isinstance(columns, int):
        return constant(np.tril(np.ones((rows, columns), np.bool_)))
    ones = filled([rows, columns], 1, DType.FLOAT)
    return cast(op.Trilu(ones, upper=0), DType.BOOL)


def _repeated_heads(call: Call, query: TensorValue, x: TensorValue) -> TensorValue:
    """Keys or values with each head as often as there are queries for it."""
    heads, own = call.size(query, -3), call.size(x, -3)
    if isinstance(heads, int) and isinstance(own, int) and heads == own:
        return x
    sizes = call.shape_of(x)
    times = heads // own
    wide = op.Expand(op.Unsqueeze(x, [-3]), int64s([*sizes[:-2], times, *sizes[-2:]]))
    return reshape(wide, [*sizes[:-3], heads, *sizes[-2:]])
