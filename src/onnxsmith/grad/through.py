"""`defined`: operators that are differentiated through what they compute, said by other operators.

ONNX defines many of its operators so. This is for those that it does not: the operator itself stays in the forward
pass, and on the way back what it computes is recorded and gone over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.frames import Frame
from onnxsmith.grad.operators import op
from onnxsmith.grad.replaying import Replay
from onnxsmith.grad.reverse import Reverse
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.grad.table import rule
from onnxsmith.grad.target import GradientTarget
from onnxsmith.graphs.model import Model
from onnxsmith.tracing.trace import trace

#: Given the step, for its attributes, and its inputs (None where one is left out), the outputs.
Definition: TypeAlias = "Callable[..., Tensor | Sequence[Tensor]]"
#: Records a call in a form that keeps something in its step; None where the operator itself is recorded.
Kept: TypeAlias = "Callable[[Step], tuple[Value, ...] | None]"
#: The way back of such a call.
Back: TypeAlias = "Callable[[Step, Sequence[Value | None]], Cotangents]"
F = TypeVar("F", bound=Definition)


def defined(*names: str, kept: Kept | None = None, way_back: Back | None = None) -> Callable[[F], F]:
    """Enter a function as what these operators compute.

    It is called with the step and the operator's inputs, and returns its outputs. Of the step it may ask for attributes
    and for what inputs are known to hold, but not for inputs: those that it is given are others.

    Calls that `kept` records in another form on the way forward are gone back over by `way_back`.
    """

    def enter(function: F) -> F:
        def back(step: Step, *gs: Value | None) -> Cotangents:
            if step.kept is not None and way_back is not None:
                return way_back(step, gs)
            return _through(function, step, gs)

        for name in names:
            rule(name, kept=kept)(back)
        return function

    return enter


def _through(function: Definition, step: Step, gs: Sequence[Value | None]) -> Cotangents:
    target = current_graph()
    assert isinstance(target, GradientTarget)  # who goes back has made it one
    model = _recorded(function, step, target.operators.version)
    replay = Replay(model.ir, is_backward=True)
    frame = Frame(called=step.node)
    given: dict[int, Value] = {}
    present = [k for k in range(len(step.inputs)) if step.has(k)]
    for value, k in zip(model.ir.graph.inputs, present, strict=True):
        # One that is given twice is two inputs.
        given[k] = frame.values[value] = op.Identity(step.inputs[k]) if step.active[k] else step.input(k)
    replay = replay.inside((value for k, value in given.items() if step.active[k]), is_backward=True)
    outputs = replay.graph(model.ir.graph, frame)
    target.origin.set(step.node, is_backward=True)
    reverse = Reverse(target, replay.steps, f"a result of {step.name}")
    for output, g in zip(outputs, gs, strict=False):
        if g is not None:
            reverse.seed(output, g)
    reverse.run()
    return [reverse.of(given[k]) if k in given else None for k in range(len(step.inputs))]


def _recorded(function: Definition, step: Step, version: int) -> Model:
    """The computation of an operator, as a model on the inputs that are given."""
    present = [k for k in range(len(step.inputs)) if step.has(k)]
    kinds: list[Any] = [step.input(k).type for k in present]

    def call(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
        inputs: list[Tensor | None] = [None] * max(len(step.inputs), len(step.definition.inputs))
        for k, tensor in zip(present, tensors, strict=True):
            inputs[k] = tensor
        made = function(step, *inputs)
        return made if isinstance(made, Tensor) else tuple(made)

    return trace(call, *kinds, opset_version=version)
