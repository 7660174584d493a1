"""Padding of the last dimensions, and cropping where it is negative."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.algorithms import padding
from onnxsmith.algorithms.padding import Mode
from onnxsmith.algorithms.values import Numeric, Size, rank_of
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates

#: torch's modes and ONNX's, in the order of torch's enumeration.
MODES: dict[str, Mode] = {
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
    "constant": "constant",
}


def padded(x: Tensor, pad: Sequence[Size], mode: str = "constant", value: Numeric | None = None) -> Tensor:
    """A tensor with its last dimensions made larger, or smaller; `pad` as torch has it, the last one first."""
    rank = rank_of(x)
    before: list[Size] = [0] * rank
    after: list[Size] = [0] * rank
    for k in range(len(pad) // 2):
        before[rank - 1 - k], after[rank - 1 - k] = pad[2 * k], pad[2 * k + 1]
    return padding.padded(x, before, after, MODES[mode], 0 if value is None else value)


@translates("aten.constant_pad_nd.default", lifts=("x", "value"))
def constant_pad(call: Call, x: Tensor, pad: Sequence[Size], value: Numeric = 0) -> Tensor:
    return padded(x, pad, value=value)


@translates("aten.pad.default", lifts=("x", "value"))
def pad_(
    call: Call, x: Tensor, pad: Sequence[Size], mode: str = "constant", value: Numeric | None = None
) -> Tensor:
    return padded(x, pad, mode, value)


@translates("aten._pad_enum.default", lifts=("x", "value"))
def pad_by_number(
    call: Call, x: Tensor, pad: Sequence[Size], mode: int, value: Numeric | None = None
) -> Tensor:
    return padded(x, pad, list(MODES)[mode], value)


#: Operators for one mode each.
IN_MODE = {
    "aten._pad_circular.default": "circular",
    **{f"aten.reflection_pad{k}d.default": "reflect" for k in (1, 2, 3)},
    **{f"aten.replication_pad{k}d.default": "replicate" for k in (1, 2, 3)},
}


@translates(*IN_MODE, lifts=True)
def pad_in_mode(call: Call, x: Tensor, pad: Sequence[Size]) -> Tensor:
    return padded(x, pad, IN_MODE[call.overload])
