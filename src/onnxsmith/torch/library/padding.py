# pyright: basic
"""Padding: with a value, with the edge, with what is mirrored or comes round; and cropping where it is negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, int64s, is_static, rank_of

#: The end of a slice that has none.
NO_END = 9223372036854775807
#: torch's modes in the order of its enumeration.
MODES = ("reflect", "replicate", "circular", "constant")


def padded(call: Call, x: Any, pad: Sequence[Any], mode: str = "constant", value: Any = None) -> Any:
    """A tensor with its last dimensions made larger, or smaller; `pad` as torch has it, the last one first."""
    rank = rank_of(x)
    before, after = [0] * rank, [0] * rank
    for k in range(len(pad) // 2):
        before[rank - 1 - k], after[rank - 1 - k] = pad[2 * k], pad[2 * k + 1]
    if all(isinstance(each, int) and each == 0 for each in pad):
        return x
    if mode == "constant":
        return op.Pad(x, int64s([*before, *after]), cast(0 if value is None else value, x.dtype))
    if mode == "circular":
        return _wrapped(call, _cropped(x, before, after), _grown(before), _grown(after))
    # What is mirrored may be an element that is then cropped.
    larger = _edged(x, _grown(before), _grown(after), {"reflect": "reflect", "replicate": "edge"}[mode])
    return _cropped(larger, before, after)


def _grown(amounts: Sequence[Any]) -> list[Any]:
    return [max(each, 0) if isinstance(each, int) else each for each in amounts]


def _cropped(x: Any, before: Sequence[Any], after: Sequence[Any]) -> Any:
    """The tensor without what negative amounts take away."""
    starts = [max(-each, 0) if isinstance(each, int) else 0 for each in before]
    ends = [each if isinstance(each, int) and each < 0 else NO_END for each in after]
    axes = [k for k in range(len(starts)) if starts[k] or ends[k] != NO_END]
    if not axes:
        return x
    return op.Slice(
        x, np.array([starts[k] for k in axes]), np.array([ends[k] for k in axes]), np.array(axes, np.int64)
    )


def _edged(x: Any, before: Sequence[Any], after: Sequence[Any], mode: str) -> Any:
    amounts = [*before, *after]
    if is_static(amounts) and not any(amounts):
        return x
    return op.Pad(x, int64s(amounts), mode=mode)


def _wrapped(call: Call, x: Any, before: Sequence[Any], after: Sequence[Any]) -> Any:
    """The tensor with its end before it and its start after it."""
    # Pad has a mode for this since opset 19, which ONNX Runtime refuses for tensors without elements.
    for axis, (first, last) in enumerate(zip(before, after, strict=True)):
        parts = [x]
        axes = np.array([axis])
        if not (isinstance(first, int) and first == 0):
            # Counted from the front where it may be nothing: minus zero would be the start.
            start = -first if isinstance(first, int) else call.size(x, axis) - first
            parts.insert(0, op.Slice(x, int64s([start]), np.array([NO_END]), axes))
        if not (isinstance(last, int) and last == 0):
            parts.append(op.Slice(x, np.array([0]), int64s([last]), axes))
        x = op.Concat(*parts, axis=axis) if len(parts) > 1 else x
    return x


@translates("aten.constant_pad_nd.default", lifts=("x", "value"))
def constant_pad(call: Call, x: Any, pad: Sequence[Any], value: Any = 0) -> Any:
    return padded(call, x, pad, value=value)


@translates("aten.pad.default", lifts=("x", "value"))
def pad_(call: Call, x: Any, pad: Sequence[Any], mode: str = "constant", value: Any = None) -> Any:
    return padded(call, x, pad, mode, value)


@translates("aten._pad_enum.default", lifts=("x", "value"))
def pad_by_number(call: Call, x: Any, pad: Sequence[Any], mode: int, value: Any = None) -> Any:
    return padded(call, x, pad, MODES[mode], value)


@translates("aten._pad_circular.default", lifts=True)
def circular_pad(call: Call, x: Any, pad: Sequence[Any]) -> Any:
    return padded(call, x, pad, "circular")


@translates(*[f"aten.reflection_pad{k}d.default" for k in (1, 2, 3)], lifts=True)
def reflection_pad(call: Call, x: Any, pad: Sequence[Any]) -> Any:
    return padded(call, x, pad, "reflect")


@translates(*[f"aten.replication_pad{k}d.default" for k in (1, 2, 3)], lifts=True)
def replication_pad(call: Call, x: Any, pad: Sequence[Any]) -> Any:
    return padded(call, x, pad, "replicate")
