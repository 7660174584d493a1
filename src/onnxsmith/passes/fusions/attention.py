"""Attention that models spell out: queries, keys and values, with heads that are parted before and joined behind.

By hand, and not as rules: scale, mask and heads stand in many places, each of which may be left out, and most of what
decides is sizes. As patterns these would be dozens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.agreement import EXACT, compare
from onnxsmith.passes.cleanup.sizes import shape_of
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.fusions.expressions import both_ways, product_of
from onnxsmith.passes.values import (
    dimensions,
    int_attribute,
    ints_attribute,
    made_by,
    only_for,
    rank,
)

#: Where `Attention` is.
_VERSION = 23
_HEADS_FIRST = (0, 2, 1, 3)
_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16)


@dataclass(frozen=True, slots=True)
class _Scores:
    """Queries times keys, of which the latter are turned on their side, times a number, plus a mask."""

    query: ir.Value
    turned_key: ir.Value
    scale: float
    mask: ir.Value | None


def attention(at: Attempt) -> Outcome:
    """`softmax(scale * q @ k.T + mask) @ v`."""
    if at.version < _VERSION or rank(at.node.outputs[0]) != 4:
        return None
    scores = _scores(at.edit, _softmaxed(at.edit, at.input(0)))
    value = at.input(1)
    if scores is None or value is None or rank(value) != 4 or value.dtype not in _FLOATS:
        return None
    if not _fit_together(scores, value) or not _is_mask(scores, value):
        return None
    key = _turned_back(at, scores.turned_key)
    if key is None:
        return None
    width = (dimensions(scores.query) or (None,))[-1]
    is_usual = isinstance(width, int) and width > 0 and _are_close(scores.scale, width**-0.5)
    return at.op(
        "Attention", scores.query, key, value, scores.mask, scale=None if is_usual else float(scores.scale)
    )


def _are_close(scale: float, usual: float) -> bool:
    """True if a factor is the usual one, however it was computed."""
    return compare(np.float32(usual), np.float32(scale), EXACT) is None


def _softmaxed(edit: Editor, value: ir.Value | None) -> ir.Value | None:
    """The input of a softmax over the last dimension; a row with only masked elements may give zeros."""
    chosen = only_for(value, "Where")
    if chosen is not None:
        test, zero, value = chosen.inputs
        asked = only_for(test, "IsNaN")
        if asked is None or asked.inputs[0] is not value or edit.number_beside(zero, value) != 0:
            return None
        node = made_by(value, "Softmax")
    else:
        node = only_for(value, "Softmax")
    if node is None or node.inputs[0] is None:
        return None
    return node.inputs[0] if int_attribute(node, "axis", -1) in (-1, 3) else None


def _scores(edit: Editor, value: ir.Value | None) -> _Scores | None:
    total = only_for(value, "Add")
    if total is None:
        return _scaled(edit, value, None)
    for product, mask in both_ways(total):
        found = _scaled(edit, product, mask)
        if found is not None:
            return found
    return None


def _scaled(edit: Editor, value: ir.Value | None, mask: ir.Value | None) -> _Scores | None:
    whole = product_of(edit, value)
    if len(whole.factors) != 1:
        return None
    node = only_for(whole.factors[0], "MatMul")
    if node is None:
        return None
    query, key = (product_of(edit, each) for each in node.inputs)
    if len(query.factors) != 1 or len(key.factors) != 1:
        return None
    first, second = query.factors[0], key.factors[0]
    if rank(first) != 4 or rank(second) != 4 or first.dtype not in _FLOATS:
        return None
    scale = whole.number * query.number * key.number
    return _Scores(first, second, scale, mask) if scale > 0 else None


def _turned_back(at: Attempt, value: ir.Value) -> ir.Value | None:
    """The keys, heads first, whose last two dimensions were swapped."""
    node = made_by(value, "Transpose")
    order = None if node is None else ints_attribute(node, "perm")
    if node is None or node.inputs[0] is None or order is None:
        return None
    if order == (0, 1, 3, 2):
        return node.inputs[0]
    if order == (0, 2, 3, 1):
        return at.op("Transpose", node.inputs[0], perm=list(_HEADS_FIRST))
    return None


def _fit_together(scores: _Scores, value: ir.Value) -> bool:
    """True if batches and heads are the same throughout: a product would repeat them, and `Attention` does not."""
    query, key, third = (dimensions(each) for each in (scores.query, scores.turned_key, value))
    if query is None or key is None or third is None or None in query[:2]:
        return False
    is_same = query[:2] == key[:2] == third[:2] and key[3] is not None and key[3] == third[2]
    return is_same and isinstance(query[1], int) and query[1] > 0


def _is_mask(scores: _Scores, value: ir.Value) -> bool:
    """True if the mask is one that `Attention` takes: of the queries' type, for queries and keys."""
    mask = scores.mask
    if mask is None:
        return True
    shape, query, key = dimensions(mask), dimensions(scores.query), dimensions(scores.turned_key)
    if (
        shape is None
        or query is None
        or key is None
        or mask.dtype != scores.query.dtype
        or value.dtype != mask.dtype
    ):
        return False
    if len(shape) not in (2, 4) or shape[-1] is None or shape[-1] != key[-1]:
        return False
    # ONNX Runtime repeats a mask over batches and heads, and not over queries.
    if shape[-2] is None or shape[-2] != query[2]:
        return False
    outer = zip(shape[:-2], query[:2], strict=False)
    return all(size == 1 or (size is not None and size == whole) for size, whole in outer)


