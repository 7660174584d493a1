"""Functions that say how they are differentiated: those of `custom_gradient` and `checkpoint`."""

from __future__ import annotations

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.broadcasting import as_type_of, filled_like
from onnxsmith.grad.inner_graphs import Marked
from onnxsmith.grad.operators import op, values
from onnxsmith.grad.rules.control_flow import cotangents_inside
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.grad.table import rule
from onnxsmith.grad.target import DOMAIN
from onnxsmith.graphs.value import made_value


def _marked(step: Step) -> Marked:
    assert isinstance(step.kept, Marked)  # who records such a function keeps it
    return step.kept


@rule("custom", domain=DOMAIN)
def custom(step: Step, *gs: Value | None) -> Cotangents:
    backward = _marked(step).backward
    assert backward is not None  # the model that has the function has this one
    given = [filled_like(step.output(k), 0.0) if g is None else g for k, g in enumerate(gs)]
    made = backward.record([*given, *(each for each in step.inputs if each is not None)])
    found: list[Value | None] = [None] * len(step.inputs)
    for value, cotangent in zip(backward.graph.outputs, made, strict=True):
        found[int((value.name or "").rpartition("_")[2])] = cotangent
    return found


@rule("checkpoint", domain=DOMAIN)
def computed_again(step: Step, *gs: Value | None) -> Cotangents:
    """The body on inputs that pass a branch, which is always taken: else it would be shared with what there is."""
    wanted = [k for k in range(len(step.inputs)) if step.active[k]]
    passed = values(
        op.If(
            _always(step, wanted),
            then_branch=lambda: [op.Identity(step.input(k)) for k in wanted],
            else_branch=lambda: [filled_like(step.input(k), 0.0) for k in wanted],
            outputs=len(wanted),
        )
    )
    seen = {k: as_type_of(_tensor(each), step.input(k)) for k, each in zip(wanted, passed, strict=True)}
    inputs = [seen.get(k, each) for k, each in enumerate(step.inputs) if each is not None]
    found = cotangents_inside(_marked(step).body, inputs, gs, list(seen.values()), "a result of the function")
    results: list[Value | None] = [None] * len(step.inputs)
    for k, cotangent in zip(wanted, found, strict=True):
        results[k] = cotangent
    return results


def _tensor(value: Value) -> Tensor:
    assert isinstance(value, Tensor)  # the cotangent of a tensor
    return value


def _always(step: Step, wanted: list[int]) -> Tensor:
    """True, which nobody can tell before the model runs: of what it is given, and not of a weight if it can be."""
    given = [step.input(k) for k in wanted]
    first = next((each for each in given if made_value(each).record.tensor is None), given[0])
    some = op.Slice(op.Reshape(first, [-1]), [0], [1])
    is_odd = op.IsNaN(op.ReduceSum(some, keepdims=0))
    return op.Or(is_odd, op.Not(is_odd))
