# pyright: basic
"""Reading elements by index tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import axis_of, cast, expand, rank_of
from onnxsmith.types.dtypes import DType


@translates("aten.gather.default", lifts=True)
def gather(call: Call, x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    index = cast(index, DType.INT64)
    if rank_of(index) == 0:
        return x if rank_of(x) == 0 else op.Gather(x, index, axis=0)
    if rank_of(x) == 0:
        return expand(x, call.output_shape())
    return op.GatherElements(x, index, axis=axis_of(dim, rank_of(x)))


@translates("aten.index_select.default", lifts=True)
def index_select(call: Call, x: Any, dim: int, index: Any) -> Any:
    index = cast(index, DType.INT64)
    if rank_of(x) == 0:
        return x
    if rank_of(index) == 0:
        index = op.Unsqueeze(index, [0])
    return op.Gather(x, index, axis=axis_of(dim, rank_of(x)))


@translates("aten.nonzero.default")
def nonzero(call: Call, x: Any) -> Any:
    if rank_of(x) == 0:
        return op.Unsqueeze(op.Squeeze(op.NonZero(op.Unsqueeze(x, [0])), [0]), [1])[:, :0]
    return op.Transpose(op.NonZero(x), perm=[1, 0])


@translates("aten.index.Tensor", "aten._unsafe_index.Tensor", lifts=True)
def index(call: Call, x: Any, indices: Sequence[Any]) -> Any:
    indices = _without_masks(indices)
    axes = [k for k, each in enumerate(indices) if each is not None]
    if not axes:
        return x
    given = [cast(indices[k], DType.INT64) for k in axes]
    if len(axes) == 1:
        return op.Gather(x, given[0], axis=axes[0])
    rank = rank_of(x)
    rest = [k for k in range(rank) if k not in axes]
    first = x if axes == list(range(len(axes))) else op.Transpose(x, perm=[*axes, *rest])
    result = op.GatherND(first, _index_tuples(given))
    is_together = axes == list(range(axes[0], axes[0] + len(axes)))
    if not is_together or axes[0] == 0:
        return result
    # Indexed dimensions that stand together leave their result in their place.
    width = max(rank_of(each) for each in given)
    before = axes[0]
    order = [*range(width, width + before), *range(width), *range(width + before, rank_of(result))]
    return op.Transpose(result, perm=order)


def _index_tuples(given: Sequence[Any]) -> Any:
    """Index tensors, broadcast, as one tensor whose last dimension holds an index for each axis."""
    # GatherND counts negative indices from the end, as torch does.
    shape = op.Shape(_sum(given)) if len({each.type.shape for each in given}) > 1 else None
    full = [each if shape is None else op.Expand(each, shape) for each in given]
    return op.Concat(*[op.Unsqueeze(each, [-1]) for each in full], axis=-1)


def _sum(values: Sequence[Any]) -> Any:
    result = values[0]
    for each in values[1:]:
        result = op.Add(result, each)
    return result


def _without_masks(indices: Sequence[Any]) -> list[Any]:
    """A mask is the indices of its true elements, one tensor for each of its dimensions."""
    result: list[Any] = []
    for each in indices:
        if each is None or each.dtype not in (DType.BOOL, DType.UINT8):
            result.append(each)
            continue
        positions = op.NonZero(each)
        result += [op.Gather(positions, np.array(k), axis=0) for k in range(rank_of(each))]
    return result
