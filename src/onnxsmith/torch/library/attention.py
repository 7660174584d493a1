# pyright: basic
"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant, filled, int64s, rank_of, reshape
from onnxsmith.types.dtypes import DType


@translates("aten.scaled_dot_product_attention.default")
def scaled_dot_product_attention(
    call: Call,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    if dropout_p:
        raise call.refuse("attention with dropout")
    dtype = call.dtype
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
        return op.MatMul(op.Softmax(scores, axis=-1), value)
    if attn_mask.dtype is DType.BOOL:
        scores = op.Where(attn_mask, scores, cast(-np.inf, dtype))
    else:
        scores = op.Add(scores, cast(attn_mask, dtype))
    weights = op.Softmax(scores, axis=-1)
    # torch gives zeros for a row that is masked altogether, where a softmax of minus infinities is not a number.
    weights = op.Where(op.IsNaN(weights), cast(0, dtype), weights)
    return op.MatMul(weights, value)


def _causal(call: Call, query: Any, key: Any) -> Any:
    rows, columns = call.size(query, -2), call.size(key, -2)
    if isinstance(rows, int) and isinstance(columns, int):
        return constant(np.tril(np.ones((rows, columns), np.bool_)))
    ones = filled([rows, columns], 1, DType.FLOAT)
    return cast(op.Trilu(ones, upper=0), DType.BOOL)


def _repeated_heads(call: Call, query: Any, x: Any) -> Any:
    """Keys or values with each head as often as there are queries for it."""
    heads, own = call.size(query, -3), call.size(x, -3)
    if isinstance(heads, int) and isinstance(own, int) and heads == own:
        return x
    sizes = call.shape_of(x)
    times = heads // own
    wide = op.Expand(op.Unsqueeze(x, [-3]), int64s([*sizes[:-2], times, *sizes[-2:]]))
    return reshape(wide, [*sizes[:-3], heads, *sizes[-2:]])
