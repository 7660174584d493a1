"""Numbers that are handled as their bits: whole numbers that a `BitCast` made, until another makes numbers of them.

The cotangent of bits is that of the number that they are. Rules of the domain `BITS` are for calls on bits: choices
between numbers, changes of the sign, and steps to a neighbour, which leave the size as it is. What else is done with
bits gives pieces on which the number does not depend smoothly: nothing goes back.
"""

from __future__ import annotations

from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.operators import op
from onnxsmith.grad.rules.arithmetic import choice, extreme
from onnxsmith.grad.scaling import chosen
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, is_real
from onnxsmith.grad.table import BITS, rule

#: By how many places bits may be counted up or down for the number to be the same but for rounding.
_NEIGHBOURS = 4

rule("Where", domain=BITS, broadcasts=True, masks=True)(choice)
rule("Max", "Min", domain=BITS, broadcasts=True)(extreme)


@rule("BitCast", "Identity", domain=BITS)
@rule("BitCast")
def bit_cast(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    # Bits that are read as another kind of number mean something else.
    return (None if is_real(x) and dtype_of(x) is not dtype_of(g) else g,)


@rule("BitwiseAnd", "BitwiseOr", "BitwiseXor", domain=BITS, broadcasts=True)
def sign_changes(step: Step, g: Tensor) -> Cotangents:
    """Zero has no sign that matters, as torch has it for `copysign`."""
    y = op.BitCast(step.output(), to=dtype_of(g))

    def of(position: int) -> Tensor:
        x = op.BitCast(step.input(position), to=dtype_of(g))
        return chosen(op.Equal(op.Abs(x), op.Abs(y)), g * (op.Sign(x) * op.Sign(y)))

    return lambda: of(0), lambda: of(1)


@rule("Add", "Sub", domain=BITS, broadcasts=True)
def neighbours(step: Step, g: Tensor) -> Cotangents:
    def of(other: Tensor) -> Tensor:
        return chosen(op.And(other <= _NEIGHBOURS, other >= -_NEIGHBOURS), g)

    return lambda: of(step.input(1)), (lambda: of(step.input(0))) if step.name == "Add" else None
