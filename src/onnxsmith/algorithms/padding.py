"""Padding: with a value, with the edge, with what is mirrored or comes round; and cropping where it is negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, Size, cast, dtype_of, int64s, is_static, size_of

Mode: TypeAlias = Literal["constant", "edge", "reflect", "wrap"]
#: The end of a slice that has none.
NO_END = 9223372036854775807


def padded(
    x: Tensor,
    before: Sequence[Size],
    after: Sequence[Size],
    mode: Mode = "constant",
    value: Numeric = 0,
) -> Tensor:
    """A tensor with elements before and after each of its dimensions; negative numbers take away."""
    if all(isinstance(each, int) and each == 0 for each in (*before, *after)):
        return x
    if mode == "constant":
        return op.Pad(x, int64s([*before, *after]), cast(value, dtype_of(x)))
    if mode == "wrap":
        return _wrapped(_cropped(x, before, after), _grown(before), _grown(after))
    # What is mirrored may be an element that is then cropped.
    larger = _edged(x, _grown(before), _grown(after), mode)
    return _cropped(larger, before, after)


def _grown(amounts: Sequence[Size]) -> list[Size]:
    return [max(each, 0) if isinstance(each, int) else each for each in amounts]


def _cropped(x: Tensor, before: Sequence[Size], after: Sequence[Size]) -> Tensor:
    """The tensor without what negative amounts take away."""
    starts = [max(-each, 0) if isinstance(each, int) else 0 for each in before]
    ends = [each if isinstance(each, int) and each < 0 else NO_END for each in after]
    axes = [k for k in range(len(starts)) if starts[k] or ends[k] != NO_END]
    if not axes:
        return x
    return op.Slice(
        x, np.array([starts[k] for k in axes]), np.array([ends[k] for k in axes]), np.array(axes, np.int64)
    )


def _edged(x: Tensor, before: Sequence[Size], after: Sequence[Size], mode: str) -> Tensor:
    amounts = [*before, *after]
    if is_static(amounts) and not any(amounts):
        return x
    return op.Pad(x, int64s(amounts), mode=mode)


def _wrapped(x: Tensor, before: Sequence[Size], after: Sequence[Size]) -> Tensor:
    """The tensor with its end before it and its start after it."""
    # Pad has a mode for this since opset 19, which ONNX Runtime refuses for tensors without elements.
    for axis, (first, last) in enumerate(zip(before, after, strict=True)):
        parts = [x]
        axes = np.array([axis])
        if not (isinstance(first, int) and first == 0):
            # Counted from the front where it may be nothing: minus zero would be the start.
            start = -first if isinstance(first, int) else size_of(x, axis) - first
            parts.insert(0, op.Slice(x, int64s([start]), np.array([NO_END]), axes))
        if not (isinstance(last, int) and last == 0):
            parts.append(op.Slice(x, np.array([0]), int64s([last]), axes))
        x = op.Concat(*parts, axis=axis) if len(parts) > 1 else x
    return x
