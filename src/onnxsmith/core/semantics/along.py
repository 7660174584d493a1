"""numpy's methods that go along an axis and keep the shape: running sums, and the order of elements."""

from __future__ import annotations

from typing import cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.operands import dtype_of, needed_rank, operators_for, rank_of, read_axis
from onnxsmith.core.semantics import dimensions
from onnxsmith.core.semantics.reductions import ordered_as, refuse_text
from onnxsmith.core.value import TensorValue
from onnxsmith.types.dtypes import DType


def cumsum(x: TensorValue, axis: int | None = None) -> TensorValue:
    """`x.cumsum(axis)`; of all elements in one row without an axis. Small integers add up in 64 bits."""
    op, dtype = operators_for(x), dtype_of(x)
    refuse_text("cumsum", dtype)
    y, number = _along(x, axis, "cumsum")
    if dtype is None or not (dtype.is_integer or dtype is DType.BOOL):
        return op.CumSum(y, np.array(number, np.int64))
    # Integers wrap alike with and without a sign, and ONNX Runtime has no unsigned sums.
    wide = y if dtype is DType.INT64 else op.Cast(y, to=DType.INT64)
    result = op.CumSum(wide, np.array(number, np.int64))
    return op.Cast(result, to=DType.UINT64) if dtype.kind == "unsigned" else result


def argsort(x: TensorValue, axis: int | None = -1) -> TensorValue:
    """`x.argsort(axis)`; equal elements stay in their order. ONNX leaves open what becomes of NaN."""
    op = operators_for(x)
    refuse_text("argsort", dtype_of(x))
    y, number = _along(x, axis, "argsort")
    wide = ordered_as(op, dtype_of(y))
    y = y if wide is None else op.Cast(y, to=wide)
    count = portable.vector(op, [dimensions.dimension(y, number)])
    found = cast("tuple[TensorValue, TensorValue]", op.TopK(y, count, axis=number, largest=0, sorted=1))
    return found[1]


def _along(x: TensorValue, axis: int | None, what: str) -> tuple[TensorValue, int]:
    """A tensor and the axis to go along; all elements in one row where none is given."""
    if axis is None or rank_of(x) == 0:
        if axis is not None:
            read_axis(axis, 1)  # as numpy: a scalar has one element to go along
        flat = x if rank_of(x) == 1 else operators_for(x).Reshape(x, portable.integers((-1,)))
        return flat, 0
    return x, read_axis(axis, needed_rank(x, what))
