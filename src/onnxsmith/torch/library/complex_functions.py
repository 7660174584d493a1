"""Functions of a complex number."""

from __future__ import annotations

from onnxsmith.algorithms.complex_numbers import functions
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.complex_numbers.pair import zeros_like
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import operand, pair
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.registry import translates_complex


@translates_complex(
    *(f"aten.{name}.default" for name in functions.FUNCTIONS),
    *(f"prims.{name}.default" for name in functions.FUNCTIONS),
)
def function(call: Call, x: Given) -> Translated:
    name = call.overload.split(".")[1]
    return functions.FUNCTIONS[name](operand(x, call.dtype)).as_value()


@translates_complex("aten.sinc.default", "aten.special_sinc.default")
def sinc(call: Call, x: Given) -> Translated:
    return functions.sinc(operand(x, call.dtype)).as_value()


POWERS = (
    *("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar", "prims.pow.default"),
    *("aten.float_power.Tensor_Scalar", "aten.float_power.Tensor_Tensor", "aten.float_power.Scalar"),
)


@translates_complex(*POWERS)
def pow_(call: Call, x: Given, y: Given) -> Translated:
    z = operand(x, call.dtype)
    if isinstance(y, int | float):
        whole = functions.whole_power(z, y)
        if whole is not None:
            return pair(whole)
    z = z if z.is_complex else Field(z.re, zeros_like(z.re))
    exponent = operand(y, call.dtype)
    return pair(functions.power(z, exponent))
