# pyright: basic
"""Medians, quantiles, modes and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.cumulative import as_column, positions_along, running
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.sorting import search, sorted_along
from onnxsmith.torch.library.values import axis_of, cast, constant, filled, int64s, rank_of
from onnxsmith.types.dtypes import DType


def _flat(x: Any) -> Any:
    return op.Reshape(x, [-1])


def _settled(results: list[Any], axis: int, keepdim: bool) -> list[Any]:
    """Results whose axis has one place, with or without it."""
    return results if keepdim else [op.Squeeze(each, [axis]) for each in results]


# -- medians -------------------------------------------------------------------------------------------


def _median(call: Call, x: Any, axis: int, *, ignores_nan: bool) -> list[Any]:
    """The median along an axis, the lower one of two, and where it stands; the axis is kept."""
    values, places = sorted_along(call, x, axis)
    is_nan = op.IsNaN(x) if x.dtype.is_float else None
    size = call.size(x, axis)
    middle = cast((size - 1) // 2, DType.INT64)
    if is_nan is None:
        at = int64s([(size - 1) // 2])
        return [op.Gather(each, at, axis=axis) for each in (values, places)]
    holes = op.ReduceSum(cast(is_nan, DType.INT64), [axis], keepdims=1)
    if ignores_nan:
        last = op.Sub(op.Sub(cast(size, DType.INT64), holes), np.int64(1))
        at = op.Div(op.Max(last, np.int64(0)), np.int64(2))
        return [op.GatherElements(each, at, axis=axis) for each in (values, places)]
    # What is no number stands at the end, in order; the first of it is the median of all.
    first_hole = op.Sub(cast(size, DType.INT64), holes)
    at = op.Where(op.Greater(holes, np.int64(0)), first_hole, middle)
    return [op.GatherElements(each, at, axis=axis) for each in (values, places)]


@translates("aten.median.default", "aten.nanmedian.default")
def median(call: Call, x: Any) -> Any:
    ignores_nan = call.overload == "aten.nanmedian.default"
    if call.sizes is not None and 0 in [each for each in call.shape_of(x) if isinstance(each, int)]:
        return np.nan if x.dtype.is_float else np.iinfo(x.dtype.numpy).min
    return op.Squeeze(_median(call, _flat(x), 0, ignores_nan=ignores_nan)[0], [0])


@translates("aten.median.dim", "aten.nanmedian.dim")
def median_dim(call: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
    if rank_of(x) == 0:
        return [x, np.int64(0)]
    axis = axis_of(dim, rank_of(x))
    both = _median(call, x, axis, ignores_nan=call.overload == "aten.nanmedian.dim")
    return _settled(both, axis, keepdim)


# -- mode ----------------------------------------------------------------------------------------------


@translates("aten.mode.default")
def mode(call: Call, x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value, the least of several, and its last place."""
    if rank_of(x) == 0:
        return [x, np.int64(0)]
    axis = axis_of(dim, rank_of(x))
    values, places = sorted_along(call, x, axis)
    size = call.size(x, axis)
    indices = positions_along(size)
    column = as_column(indices, axis, rank_of(x))
    before = op.Gather(values, op.Max(op.Sub(indices, np.int64(1)), np.int64(0)), axis=axis)
    is_start = op.Or(op.Not(op.Equal(values, before)), op.Equal(column, np.int64(0)))
    starts = op.Where(is_start, column, np.int64(0))
    starts = running(call, [starts], axis, lambda a, b: [op.Max(a[0], b[0])])[0]
    at = op.ArgMax(op.Sub(column, starts), axis=axis, keepdims=1)  # the first of the longest runs ends there
    both = [op.GatherElements(each, at, axis=axis) for each in (values, places)]
    return _settled(both, axis, keepdim)


# -- quantiles -----------------------------------------------------------------------------------------


