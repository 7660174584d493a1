"""How many elements fall into each bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms import histograms
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, Size, converted, flat, rank_of, size_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates

Ends: TypeAlias = tuple[Numeric, Numeric] | None


@translates("aten.bincount.default")
def bincount(call: Call, x: Tensor, weights: Tensor | None = None, minlength: Size = 0) -> Tensor:
    return histograms.bincount(x, weights, minlength, dtype=call.dtype)


@translates("aten.histc.default")
def histc(call: Call, x: Tensor, bins: int = 100, min: Numeric = 0, max: Numeric = 0) -> Tensor:
    ends = None if min == max == 0 else (min, max)
    return histograms.counts_of_equal_bins(converted(x, call.dtype), bins, ends)


def _histogram(
    call: Call, x: Tensor, edges: Sequence[Tensor], weight: Tensor | None, density: bool
) -> Tensor:
    if not all(isinstance(size_of(each, 0), int) for each in edges):
        raise call.refuse("bins whose number is not known")
    return histograms.histogram(x, edges, weight, density=density, dtype=call.dtype)


@translates("aten.histogram.bin_ct")
def histogram(
    call: Call,
    x: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    edges = histograms.equal_edges(x, bins, None if not range else (range[0], range[1]))
    return [_histogram(call, op.Unsqueeze(flat(x), [1]), [edges], weight, density), edges]


@translates("aten.histogram.bins_tensor")
def histogram_between(
    call: Call, x: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> list[Tensor]:
    return [_histogram(call, op.Unsqueeze(flat(x), [1]), [bins], weight, density), bins]


@translates("aten.histogramdd.default", "aten.histogramdd.int_bins", "aten.histogramdd.TensorList_bins")
def histogramdd(
    call: Call,
    x: Tensor,
    bins: int | Sequence[int | Tensor],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor | list[Tensor]]:
    dimensions = size_of(x, rank_of(x) - 1)
    if not isinstance(dimensions, int):
        raise call.refuse("points of a dimension that is not known")
    edges: list[Tensor] = []
    for k, each in enumerate([bins] * dimensions if isinstance(bins, int) else bins):
        if not isinstance(each, int):
            edges.append(each)
            continue
        column = op.Gather(x, np.int64(k), axis=rank_of(x) - 1)
        ends: Ends = None if range is None else (range[2 * k], range[2 * k + 1])
        edges.append(histograms.equal_edges(column, each, ends))
    return [_histogram(call, x, edges, weight, density), edges]
