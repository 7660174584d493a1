"""Scaled dot-product attention, as ONNX's operator where the opset has one that says the same."""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.algorithms.dropout import dropped
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import (
    cast,
    constant,
    converted,
    dimensions_of,
    dtype_of,
    expand,
    filled,
    int64s,
    like,
    rank_of,
    reshape,
    size_of,
    sizes_of,
    transposed,
)
from onnxsmith.core.semantics.number import Number
from onnxsmith.types.dtypes import DType


@algorithm(by_size=True)
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    dropout: float = 0.0,
    is_causal: bool = False,
    scale: float | Number | None = None,
    is_grouped: bool = False,
) -> Tensor:
    """Values weighted by how queries go with their keys: (…, head, place, feature).

    A mask says where there is attention at all, or is added. A row that is masked altogether gives zeros. `is_grouped`
    where keys and values have fewer heads than queries.
    """
    is_known = not isinstance(scale, Number)
    if is_known and not dropout and _has_operator(query, key, value, mask, is_grouped):
        # ONNX Runtime is faster with it than with what it stands for, and rows that are masked altogether are zeros.
        given = () if mask is None else (_whole_mask(query, key, mask),)
        options = {} if scale is None else {"scale": float(scale)}
        return op.Attention(query, key, value, *given, is_causal=int(is_causal), outputs=1, **options)
    if is_grouped:
        key, value = _repeated_heads(query, key), _repeated_heads(query, value)
    scores = _scores(query, key, mask, is_causal=is_causal, scale=scale)
    if mask is None:
        return op.MatMul(_thinned(op.Softmax(scores, axis=-1), dropout), value)
    weights = op.Softmax(scores, axis=-1)
    # A softmax of minus infinities is not a number.
    weights = op.Where(op.IsNaN(weights), 0, weights)
    return op.MatMul(_thinned(weights, dropout), value)


def _scores(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    *,
    is_causal: bool,
    scale: float | Number | None,
) -> Tensor:
    """How queries go with keys, minus infinity where there is no attention."""
    scores = op.MatMul(query * _scale(query, scale), transposed(key))
    if is_causal:
        scores = op.Where(_causal(query, key), scores, like(-np.inf, query))
    if mask is None:
        return scores
    if dtype_of(mask) is DType.BOOL:
        return op.Where(mask, scores, like(-np.inf, query))
    return scores + converted(mask, dtype_of(query))


@algorithm(by_size=True)
def logarithms_of_weights(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None = None,
    *,
    is_causal: bool = False,
    scale: float | Number | None = None,
) -> Tensor:
    """The logarithm of the sum of all weights of each query, before they are divided by it."""
    scores = _scores(query, key, mask, is_causal=is_causal, scale=scale)
    largest = op.ReduceMax(scores, np.array([-1]), keepdims=1)
    total = op.ReduceSum(op.Exp(scores - largest), np.array([-1]), keepdims=0)
    return op.Log(total) + op.Squeeze(largest, [-1])


def _scale(query: Tensor, scale: float | Number | None) -> TensorOrArray:
    if scale is not None:
        return cast(scale, dtype_of(query))
    width = size_of(query, rank_of(query) - 1)
    if isinstance(width, int):
        return like(1 / math.sqrt(width), query)
    return op.Reciprocal(op.Sqrt(cast(width, dtype_of(query))))


def _thinned(weights: Tensor, dropout: float) -> Tensor:
    return dropped(weights, dropout)[0] if dropout else weights


def _has_operator(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_grouped: bool) -> bool:
    """True if the opset's `Attention` says the same."""
    # In float16, ONNX Runtime adds up in float16 too, and is further off than what the operator stands for.
    if not op.has("Attention") or dtype_of(query) is not DType.FLOAT:
        return False
    if any(rank_of(each) != 4 for each in (query, key, value)) or (
        mask is not None and rank_of(mask) not in (2, 4)
    ):
        return False
    shapes = [dimensions_of(each) for each in (query, key, value)]
    # What is broadcast here, the operator does not.
    is_plain = shapes[0][0] == shapes[1][0] == shapes[2][0] and shapes[1][1] == shapes[2][1]
    return is_plain and (is_grouped or shapes[0][1] == shapes[1][1])


def _whole_mask(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """The mask with all rows and columns, which ONNX Runtime's `Attention` does not broadcast."""
    sizes = [*sizes_of(mask)[:-2], size_of(query, rank_of(query) - 2), size_of(key, rank_of(key) - 2)]
    return expand(mask if dtype_of(mask) is DType.BOOL else converted(mask, dtype_of(query)), sizes)


def _causal(query: Tensor, key: Tensor) -> Tensor:
    """Where a place looks at itself and those before it."""
    rows, columns = size_of(query, rank_of(query) - 2), size_of(key, rank_of(key) - 2)
    if isinstance(rows, int) and isinstance(columns, int):
        return constant(np.tril(np.ones((rows, columns), np.bool_)))
    ones = filled([rows, columns], 1, DType.FLOAT)
    return converted(op.Trilu(ones, upper=0), DType.BOOL)


def _repeated_heads(query: Tensor, x: Tensor) -> Tensor:
    """Keys or values with each head as often as there are queries for it."""
    heads, own = size_of(query, rank_of(query) - 3), size_of(x, rank_of(x) - 3)
    if isinstance(heads, int) and isinstance(own, int) and heads == own:
        return x
    sizes = sizes_of(x)
    times = heads // own
    wide = op.Expand(op.Unsqueeze(x, [-3]), int64s([*sizes[:-2], times, *sizes[-2:]]))
    return reshape(wide, [*sizes[:-3], heads, *sizes[-2:]])
