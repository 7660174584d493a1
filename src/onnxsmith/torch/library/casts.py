# pyright: basic
"""Casts and copies: the same elements, perhaps in another type."""

from __future__ import annotations

from typing import Any

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_pair import Complex
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import cast

COPIES = (
    "aten.clone.default",
    "aten.contiguous.default",
    "aten.detach.default",
    "aten.detach_.default",
    "aten.alias.default",
    "aten.lift_fresh.default",
    "aten.lift_fresh_copy.default",
    "aten.lift.default",
    "aten.positive.default",
    "prims.clone.default",
)
CASTS = (
    "aten.to.dtype",
    "aten.to.dtype_layout",
    "aten.to.device",
    "aten.to.other",
    "aten._to_copy.default",
    "aten.type_as.default",
    "prims.convert_element_type.default",
    "prims.device_put.default",
)


@translates(*COPIES, lifts=True)
def copied(call: Call, x: Any) -> Any:
    return x


@translates(*CASTS)
def converted(call: Call, x: Any, *_: Any, **__: Any) -> Any:
    result = cast(x, call.dtype)
    return Complex(result, result * 0) if call.is_complex else result


@translates_complex(*CASTS)
def converted_complex(call: Call, x: Any, *_: Any, **__: Any) -> Any:
    if not call.is_complex:
        return cast(x.real if isinstance(x, Complex) else x, call.dtype)
    pair = x if isinstance(x, Complex) else Complex(x, x * 0)
    return Complex(cast(pair.real, call.dtype), cast(pair.imag, call.dtype))


@translates("aten.dropout.default", "aten.alpha_dropout.default", "aten.feature_dropout.default")
def dropout(call: Call, x: Any, p: float, train: bool) -> Any:
    if train and p > 0:
        raise call.refuse("dropout that is in training")
    return x