def masked_by_choice(at: Attempt) -> Outcome:
    """`Attention` with a mask that is 0 where something holds and minus infinity elsewhere: the condition itself."""
    mask = at.input(3)
    chosen = made_by(mask, "Where")
    if chosen is None or at.node.domain or at.version < _VERSION or chosen.inputs[0] is None:
        return None
    zero, low = at.edit.number(chosen.inputs[1]), at.edit.number(chosen.inputs[2])
    if zero != 0 or low is None or low > -1e30 or rank(chosen.inputs[0]) != rank(mask):
        return None
    if dimensions(chosen.inputs[0]) != dimensions(mask):
        return None
    inputs = list(at.node.inputs)
    inputs[3] = chosen.inputs[0]
    if len(at.node.outputs) != 1 or low != -math.inf:
        return None
    return at.op("Attention", *inputs, attributes=at.node.attributes)


def grouped_attention(at: Attempt) -> Outcome:
    """`Attention` on keys and values that were repeated for groups of queries: it repeats them itself."""
    if len(at.node.outputs) != 1 or len(at.node.inputs) < 3:
        return None
    key, value = (_before_repetition(at.edit, each) for each in at.node.inputs[1:3])
    heads = (dimensions(key) or (None, None))[1], (dimensions(value) or (None, None))[1]
    if key is None or value is None or heads[0] is None or heads[0] != heads[1]:
        return None
    return at.op("Attention", at.input(0), key, value, *at.node.inputs[3:], attributes=at.node.attributes)


def _before_repetition(edit: Editor, value: ir.Value | None) -> ir.Value | None:
    joined = made_by(value, "Reshape")
    wide = made_by(joined.inputs[0], "Expand") if joined is not None else None
    spread = made_by(wide.inputs[0], "Unsqueeze") if wide is not None else None
    if (
        joined is None
        or wide is None
        or spread is None
        or edit.numbers(spread.inputs[1]) not in ((2,), (-3,))
    ):
        return None
    source = spread.inputs[0]
    before, middle, result = dimensions(source), dimensions(wide.outputs[0]), dimensions(joined.outputs[0])
    if before is None or middle is None or result is None or len(before) != 4 or len(middle) != 5:
        return None
    if None in (*before, *middle, *result) or len(result) != 4:
        return None
    heads, times, total = before[1], middle[2], result[1]
    if not (isinstance(heads, int) and isinstance(times, int) and isinstance(total, int)):
        return None
    is_repeated = before == (*middle[:2], *middle[3:])
    is_joined = result == (before[0], heads * times, *before[2:])
    return source if is_repeated and is_joined else None


def flat_attention(at: Attempt) -> Outcome:
    """`Attention` on heads that were parted before and are joined behind: it parts and joins them itself."""
    turning = only_for(at.input(0), "Transpose")
    core = only_for(turning.inputs[0], "Attention") if turning is not None else None
    if turning is None or core is None or ints_attribute(turning, "perm") != _HEADS_FIRST:
        return None
    if len(core.inputs) > 4 or len(core.outputs) != 1 or "q_num_heads" in core.attributes:
        return None
    flat = [flat_heads(each) for each in core.inputs[:3]]
    shapes = [dimensions(each) for each in core.inputs[:3]]
    joined = dimensions(at.node.outputs[0])
    values = [each[0] for each in flat if each is not None]
    query, key, value = shapes
    if (
        len(values) != 3
        or joined is None
        or len(joined) != 3
        or query is None
        or key is None
        or value is None
    ):
        return None
    heads, key_heads, width = query[1], key[1], value[3]
    if not (isinstance(heads, int) and isinstance(key_heads, int) and isinstance(width, int)):
        return None
    if joined != (query[0], query[2], heads * width) or None in joined or key[1] != value[1]:
        return None
    return at.op(
        "Attention",
        *values,
        *core.inputs[3:],
        attributes=core.attributes,
        q_num_heads=heads,
        kv_num_heads=key_heads,
    )


def flat_heads(value: ir.Value | None) -> tuple[ir.Value, ir.Node, ir.Node] | None:
    """The tensor whose last dimension was parted into heads, which then came to the front; and the nodes of both."""
    turning = made_by(value, "Transpose")
    parting = made_by(turning.inputs[0], "Reshape") if turning is not None else None
    if turning is None or parting is None or ints_attribute(turning, "perm") != _HEADS_FIRST:
        return None
    source = parting.inputs[0]
    before, after = shape_of(source), dimensions(parting.outputs[0])
    if source is None or before is None or after is None or len(before) != 3 or len(after) != 4:
        return None
    if None in after[:2] or before[:2] != after[:2]:
        return None
    heads, width = after[2:]
    is_parted = isinstance(heads, int) and isinstance(width, int) and before[2] == heads * width
    return (source, parting, turning) if is_parted else None


ATTENTION = {
    "MatMul": [attention],
    "Attention": [masked_by_choice, grouped_attention],
    "Reshape": [flat_attention],
}
