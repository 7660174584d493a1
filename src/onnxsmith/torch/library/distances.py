"""Distances between rows."""

from __future__ import annotations

from onnxsmith.algorithms import distances
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import cast, converted, filled, has_zero, rank_of, size_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import common


def _is_trivial(call: Call, x: Tensor) -> bool:
    """True if rows have no elements, or there is nothing to compare."""
    return has_zero([size_of(x, -1), *call.output_shape()])


@translates("aten.cdist.default", "aten._cdist_forward.default")
def cdist(call: Call, x: Tensor, y: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    if _is_trivial(call, x):
        return filled(call.output_shape(), 0, call.dtype)
    return distances.between(x, y, float(p))


@translates("aten.pdist.default", "aten._pdist_forward.default")
def pdist(call: Call, x: Tensor, p: float = 2.0) -> Tensor:
    if _is_trivial(call, x):
        return filled(call.output_shape(), 0, call.dtype)
    return distances.among(x, float(p))


@translates("aten.pairwise_distance.default")
def pairwise_distance(
    call: Call, x: Tensor, y: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    dtype = call.dtype
    # The difference is in the element type of the operands: whole numbers without a sign wrap around.
    difference = converted(op.Sub(*common(call, x, y)), dtype) + cast(eps, dtype)
    if rank_of(difference) == 0:
        raise call.refuse("a distance of scalars")
    result = distances.length(difference, float(p))
    return op.Unsqueeze(result, [-1]) if keepdim else result
