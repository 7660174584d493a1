"""A cotangent times a derivative that may be infinite, behind a mask: what nothing depends on stays zero."""

from __future__ import annotations

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Operand
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Step


def scaled(step: Step, cotangent: Tensor, derivative: Tensor) -> Tensor:
    """The product; behind a mask an element with the cotangent zero gives zero, whatever the derivative is there.

    `Where(x > 0, Log(x), 0)` has no gradient at 0 otherwise: 0 · inf is NaN. Where the derivative is finite the product
    is left as it is, so that it stays linear in the cotangent for who differentiates it again.
    """
    if not step.is_masked:
        return cotangent * derivative
    is_finite = op.Less(op.Abs(derivative), np.inf)
    is_kept = op.Or(is_finite, op.Not(op.Equal(cotangent, 0.0)))
    return cotangent * op.Where(is_kept, derivative, 0.0)


def divided(step: Step, cotangent: Tensor, divisor: Tensor) -> Tensor:
    """The quotient, likewise."""
    return scaled(step, cotangent, op.Reciprocal(divisor)) if step.is_masked else cotangent / divisor


def chosen(condition: Tensor, cotangent: Operand) -> Tensor:
    """The cotangent where a condition holds, and zero elsewhere."""
    return op.Where(condition, cotangent, 0.0)