@translates("aten.quantile.default", "aten.nanquantile.default")
def quantile(
    call: Call,
    x: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Any:
    return _quantile(call, x, q, dim, keepdim, interpolation, call.overload.startswith("aten.nanquantile"))


@translates("aten.quantile.scalar", "aten.nanquantile.scalar")
def quantile_scalar(
    call: Call,
    x: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Any:
    q = cast(q, x.dtype)
    q = q if isinstance(q, Value) else constant(q)
    return _quantile(call, x, q, dim, keepdim, interpolation, call.overload.startswith("aten.nanquantile"))


def _quantile(
    call: Call, x: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignores_nan: bool
) -> Any:
    rank, dtype = rank_of(x), x.dtype
    rows = _flat(x) if dim is None or rank == 0 else _with_last(x, axis_of(dim, rank))
    axis = rank_of(rows) - 1
    values = sorted_along(call, rows, axis)[0]
    ranks = _ranks(call, rows, axis, _flat(q), ignores_nan)  # [..., how many]
    rounding = {"lower": "Floor", "higher": "Ceil", "nearest": "Round"}.get(interpolation)
    if rounding is not None:
        ranks = getattr(op, rounding)(ranks)
    below = op.Floor(ranks)
    result = op.GatherElements(values, cast(below, DType.INT64), axis=axis)
    if rounding is None:
        above = op.GatherElements(values, cast(op.Ceil(ranks), DType.INT64), axis=axis)
        weight = cast(0.5, dtype) if interpolation == "midpoint" else op.Sub(ranks, below)
        result = _between(result, above, weight)
    return _placed(call, result, q, dim, rank, keepdim)


def _with_last(x: Any, axis: int) -> Any:
    """A tensor with an axis moved to the end."""
    rank = rank_of(x)
    order = [k for k in range(rank) if k != axis] + [axis]
    return x if axis == rank - 1 else op.Transpose(x, perm=order)


def _ranks(call: Call, rows: Any, axis: int, q: Any, ignores_nan: bool) -> Any:
    """Where each quantile stands among the sorted values of each row: between places, too."""
    dtype = rows.dtype
    size = cast(call.size(rows, axis), DType.INT64)
    holes = op.ReduceSum(cast(op.IsNaN(rows), DType.INT64), [axis], keepdims=1)
    if ignores_nan:
        last = op.Sub(op.Sub(size, holes), np.int64(1))
        return op.Max(op.Mul(cast(last, dtype), q), cast(0, dtype))
    last = cast(op.Sub(size, np.int64(1)) if isinstance(size, Value) else size - 1, dtype)
    # One value that is no number makes all quantiles so: it stands last.
    return op.Where(op.Greater(holes, np.int64(0)), last, op.Mul(q, last))


def _between(low: Any, high: Any, weight: Any) -> Any:
    """low + weight (high - low), from the nearer end."""
    dtype = low.dtype
    step = op.Sub(high, low)
    from_low = op.Add(low, op.Mul(weight, step))
    from_high = op.Sub(high, op.Mul(step, op.Sub(cast(1, dtype), weight)))
    return op.Where(op.Less(weight, cast(0.5, dtype)), from_low, from_high)


def _placed(call: Call, result: Any, q: Any, dim: int | None, rank: int, keepdim: bool) -> Any:
    """Quantiles, which stand last, moved to the front, or dropped for a single one."""
    last = rank_of(result) - 1
    if rank_of(q) == 0:
        result, start = op.Squeeze(result, [last]), 0
    else:
        result = op.Transpose(result, perm=[last, *range(last)]) if last else result
        start = 1
    if keepdim and rank:
        axes = range(rank) if dim is None else [axis_of(dim, rank)]
        result = op.Unsqueeze(result, [start + each for each in axes])
    return result


# -- histograms ----------------------------------------------------------------------------------------


@translates("aten.bincount.default")
def bincount(call: Call, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    x = cast(x, DType.INT64)
    most = op.ReduceMax(op.Concat(x, np.array([-1]), axis=0), keepdims=0)
    length = op.Max(op.Add(most, np.int64(1)), cast(minlength, DType.INT64))
    zeros = op.Expand(cast(0, call.dtype), op.Reshape(length, [1]))
    ones = filled(call.shape_of(x), 1, call.dtype) if weights is None else cast(weights, call.dtype)
    return op.ScatterElements(zeros, x, ones, axis=0, reduction="add")


def _ends(call: Call, x: Any, low: Any, high: Any, margin: float) -> tuple[Any, Any]:
    """The ends of the bins: those given, or the data's extremes, and something around a single value."""
    dtype = x.dtype
    if low is None:
        is_empty = any(isinstance(each, int) and each == 0 for each in call.shape_of(x))
        flat = constant(np.zeros(1, dtype.numpy)) if is_empty else _flat(x)
        low, high = op.ReduceMin(flat, [0], keepdims=0), op.ReduceMax(flat, [0], keepdims=0)
    elif low != high:
        return constant(cast(low, dtype)), constant(cast(high, dtype))
    else:
        low, high = constant(cast(low, dtype)), constant(cast(high, dtype))
    is_point = op.Equal(low, high)
    step = op.Where(is_point, cast(margin, dtype), cast(0, dtype))
    return op.Sub(low, step), op.Add(high, step)


@translates("aten.histc.default")
def histc(call: Call, x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    dtype = call.dtype
    x = _flat(cast(x, dtype))
    low, high = _ends(call, x, *((None, None) if min == max == 0 else (min, max)), margin=1.0)
    scaled = op.Mul(op.Div(op.Sub(x, low), op.Sub(high, low)), cast(bins, dtype))
    place = op.Min(cast(op.Floor(scaled), DType.INT64), np.int64(bins - 1))
    is_inside = op.And(op.GreaterOrEqual(x, low), op.LessOrEqual(x, high))
    return _counted(call, place, is_inside, bins, None, dtype)


def _counted(call: Call, place: Any, is_inside: Any, bins: Any, weight: Any, dtype: DType) -> Any:
    """How much falls into each bin; what is outside goes to one more, which is dropped."""
    place = op.Where(is_inside, place, np.int64(bins))
    # ONNX Runtime adds up no halves; the result is cast.
    dtype = DType.FLOAT if dtype in (DType.FLOAT16, DType.BFLOAT16) else dtype
    each = filled(call.shape_of(place), 1, dtype) if weight is None else _flat(cast(weight, dtype))
    zeros = np.zeros(bins + 1, dtype.numpy)
    total = op.ScatterElements(constant(zeros), place, each, axis=0, reduction="add")
    return op.Slice(total, [0], [bins], [0])


def _edges(call: Call, x: Any, bins: int, low: Any, high: Any) -> Any:
    """The edges of equal bins."""
    dtype = x.dtype
    if low is None and any(isinstance(each, int) and each == 0 for each in call.shape_of(x)):
        low, high = 0.0, 1.0
    low, high = _ends(call, x, low, high, margin=0.5)
    step = op.Div(op.Sub(high, low), cast(bins, dtype))
    ramp = np.arange(bins + 1, dtype=dtype.numpy)
    # From either end, so that both ends are exact.
    from_low = op.Add(low, op.Mul(ramp, step))
    from_high = op.Sub(high, op.Mul(ramp[::-1].copy(), step))
    return op.Where(np.arange(bins + 1) < (bins + 1) // 2, from_low, from_high)


def _histogram(call: Call, x: Any, edges: list[Any], weight: Any, density: bool) -> Any:
    """Points (the last dimension of `x` holds their coordinates) counted in bins between edges."""
    dtype = call.dtype
    dimensions = len(edges)
    points = op.Reshape(x, [-1, dimensions])
    bins = [rank_size(call, each) - 1 for each in edges]
    place, is_inside = None, None
    for k, each in enumerate(edges):
        column = op.Gather(points, np.int64(k), axis=1)
        found = op.Sub(search(call, each, column, right=True), np.int64(1))
        last = op.Gather(each, np.int64(bins[k]), axis=0)
        fits = op.And(op.GreaterOrEqual(found, np.int64(0)), op.LessOrEqual(column, last))
        found = op.Min(found, np.int64(bins[k] - 1))
        place = found if place is None else op.Add(op.Mul(place, np.int64(bins[k])), found)
        is_inside = fits if is_inside is None else op.And(is_inside, fits)
    result = _counted(call, place, is_inside, int(np.prod(bins)), weight, dtype)
    result = op.Reshape(result, bins)
    return _as_density(result, edges) if density else result


def rank_size(call: Call, edges: Any) -> int:
    size = call.size(edges, 0)
    if not isinstance(size, int):
        raise call.refuse("bins whose number is not known")
    return size


def _as_density(counts: Any, edges: list[Any]) -> Any:
    result = op.Div(counts, op.ReduceSum(counts, keepdims=0))
    for k, each in enumerate(edges):
        width = op.Sub(op.Slice(each, [1], [np.iinfo(np.int64).max]), op.Slice(each, [0], [-1]))
        result = op.Div(result, as_column(width, k, len(edges)))
    return result


@translates("aten.histogram.bin_ct")
def histogram(
    call: Call, x: Any, bins: int = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    edges = _edges(call, x, bins, *(range or (None, None)))
    return [_histogram(call, op.Unsqueeze(_flat(x), [1]), [edges], weight, density), edges]


@translates("aten.histogram.bins_tensor")
def histogram_between(call: Call, x: Any, bins: Any, *, weight: Any = None, density: bool = False) -> Any:
    return [_histogram(call, op.Unsqueeze(_flat(x), [1]), [bins], weight, density), bins]


@translates("aten.histogramdd.default", "aten.histogramdd.int_bins", "aten.histogramdd.TensorList_bins")
def histogramdd(
    call: Call, x: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    dimensions = call.size(x, rank_of(x) - 1)
    if not isinstance(dimensions, int):
        raise call.refuse("points of a dimension that is not known")
    bins = [bins] * dimensions if isinstance(bins, int) else bins
    edges = []
    for k, each in enumerate(bins):
        if not isinstance(each, int):
            edges.append(each)
            continue
        column = op.Gather(x, np.int64(k), axis=rank_of(x) - 1)
        edges.append(
            _edges(call, column, each, *((None, None) if range is None else range[2 * k : 2 * k + 2]))
        )
    return [_histogram(call, x, edges, weight, density), edges]
