"""Functions that say how they are differentiated: those of `custom_gradient` and `checkpoint`."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.broadcasting import as_type_of, filled_like
from onnxsmith.grad.inner_graphs import Marked
from onnxsmith.grad.operators import op, values
from onnxsmith.grad.rules.control_flow import cotangents_inside
from onnxsmith.grad.steps import Cotangents, Step, tensor_of
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
    """The body again, when the way back has come to it, and done with before the way back goes on.

    Left to itself a runtime computes the body again at once, since all that it reads is there, and the cotangents of
    weights last of all, since nothing reads them. Either keeps in memory what the mark is to spare.
    """
    wanted = [k for k in range(len(step.inputs)) if step.active[k]]
    given = [step.input(k) for k in wanted]
    # A cotangent may be a constant, which decides nothing: then what is given does, if it can be no weight.
    free = next((each for each in given if made_value(each).record.tensor is None), given[0])
    passed = _behind([*gs, free], given)
    seen = dict(zip(wanted, passed, strict=True))
    inputs = [seen.get(k, each) for k, each in enumerate(step.inputs) if each is not None]
    found = cotangents_inside(_marked(step).body, inputs, gs, passed, "a result of the function")
    results: list[Value | None] = [None] * len(step.inputs)
    for k, cotangent in zip(wanted, found, strict=True):
        results[k] = cotangent
    # What nodes have made is what the way back goes on from; the rest are weights and inputs.
    further = [k for k in wanted if _is_made(step.input(k)) and isinstance(results[k], Tensor)]
    if further and len(further) < len(wanted):
        for k, cotangent in zip(
            further, _behind(found, [tensor_of(results[k]) for k in further]), strict=True
        ):
            results[k] = cotangent
    return results


def _is_made(value: Tensor) -> bool:
    return made_value(value).record.producer is not None


def _behind(first: Sequence[Value | None], then: Sequence[Tensor]) -> list[Tensor]:
    """Tensors that are there when others are: what a branch gives that is always taken, and decided by those."""
    passed = values(
        op.If(
            _always([each for each in first if isinstance(each, Tensor)]),
            then_branch=lambda: [op.Identity(each) for each in then],
            else_branch=lambda: [filled_like(each, 0.0) for each in then],
            outputs=len(then),
        )
    )
    return [as_type_of(tensor_of(each), like) for each, like in zip(passed, then, strict=True)]


def _always(given: Sequence[Tensor]) -> Tensor:
    """True, which nobody can tell before tensors are there."""
    parts = [op.ReduceSum(op.Slice(op.Reshape(each, [-1]), [0], [1]), keepdims=0) for each in given]
    is_odd = functools.reduce(op.Or, map(op.IsNaN, parts))
    return op.Or(is_odd, op.Not(is_odd))
