# pyright: basic
"""Sorting, searching in what is sorted, and distinct values."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import (
    axis_of,
    cast,
    common_torch_dtype,
    constant,
    int64s,
    rank_of,
)
from onnxsmith.types.dtypes import DType


def sort_key(x: Any) -> Any:
    """What to sort by: what is no number comes after everything, which ONNX Runtime leaves open.

    The largest number and infinity become equal; their order is kept.
    """
    if not x.dtype.is_float:
        return x
    largest = np.finfo(np.float32 if x.dtype is DType.BFLOAT16 else x.dtype.numpy).max
    return op.Where(op.IsNaN(x), cast(np.inf, x.dtype), op.Min(x, cast(largest, x.dtype)))


def sorted_along(call: Call, x: Any, axis: int, *, descending: bool = False, count: Any = None) -> list[Any]:
    """The values in order, and where they stood; equal ones stay in their order. The first `count` if given."""
    count = call.size(x, axis) if count is None else count
    # ONNX says that of equal values the one with the lower index comes first.
    values, places = op.TopK(sort_key(x), int64s([count]), axis=axis, largest=int(descending))
    return [op.GatherElements(x, places, axis=axis) if x.dtype.is_float else values, places]


@translates("aten.sort.default")
def sort(call: Call, x: Any, dim: int = -1, descending: bool = False) -> Any:
    if rank_of(x) == 0:
        return [x, np.int64(0)]
    return sorted_along(call, x, axis_of(dim, rank_of(x)), descending=descending)


@translates("aten.sort.stable")
def sort_stable(call: Call, x: Any, *, stable: Any = None, dim: int = -1, descending: bool = False) -> Any:
    return sort(call, x, dim, descending)


@translates("aten.argsort.default")
def argsort(call: Call, x: Any, dim: int = -1, descending: bool = False) -> Any:
    return sort(call, x, dim, descending)[1]


@translates("aten.argsort.stable")
def argsort_stable(call: Call, x: Any, *, stable: Any = None, dim: int = -1, descending: bool = False) -> Any:
    return sort(call, x, dim, descending)[1]


@translates("aten.msort.default")
def msort(call: Call, x: Any) -> Any:
    return sort(call, x, 0)[0]


@translates("aten.topk.default")
def topk(call: Call, x: Any, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if rank_of(x) == 0:
        return [x, np.int64(0)]
    axis = axis_of(dim, rank_of(x))
    return list(op.TopK(x, int64s([k]), axis=axis, largest=int(largest), sorted=int(sorted)))


@translates("aten.kthvalue.default")
def kthvalue(call: Call, x: Any, k: Any, dim: int = -1, keepdim: bool = False) -> Any:
    if rank_of(x) == 0:
        return [x, np.int64(0)]
    axis = axis_of(dim, rank_of(x))
    both = sorted_along(call, x, axis, count=k)
    last = [op.Slice(each, [-1], [np.iinfo(np.int64).max], [axis]) for each in both]
    return last if keepdim else [op.Squeeze(each, [axis]) for each in last]


# -- searching -----------------------------------------------------------------------------------------


def search(call: Call, sequence: Any, values: Any, *, right: bool) -> Any:
    """How many of a sorted sequence (along its last dimension) are less than each value, or, `right`, not greater.

    By bisection, in as many rounds as the logarithm of the length.
    """
    if sequence.dtype is DType.BOOL:
        sequence, values = cast(sequence, DType.UINT8), cast(values, DType.UINT8)
    axis = rank_of(sequence) - 1
    length = cast(call.size(sequence, axis), DType.INT64)
    shape = op.Shape(values)
    low = op.Expand(np.int64(0), shape)
    high = op.Expand(length, shape)
    compare = "Greater" if right else "GreaterOrEqual"

    def body(i: Any, keep: Any, remaining: Any, low: Any, high: Any) -> Any:
        middle = op.Div(op.Add(low, high), np.int64(2))
        place = op.Min(middle, op.Sub(length, np.int64(1)))
        found = op.Gather(sequence, place) if axis == 0 else op.GatherElements(sequence, place, axis=axis)
        goes_left = op.Or(getattr(op, compare)(found, values), op.GreaterOrEqual(low, high))
        low = op.Where(goes_left, low, op.Add(middle, np.int64(1)))
        high = op.Where(goes_left, middle, high)
        remaining = op.Div(remaining, np.int64(2))
        return op.Greater(remaining, np.int64(0)), remaining, low, high

    _, low, _ = op.Loop(
        None,
        op.Greater(length if isinstance(length, Value) else constant(length), np.int64(0)),
        length,
        low,
        high,
        body=body,
        outputs=3,
    )
    return low


def _tensor(value: Any, dtype: Any) -> Any:
    value = cast(value, dtype)
    return value if isinstance(value, Value) else constant(value)


@translates("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(
    call: Call,
    sequence: Any,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    dtype = common_torch_dtype(call, (0, 1))
    if sorter is not None:
        sequence = op.GatherElements(sequence, cast(sorter, DType.INT64), axis=rank_of(sequence) - 1)
    return search(call, cast(sequence, dtype), _tensor(values, dtype), right=right or side == "right")


@translates("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def bucketize(
    call: Call, values: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False
) -> Any:
    dtype = common_torch_dtype(call, (0, 1))
    return search(call, cast(boundaries, dtype), _tensor(values, dtype), right=right)


@translates("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar", "aten.isin.Scalar_Tensor")
def isin(call: Call, elements: Any, among: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    dtype = common_torch_dtype(call, (0, 1))
    elements, among = _tensor(elements, dtype), _tensor(among, dtype)
    rank = rank_of(elements)
    is_equal = op.Equal(op.Unsqueeze(elements, [rank]), op.Reshape(among, [-1]))
    # A sum, since the largest of nothing is not zero.
    found = op.Greater(op.ReduceSum(cast(is_equal, DType.INT32), [rank], keepdims=0), np.int32(0))
    return op.Not(found) if invert else found


# -- distinct values -----------------------------------------------------------------------------------


@translates("aten._unique2.default")
def unique(
    call: Call, x: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Any:
    values, _, inverse, counts = op.Unique(op.Reshape(x, [-1]), sorted=1, outputs=4)
    inverse = _shaped_like(call, inverse, x) if return_inverse else None
    return [values, _asked(inverse, return_inverse), _asked(counts, return_counts)]


def _asked(value: Any, is_asked: bool) -> Any:
    """A result, or the empty one that torch gives instead of what nobody asked for."""
    return value if is_asked else np.zeros(0, np.int64)


def _shaped_like(call: Call, inverse: Any, x: Any) -> Any:
    return op.Reshape(inverse, int64s(call.shape_of(x)), allowzero=1)


@translates("aten.unique_dim.default")
def unique_dim(
    call: Call,
    x: Any,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    values, _, inverse, counts = op.Unique(x, axis=axis_of(dim, rank_of(x)), sorted=1, outputs=4)
    return [values, inverse, counts]  # torch gives all three, asked or not


@translates("aten.unique_consecutive.default")
def unique_consecutive(
    call: Call,
    x: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    if dim is not None and call.rank != rank_of(x):
        raise call.refuse("dim=-1, for which torch's own shape of the result is wrong; count from the front")
    rows = op.Reshape(x, [-1]) if dim is None else x
    axis = 0 if dim is None else axis_of(dim, rank_of(x))
    is_new = _differs_from_before(rows, axis)
    values = op.Compress(rows, is_new, axis=axis)
    inverse = op.Sub(op.CumSum(cast(is_new, DType.INT64), np.int64(0)), np.int64(1))
    starts = op.Reshape(op.NonZero(is_new), [-1])
    ends = op.Concat(op.Slice(starts, [1], [np.iinfo(np.int64).max]), op.Shape(is_new), axis=0)
    # Nothing has no starts, but its length is an end.
    ends = op.Slice(ends, [0], op.Shape(starts))
    counts = op.Sub(ends, starts)
    if dim is not None:
        return [values, inverse, counts]  # torch gives all three, asked or not
    inverse = _shaped_like(call, inverse, x)
    return [values, _asked(inverse, return_inverse), _asked(counts, return_counts)]


def _differs_from_before(rows: Any, axis: int) -> Any:
    """For each place along an axis, whether it is the first or other than the one before."""
    last = np.iinfo(np.int64).max
    later, earlier = op.Slice(rows, [1], [last], [axis]), op.Slice(rows, [0], [-1], [axis])
    changes = op.Not(op.Equal(later, earlier))
    others = [k for k in range(rank_of(rows)) if k != axis]
    if others:
        total = op.ReduceSum(cast(changes, DType.INT32), others, keepdims=0)
        changes = op.Greater(total, np.int32(0))
    first = op.Concat(np.ones(1, np.bool_), changes, axis=0)
    return op.Slice(first, [0], op.Shape(rows, start=axis, end=axis + 1))
