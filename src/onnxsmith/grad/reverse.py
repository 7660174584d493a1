"""The way back: from the loss over the steps to what its gradient is asked for, by the rules of the table."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import cast

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError, OnnxsmithError
from onnxsmith.grad.broadcasting import have_same_shape, summed_to
from onnxsmith.grad.containers import added
from onnxsmith.grad.operators import op
from onnxsmith.grad.paths import described, located_at
from onnxsmith.grad.steps import Step
from onnxsmith.grad.table import BITS, RULES, GradientRule
from onnxsmith.grad.target import GradientTarget
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.graphs.value import made_value


class Reverse:
    """The cotangents of values, while the steps are gone over from the last to the first."""

    def __init__(self, target: GradientTarget, steps: Sequence[Step], loss: str) -> None:
        self._target = target
        self._steps = steps
        self._loss = loss
        self._parts: dict[ValueRecord, list[Value]] = {}
        #: Values whose cotangents have passed a mask.
        self._masked: set[ValueRecord] = set()

    def seed(self, value: Value, cotangent: Value, *, is_masked: bool = False) -> None:
        """Say what the cotangent of a result is, which may have passed a mask; what else arrives is added."""
        record = made_value(value).record
        self._parts.setdefault(record, []).append(cotangent)
        if is_masked:
            self._masked.add(record)

    def of(self, value: Value) -> Value | None:
        """The cotangent of a value; None where nothing arrives."""
        record = made_value(value).record
        parts = self._parts.get(record)
        if parts is None:
            return None
        if len(parts) > 1:
            parts[:] = [total(parts)]
        return parts[0]

    def run(self) -> None:
        """Go over all steps."""
        for step in reversed(self._steps):
            cotangents = [self.of(each) for each in step.outputs]
            if any(each is not None for each in cotangents):
                self._target.origin.set(step.node, is_backward=True)
                self._step(step, cotangents)

    def _step(self, step: Step, cotangents: Sequence[Value | None]) -> None:
        rule = RULES.get((BITS if step.is_on_bits else step.definition.domain, step.definition.name))
        if rule is None:
            raise located_at(self._missing(step), step, self._steps, self._loss)
        if self._masked and any(made_value(each).record in self._masked for each in step.outputs):
            step.is_masked = True
        try:
            found = rule.function(step, *cotangents)
            self._enter(step, rule, found)
        except OnnxsmithError as error:
            raise located_at(error, step, self._steps, self._loss) from None

    def _enter(self, step: Step, rule: GradientRule, found: Iterable[object]) -> None:
        for value, is_active, made in zip(step.inputs, step.active, found, strict=False):
            if not is_active or value is None:
                continue
            cotangent = made() if callable(made) and not isinstance(made, Value) else made
            if cotangent is None:
                continue
            assert isinstance(cotangent, Value)  # what a rule gives
            if rule.broadcasts and isinstance(value, Tensor) and not have_same_shape(value, cotangent):
                cotangent = summed_to(cast(Tensor, cotangent), value)
            record = made_value(value).record
            self._parts.setdefault(record, []).append(cotangent)
            if rule.masks or step.is_masked:
                self._masked.add(record)

    def _missing(self, step: Step) -> NotDifferentiableError:
        name = step.definition.qualified_name
        return NotDifferentiableError(
            f"there is no gradient of {name}, and the loss depends on {described(step)}",
            help="write what it computes with other operators, or end the gradient there with stop_gradient(x)",
        )


def total(parts: Sequence[Value]) -> Value:
    """The sum of cotangents that reach one value by several ways."""
    if len(parts) == 2 or not isinstance(parts[0], Tensor):
        return functools.reduce(added, parts)
    return op.Sum(*parts)
