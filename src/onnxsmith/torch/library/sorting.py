"""Sorting, searching in what is sorted, and distinct values."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import distinct, searching, sorting
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.distinct import Groups, shaped_like
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, Size, as_tensor, axis_of, converted, flat, rank_of
from onnxsmith.core.value import Array
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Results
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import common_torch_dtype
from onnxsmith.types.dtypes import DType


def alone(x: Tensor) -> Results:
    """A scalar, which is its own sorted values, extreme or median, and its place."""
    return [x, np.int64(0)]


@translates("aten.sort.default", "aten.sort.stable", by_name=True)
def sort(
    call: Call, x: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = None
) -> Results:
    if rank_of(x) == 0:
        return alone(x)
    return sorting.sort(x, axis_of(dim, rank_of(x)), descending=descending)


@translates("aten.argsort.default", "aten.argsort.stable", by_name=True)
def argsort(
    call: Call, x: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = None
) -> Tensor | np.generic:
    return sort(call, x, dim, descending)[1]


@translates("aten.msort.default")
def msort(call: Call, x: Tensor) -> Tensor | np.generic:
    return sort(call, x, 0)[0]


@translates("aten.topk.default")
def topk(call: Call, x: Tensor, k: Size, dim: int = -1, largest: bool = True, sorted: bool = True) -> Results:
    if rank_of(x) == 0:
        return alone(x)
    return sorting.topk(x, k, axis_of(dim, rank_of(x)), largest=largest, is_sorted=sorted)


@translates("aten.kthvalue.default")
def kthvalue(call: Call, x: Tensor, k: Size, dim: int = -1, keepdim: bool = False) -> Results:
    if rank_of(x) == 0:
        return alone(x)
    axis = axis_of(dim, rank_of(x))
    last = sorting.kth_value(x, k, axis)
    return last if keepdim else [op.Squeeze(each, [axis]) for each in last]


# -- searching -----------------------------------------------------------------------------------------


@translates("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(
    call: Call,
    sequence: Tensor,
    values: Numeric,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    dtype = onnx_dtype(common_torch_dtype(call, (0, 1)))
    if sorter is not None:
        sequence = op.GatherElements(sequence, converted(sorter, DType.INT64), axis=rank_of(sequence) - 1)
    return searching.search_sorted(
        converted(sequence, dtype), as_tensor(values, dtype), right=right or side == "right"
    )


@translates("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def bucketize(
    call: Call, values: Numeric, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    dtype = onnx_dtype(common_torch_dtype(call, (0, 1)))
    return searching.search_sorted(converted(boundaries, dtype), as_tensor(values, dtype), right=right)


@translates("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar", "aten.isin.Scalar_Tensor")
def isin(
    call: Call, elements: Numeric, among: Numeric, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    dtype = onnx_dtype(common_torch_dtype(call, (0, 1)))
    found = searching.is_in(Field(as_tensor(elements, dtype)), Field(flat(as_tensor(among, dtype))))
    return ~found if invert else found


# -- distinct values -----------------------------------------------------------------------------------


@translates("aten._unique2.default")
def unique(
    call: Call,
    x: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> list[Tensor | Array]:
    return _asked(distinct.distinct(Field(flat(x)), equal_nan=False), x, return_inverse, return_counts)


def _asked(found: Groups, x: Tensor, inverse: bool, counts: bool) -> list[Tensor | Array]:
    """Results, or the empty ones that torch gives instead of what nobody asked for."""
    nothing = np.zeros(0, np.int64)
    return [
        found.values.re,
        shaped_like(found.inverse, x) if inverse else nothing,
        found.counts if counts else nothing,
    ]


@translates("aten.unique_dim.default")
def unique_dim(
    call: Call,
    x: Tensor,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> list[Tensor]:
    found = distinct.distinct_slices(Field(x), axis_of(dim, rank_of(x)))
    return [found.values.re, found.inverse, found.counts]  # torch gives all three, asked or not


@translates("aten.unique_consecutive.default")
def unique_consecutive(
    call: Call,
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> list[Tensor] | list[Tensor | Array]:
    if dim is None:
        return _asked(distinct.runs(x), x, return_inverse, return_counts)
    if call.rank != rank_of(x):
        raise call.refuse("dim=-1, for which torch's own shape of the result is wrong; count from the front")
    found = distinct.runs(x, axis_of(dim, rank_of(x)))
    return [found.values.re, found.inverse, found.counts]  # torch gives all three, asked or not
