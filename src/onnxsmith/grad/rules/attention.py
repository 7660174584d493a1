"""Attention, in closed form: the operator stays what it is on the way forward, and its weights are computed again.

Computing them takes one product and a softmax, a small part of the layer; keeping them would take the memory of all
pairs of tokens. What is rare (a cache, a cap, results besides the first) goes through ONNX's own definition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from onnxsmith.algorithms.values import Size, int64s, size_of
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.broadcasting import as_type_of, have_same_shape, is_same, summed_to
from onnxsmith.grad.operators import op
from onnxsmith.grad.rules.control_flow import present
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension

_HEADS_FIRST = [0, 2, 1, 3]
#: The attributes that the closed form knows; later opsets have more, as windows that tokens see.
_FOLLOWED = frozenset(
    {"q_num_heads", "kv_num_heads", "scale", "is_causal", "softcap", "qk_matmul_output_mode"}
)


def _is_plain(inputs: Sequence[Value | None], attributes: Mapping[str, object], outputs: int) -> bool:
    """True if it is attention of queries, keys, values and a mask, of known ranks and one element type."""
    if outputs > 1 or len(inputs) < 3 or any(each is not None for each in inputs[4:]):
        return False
    if not attributes.keys() <= _FOLLOWED or attributes.get("softcap"):
        return False
    shapes = [None if each is None else shape_of(each) for each in inputs[:3]]
    ranks = {None if each is None else len(each) for each in shapes}
    if ranks not in ({3}, {4}) or dtype_of(present(inputs[0])) not in (DType.FLOAT, DType.DOUBLE):
        return False
    if ranks == {4} and not all(isinstance(each[1], int) for each in shapes[:2] if each is not None):
        return False
    mask = inputs[3] if len(inputs) > 3 else None
    # Later opsets take masks that are shorter than the keys.
    return mask is None or _are_equal(_size(mask, -1), _size(present(inputs[1]), -2))


def _size(value: Value, axis: int) -> Dimension:
    shape = shape_of(value)
    return shape[axis] if shape else None


def _are_equal(left: Dimension, right: Dimension) -> bool:
    return left is not None and is_same(left, right)


@rule("Attention", only=_is_plain)
def attention(step: Step, g: Tensor) -> Cotangents:
    q, k, v = (_by_head(step, position) for position in range(3))
    heads, groups = _heads(step, 0), _heads(step, 1)
    repeats = heads // groups
    keys, values = _repeated(k, groups, repeats), _repeated(v, groups, repeats)
    width = size_of(q, 3)
    scale = step.attribute("scale")
    factor: Tensor | float
    if isinstance(scale, float):
        factor = scale
    elif isinstance(width, int):
        factor = 1.0 / math.sqrt(width)
    else:
        factor = op.Reciprocal(op.Sqrt(op.Cast(width, to=q.dtype)))
    scaled = q * factor
    weights = _weights(step, op.MatMul(scaled, op.Transpose(keys, perm=[0, 1, 3, 2])))
    g = _split(g, heads) if step.rank() == 3 else g

    def of_scores() -> Tensor:
        by_weight = op.MatMul(g, op.Transpose(values, perm=[0, 1, 3, 2])) * weights
        return by_weight - weights * op.ReduceSum(by_weight, np.array([-1]), keepdims=1)

    needs_scores = any(step.active[each] for each in (0, 1, *([3] if step.has(3) else [])))
    scores = of_scores() if needs_scores else weights

    def joined(position: int, made: Tensor) -> Tensor:
        like = step.input(position)
        if step.rank() == 3:
            made = op.Reshape(
                op.Transpose(made, perm=_HEADS_FIRST), int64s([size_of(like, axis) for axis in range(3)])
            )
        return as_type_of(made, like)

    def of_mask() -> Tensor:
        mask = step.input(3)
        return scores if have_same_shape(scores, mask) else summed_to(scores, mask)

    return (
        lambda: joined(0, op.MatMul(scores, keys) * factor),
        lambda: joined(
            1, _added(op.MatMul(op.Transpose(scores, perm=[0, 1, 3, 2]), scaled), groups, repeats)
        ),
        lambda: joined(2, _added(op.MatMul(op.Transpose(weights, perm=[0, 1, 3, 2]), g), groups, repeats)),
        of_mask,
    )


def _heads(step: Step, position: int) -> int:
    """How many heads queries, keys or values have."""
    if step.rank() == 3:
        return step.integer("q_num_heads" if position == 0 else "kv_num_heads")
    shape = shape_of(step.input(position))
    count = None if shape is None else shape[1]
    assert isinstance(count, int)  # it was asked for before
    return count


def _by_head(step: Step, position: int) -> Tensor:
    x = step.input(position)
    return x if step.rank() == 4 else _split(x, _heads(step, position))


def _split(x: Tensor, heads: int) -> Tensor:
    """(N, L, H · D) as (N, H, L, D)."""
    width = size_of(x, 2)
    sizes: list[Size] = [size_of(x, 0), size_of(x, 1), heads, width // heads]
    return op.Transpose(op.Reshape(x, int64s(sizes)), perm=_HEADS_FIRST)


def _repeated(x: Tensor, heads: int, repeats: int) -> Tensor:
    """Keys or values for each head of the queries: those of a group share one."""
    if repeats == 1:
        return x
    batch, length, width = size_of(x, 0), size_of(x, 2), size_of(x, 3)
    spread = op.Expand(op.Unsqueeze(x, [2]), int64s([batch, heads, repeats, length, width]))
    return op.Reshape(spread, int64s([batch, heads * repeats, length, width]))


def _added(x: Tensor, heads: int, repeats: int) -> Tensor:
    """The way back: the sum over the heads that share one."""
    if repeats == 1:
        return x
    apart = op.Reshape(x, int64s([size_of(x, 0), heads, repeats, size_of(x, 2), size_of(x, 3)]))
    return op.ReduceSum(apart, np.array([2]), keepdims=0)


def _weights(step: Step, scores: Tensor) -> Tensor:
    """The softmax of scores and masks; a row of which nothing is left is zero."""
    mask = step.optional(3)
    is_causal = bool(step.integer("is_causal"))
    if mask is None and not is_causal:
        return op.Softmax(scores, axis=-1)
    if is_causal:
        ones = op.Expand(np.ones((1, 1), np.bool_), int64s([size_of(scores, 2), size_of(scores, 3)]))
        scores = op.Where(op.Trilu(ones, upper=0), scores, -np.inf)
    if mask is not None and dtype_of(mask) is DType.BOOL:
        scores = op.Where(mask, scores, -np.inf)
    elif mask is not None:
        scores = scores + mask
    made = op.Softmax(scores, axis=-1)
    return op.Where(op.IsNaN(made), 0.0, made)
