"""Arithmetic and choices between several tensors, which broadcast."""

from __future__ import annotations

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.operators import op
from onnxsmith.grad.scaling import chosen, divided, scaled
from onnxsmith.grad.steps import Cotangents, Step, dtype_of
from onnxsmith.grad.table import rule


@rule("Add", broadcasts=True)
def addition(step: Step, g: Tensor) -> Cotangents:
    return g, g


@rule("Sub", broadcasts=True)
def subtraction(step: Step, g: Tensor) -> Cotangents:
    return g, lambda: -g


@rule("Mul", broadcasts=True)
def multiplication(step: Step, g: Tensor) -> Cotangents:
    a, b = step.input(0), step.input(1)
    return lambda: scaled(step, g, b), lambda: scaled(step, g, a)


@rule("Div", broadcasts=True)
def division(step: Step, g: Tensor) -> Cotangents:
    b = step.input(1)
    return lambda: divided(step, g, b), lambda: -divided(step, scaled(step, g, step.output()), b)


@rule("Pow", broadcasts=True)
def power(step: Step, g: Tensor) -> Cotangents:
    base, exponent = step.input(0), step.input(1)
    known = step.content(1)

    def of_base() -> Tensor | None:
        if known is not None and known.size == 1:
            number = float(known.reshape(-1)[0])
            if number == 0.0:
                return None
            if number == 1.0:
                return g
            if number == 2.0:
                return g * (base * 2.0)
            lowered = np.asarray(known - 1).astype(known.dtype)
            return scaled(step, g, op.Pow(base, lowered) * number)
        times = exponent if dtype_of(exponent) is dtype_of(base) else op.Cast(exponent, to=dtype_of(base))
        # To the power of 0 everything is 1, also 0 and NaN. The product stays one for further derivatives.
        is_flat = op.And(op.Equal(times, 0.0), op.Not(op.Greater(op.Abs(base), 0.0)))
        return scaled(step, g, times * op.Pow(op.Where(is_flat, 1.0, base), times - 1.0))

    def of_exponent() -> Tensor:
        # Zero to a power that is not negative is flat, and the logarithm of zero is not finite.
        y = step.output()
        is_flat = op.And(op.Equal(base, 0.0), op.Not(op.Less(exponent, 0.0)))
        logarithm = op.Log(op.Where(op.Equal(base, 0.0), 1.0, base))
        made = op.Where(is_flat, 0.0, scaled(step, g, y * logarithm))
        dtype = dtype_of(exponent)
        return made if dtype_of(made) is dtype else op.Cast(made, to=dtype)

    return of_base, of_exponent


@rule("Mod", broadcasts=True)
def remainder(step: Step, g: Tensor) -> Cotangents:
    a, b = step.input(0), step.input(1)
    # The quotient is rounded to zero by fmod, and down by Python's remainder.
    return g, lambda: -(g * op.Round((a - step.output()) / b))


@rule("Sum", broadcasts=True)
def sum_of_tensors(step: Step, g: Tensor) -> Cotangents:
    return [g] * len(step.inputs)


@rule("Mean", broadcasts=True)
def mean_of_tensors(step: Step, g: Tensor) -> Cotangents:
    return [g / float(len(step.inputs))] * len(step.inputs)


@rule("Max", "Min", broadcasts=True)
def extreme(step: Step, g: Tensor) -> Cotangents:
    """Those that are equal share the cotangent, as torch has it for two."""
    if len(step.inputs) == 1:
        return (g,)
    y = step.output()
    are_equal = [op.Equal(step.input(k), y) for k in range(len(step.inputs))]
    counts = [op.Cast(each, to=dtype_of(g)) for each in are_equal]
    share = g / (op.Add(*counts) if len(counts) == 2 else op.Sum(*counts))
    return [chosen(each, share) for each in are_equal]


@rule("Where", broadcasts=True, masks=True)
def choice(step: Step, g: Tensor) -> Cotangents:
    condition = step.input(0)
    return None, lambda: chosen(condition, g), lambda: op.Where(condition, 0.0, g)


@rule("Clip", broadcasts=True)
def clip(step: Step, g: Tensor) -> Cotangents:
    """At a bound the cotangent goes to what is bounded, as torch has it."""
    x, low, high = step.input(0), step.optional(1), step.optional(2)
    is_below = None if low is None else x < low
    is_above = None if high is None else x > high

    def inside() -> Tensor:
        outside = [each for each in (is_below, is_above) if each is not None]
        if not outside:
            return g
        return op.Where(outside[0] if len(outside) == 1 else op.Or(*outside), 0.0, g)

    def of_low() -> Value | None:
        if is_below is None:
            return None
        if low is not None and high is not None:  # a lower bound above the upper one has no say
            return chosen(op.And(is_below, low < high), g)
        return chosen(is_below, g)

    def of_high() -> Value | None:
        if is_above is None:
            return None
        if low is not None and high is not None:
            return chosen(op.Or(is_above, low > high), g)
        return chosen(is_above, g)

    return inside, of_low, of_high
