# pyright: basic
"""Running sums, products and extremes along a dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import axis_of, cast, constant, expand, rank_of
from onnxsmith.types.dtypes import DType


def positions_along(size: Any) -> Any:
    """0, 1, … for the places of a dimension."""
    if isinstance(size, int):
        return constant(np.arange(size))
    return op.Range(np.int64(0), cast(size, DType.INT64), np.int64(1))


def as_column(vector: Any, axis: int, rank: int) -> Any:
    """A vector that stands along an axis of a tensor, to broadcast with it."""
    return op.Reshape(vector, [-1 if k == axis else 1 for k in range(rank)])


def running(
    call: Call, values: Sequence[Any], axis: int, combine: Callable[[Sequence[Any], Sequence[Any]], Any]
) -> list[Any]:
    """What `combine`, an associative function of two lists of tensors, makes of all places up to each.

    Each round combines every place with the one that is `distance` before it, and doubles the distance; so the number
    of rounds is the logarithm of the length, which need not be known.
    """
    size = call.size(values[0], axis)
    length = cast(size, DType.INT64)
    places = positions_along(size)
    column = as_column(places, axis, rank_of(values[0]))

    def body(i: Any, keep: Any, distance: Any, *state: Any) -> Any:
        source = op.Max(op.Sub(places, distance), np.int64(0))
        before = [op.Gather(each, source, axis=axis) for each in state]
        has_before = op.GreaterOrEqual(column, distance)
        both = combine(before, state)
        after = [op.Where(has_before, a, b) for a, b in zip(both, state, strict=True)]
        distance = op.Mul(distance, np.int64(2))
        return op.Less(distance, length), distance, *after

    start = op.Greater(length, np.int64(1)) if not isinstance(size, int) else np.array(size > 1)
    _, *results = op.Loop(None, start, np.int64(1), *values, body=body, outputs=len(values) + 1)
    return results


@translates("aten.cumsum.default")
def cumsum(call: Call, x: Any, dim: int, *, dtype: Any = None) -> Any:
    x = cast(x, call.dtype)
    return op.CumSum(x, np.int64(axis_of(dim, rank_of(x)))) if rank_of(x) else x


@translates("aten.cumprod.default")
def cumprod(call: Call, x: Any, dim: int, *, dtype: Any = None) -> Any:
    x = cast(x, call.dtype)
    if rank_of(x) == 0:
        return x
    axis = axis_of(dim, rank_of(x))
    if op.has("CumProd"):
        return op.CumProd(x, np.int64(axis))
    return running(call, [x], axis, lambda a, b: [op.Mul(a[0], b[0])])[0]


@translates("aten.cummax.default", "aten.cummin.default")
def cumulative_extreme(call: Call, x: Any, dim: int) -> Any:
    """The extreme so far, and where it is: the last place of equals, and of values that are no number."""
    compare = "GreaterOrEqual" if call.overload == "aten.cummax.default" else "LessOrEqual"
    if rank_of(x) == 0:
        return [x, np.int64(0)]
    axis = axis_of(dim, rank_of(x))
    keys = cast(x, DType.UINT8) if x.dtype is DType.BOOL else x
    column = as_column(positions_along(call.size(x, axis)), axis, rank_of(x))

    def combine(before: Sequence[Any], last: Sequence[Any]) -> Any:
        takes_last = getattr(op, compare)(last[0], before[0])
        if x.dtype.is_float:
            stays = op.And(op.IsNaN(before[0]), op.Not(op.IsNaN(last[0])))
            takes_last = op.And(op.Or(takes_last, op.IsNaN(last[0])), op.Not(stays))
        return [op.Where(takes_last, a, b) for a, b in zip(last, before, strict=True)]

    keys, places = running(call, [keys, expand(column, call.shape_of(x))], axis, combine)
    return [cast(keys, x.dtype), places]


def logaddexp(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)); equal infinities stay what they are."""
    largest = op.Max(x, y)
    # Of two equal infinities the difference has no value, and none is needed.
    distance = op.Where(op.Equal(x, y), cast(0, x.dtype), op.Neg(op.Abs(op.Sub(x, y))))
    return op.Add(largest, op.Log(op.Add(op.Exp(distance), cast(1, x.dtype))))


@translates("aten.logcumsumexp.default")
def logcumsumexp(call: Call, x: Any, dim: int) -> Any:
    dtype = call.dtype
    if rank_of(x) == 0:
        return cast(x, dtype)
    x = cast(x, DType.FLOAT if dtype in (DType.FLOAT16, DType.BFLOAT16) else dtype)
    axis = axis_of(dim, rank_of(x))
    return running(call, [x], axis, lambda a, b: [logaddexp(a[0], b[0])])[0]
