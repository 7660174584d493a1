# pyright: basic
"""Distances between rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, common, constant, filled, rank_of
from onnxsmith.torch.library.windows import counted


def _norm(difference: Any, p: float) -> Any:
    """The length of differences along the last dimension."""
    axes = np.array([-1])
    dtype = difference.dtype
    absolute = op.Abs(difference)
    if p == 0:
        is_apart = cast(op.Greater(absolute, cast(0, dtype)), dtype)
        return op.ReduceSum(is_apart, axes, keepdims=0)
    if p == 1:
        return op.ReduceSum(absolute, axes, keepdims=0)
    if np.isinf(p):
        return op.ReduceMax(absolute, axes, keepdims=0)
    if p == 2:
        return op.Sqrt(op.ReduceSum(op.Mul(difference, difference), axes, keepdims=0))
    total = op.ReduceSum(op.Pow(absolute, cast(p, dtype)), axes, keepdims=0)
    return op.Pow(total, cast(1 / p, dtype))


def _is_trivial(call: Call, x: Any) -> bool:
    """Whether rows have no elements, or there is nothing to compare."""
    sizes = [call.size(x, -1), *call.output_shape()]
    return any(isinstance(each, int) and each == 0 for each in sizes)


@translates("aten.cdist.default", "aten._cdist_forward.default")
def cdist(call: Call, x: Any, y: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """Between each row of one and each of the other."""
    if _is_trivial(call, x):
        return filled(call.output_shape(), 0, call.dtype)
    return _norm(op.Sub(op.Unsqueeze(x, [-2]), op.Unsqueeze(y, [-3])), float(p))


@translates("aten.pdist.default", "aten._pdist_forward.default")
def pdist(call: Call, x: Any, p: float = 2.0) -> Any:
    """Between each row and those behind it."""
    if _is_trivial(call, x):
        return filled(call.output_shape(), 0, call.dtype)
    count = call.size(x, 0)
    if isinstance(count, int):
        first, second = (constant(each) for each in np.triu_indices(count, 1))
    else:
        numbers = counted(count)
        pairs = op.NonZero(op.Less(op.Unsqueeze(numbers, [1]), op.Unsqueeze(numbers, [0])))
        first, second = op.Gather(pairs, np.int64(0), axis=0), op.Gather(pairs, np.int64(1), axis=0)
    difference = op.Sub(op.Gather(x, first, axis=0), op.Gather(x, second, axis=0))
    return _norm(difference, float(p))


@translates("aten.pairwise_distance.default")
def pairwise_distance(
    call: Call, x: Any, y: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    dtype = call.dtype
    # The difference is in the element type of the operands: whole numbers without a sign wrap around.
    difference = op.Add(cast(op.Sub(*common(call, x, y)), dtype), cast(eps, dtype))
    if rank_of(difference) == 0:
        raise call.refuse("a distance of scalars")
    result = _norm(difference, float(p))
    return op.Unsqueeze(result, [-1]) if keepdim else result
