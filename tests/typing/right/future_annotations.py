"""Annotations that are not evaluated when the function is defined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from onnxsmith import FLOAT, INT64, Dim
from onnxsmith import opset21 as op

N = Dim("N")


def clip(x: FLOAT[N, 4], low: Optional[FLOAT] = None, high: FLOAT | None = None) -> FLOAT[N, 4]:
    return op.Clip(x, low, high)


def concatenate(parts: Sequence[FLOAT[N, 4]], lengths: list[INT64[1]]) -> FLOAT[...]:
    return op.ConcatFromSequence(parts, axis=0) * len(lengths)


print(clip, concatenate)
