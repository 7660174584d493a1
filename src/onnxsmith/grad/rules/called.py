"""Functions that are differentiated once: a call on the way forward is a call on the way back."""

from __future__ import annotations

from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.grad.called_functions import Call
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.grad.table import rule
from onnxsmith.grad.target import DOMAIN


@rule("called", domain=DOMAIN)
def called(step: Step, *gs: Value | None) -> Cotangents:
    call = step.kept
    assert isinstance(call, Call)  # who records the call keeps it
    backward = call.form.backward(tuple([each is not None for each in gs]), step.is_masked)
    found: list[Value | None] = [None] * len(step.inputs)
    if not backward.positions:
        return found
    given = [*(each for each in gs if each is not None), *map(call.actual, backward.taken)]
    made = current_graph().call_function(backward.body, given, {}, backward.known)
    for position, cotangent in zip(backward.positions, made, strict=True):
        found[position] = cotangent
    return found
