"""The table of rules: which function gives the cotangents of an operator's inputs.

Filled by the modules of `rules`, read by `replaying` and `reverse`. Knows no operator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.registry import Registry

#: Given the step and a cotangent for each output (None where it is zero), the cotangents of its inputs.
RuleFunction: TypeAlias = Callable[..., Cotangents]
F = TypeVar("F", bound=RuleFunction)
#: Given the step, the cotangent of its result, its argument and its result, the cotangent of the argument.
Unary: TypeAlias = Callable[[Step, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class GradientRule:
    """How an operator is differentiated."""

    function: RuleFunction
    #: Whether the operator broadcasts: a cotangent may be as large as the output, and is summed to fit its input.
    broadcasts: bool = False
    #: Whether zeros among the cotangents that it gives are those of a mask.
    masks: bool = False
    #: How many outputs of the operator it needs; the model may have asked for fewer.
    outputs: int = 1
    #: For operators with graphs inside: records the call, and keeps what the rule needs.
    forward: Callable[[Any], tuple[Value, ...]] | None = None
    #: For operators without graphs inside: records the call in a form that keeps in the step what the rule needs. Gives
    #: None where the operator itself is recorded.
    kept: Callable[[Any], tuple[Value, ...] | None] | None = None
    #: Which calls it is for, by inputs, attributes and the number of outputs; others go through ONNX's definition. Of
    #: an algorithm, which has no attributes, "form" is the name of the function.
    only: Callable[[Sequence[Value | None], Mapping[str, object], int], bool] | None = None


#: The domain of rules for calls on the bits of numbers.
BITS = "onnxsmith.grad.bits"

#: By domain and name of the operator.
RULES: Registry[tuple[str, str], GradientRule] = Registry("onnxsmith.grad.rules", "RULES")


def rule(
    *names: str,
    domain: str = "",
    broadcasts: bool = False,
    masks: bool = False,
    outputs: int = 1,
    forward: Callable[[Any], tuple[Value, ...]] | None = None,
    kept: Callable[[Any], tuple[Value, ...] | None] | None = None,
    only: Callable[[Sequence[Value | None], Mapping[str, object], int], bool] | None = None,
) -> Callable[[F], F]:
    """Enter a function as the rule of these operators."""

    def enter(function: F) -> F:
        for name in names:
            made = GradientRule(function, broadcasts, masks, outputs, forward, kept, only)
            RULES.register((domain, name), made)
        return function

    return enter


def enter_unary(functions: Mapping[str, Unary], domain: str = "") -> None:
    """Enter the rules of operators of which the first input alone has a cotangent."""
    for name, function in functions.items():
        RULES.register((domain, name), GradientRule(functools.partial(_of_one, function)))


def _of_one(function: Unary, step: Step, g: Tensor) -> Cotangents:
    return (function(step, g, step.input(), step.output()),)
