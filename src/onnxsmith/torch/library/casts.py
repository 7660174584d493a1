"""Casts and copies: the same elements, perhaps in another type."""

from __future__ import annotations

from onnxsmith.algorithms.complex_numbers.pair import Complex, zeros_like
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_pair import parts_of
from onnxsmith.torch.library.kinds import Argument, Given, Translated
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

COPIES = (
    "aten.clone.default",
    "aten.contiguous.default",
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
def copied(call: Call, x: Tensor) -> Translated:
    return x


@translates(*CASTS)
def converted(call: Call, x: Tensor, *_: Argument, **__: Argument) -> Translated:
    result = cast(x, call.dtype)
    return Complex(result, zeros_like(result)) if call.is_complex else result


@translates_complex(*CASTS)
def converted_complex(call: Call, x: Given, *_: Argument, **__: Argument) -> Translated:
    if not call.is_complex:
        parts = [x.real, x.imag] if isinstance(x, Complex) else [x]
        if call.dtype is DType.BOOL and len(parts) == 2:
            return op.Or(*[cast(each, DType.BOOL) for each in parts])
        return cast(parts[0], call.dtype)
    pair = x if isinstance(x, Complex) else parts_of(x)
    return Complex(cast(pair.real, call.dtype), cast(pair.imag, call.dtype))
