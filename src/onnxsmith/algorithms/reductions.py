"""Reductions along dimensions of tensors of any rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import axes_of, rank_of
from onnxsmith.core.value import TensorValue

Reduction: TypeAlias = Literal["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceMean"]


def reduce(name: Reduction, x: TensorValue, dims: int | Sequence[int] | None, keepdim: bool) -> TensorValue:
    """A reduction over dimensions, all for None."""
    rank = rank_of(x)
    if rank == 0:
        return x
    axes = axes_of(dims, rank)
    return getattr(op, name)(x, np.array(axes, np.int64), keepdims=int(keepdim))
