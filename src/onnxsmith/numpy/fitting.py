"""Checks that a Python number of the model fits an element type: numpy raises an error where it does not."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.core.demands import Refusal, demand
from onnxsmith.core.semantics.number import Number
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.types.dtypes import DType


def require_fitting(value: Number, dtype: NumpyDType) -> None:
    """A Python number that elements of a type are given is one of them, or can be made one."""
    if dtype.kind not in "iu" or value.kind == "bool":
        return
    limits = np.iinfo(cast("np.dtype[np.int64]", dtype))
    if value.kind == "float":
        given = value.as_dtype(DType.DOUBLE)
        least = (
            np.float64(limits.min) - 1
            if limits.min > -(2**63)
            else np.nextafter(np.float64(limits.min), -np.inf)
        )
        demand(
            lambda: op.And(op.Greater(given, least), op.Less(given, np.float64(limits.max) + 1)),
            Refusal(ValueError("cannot convert float NaN to integer"), lambda: op.IsNaN(given)),
            OverflowError(f"a Python float is out of bounds for {dtype.name}"),
        )
        return
    parts: list[Any] = []
    whole = value.as_dtype(DType.INT64)
    if limits.min > -(2**63) and not (limits.min <= 0 and value.is_natural):
        parts.append(lambda: op.GreaterOrEqual(whole, np.int64(limits.min)))
    if limits.max < 2**63 - 1:
        parts.append(lambda: op.LessOrEqual(whole, np.int64(limits.max)))
    error = OverflowError(f"a Python integer is out of bounds for {dtype.name}")
    for each in parts:
        demand(each, error)
