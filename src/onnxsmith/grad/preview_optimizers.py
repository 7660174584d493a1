"""The optimisers of `ai.onnx.preview.training`, as ONNX describes them: `Adagrad`, `Adam`, `Momentum`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Step

#: Given the call, the rate and the count of updates, a weight, its gradient and what is kept: the next ones.
Update: TypeAlias = "Callable[[Step, Tensor, Tensor, Sequence[Tensor]], list[Tensor]]"


def optimized(step: Step) -> tuple[Tensor, ...]:
    """The outputs of a node: all weights, then all of each thing that is kept."""
    update, kinds = OPTIMIZERS[step.name]
    rate, count = step.input(0), step.input(1)
    given = [step.input(k) for k in range(2, len(step.inputs))]
    total = len(given) // kinds
    made: list[list[Tensor]] = []
    for k in range(total):
        own = given[k::total]
        made.append(update(step, op.Cast(rate, to=own[0].dtype), count, own))
    return tuple(each[place] for place in range(kinds - 1) for each in made)


def _regularised(step: Step, x: Tensor, g: Tensor) -> Tensor:
    coefficient = step.number("norm_coefficient")
    return g + x * coefficient if coefficient else g


def _adagrad(step: Step, rate: Tensor, count: Tensor, own: Sequence[Tensor]) -> list[Tensor]:
    x, g, h = own
    decay = step.number("decay_factor")
    if decay:
        rate = rate / (op.Cast(count, to=x.dtype) * decay + 1.0)
    g = _regularised(step, x, g)
    squares = h + g * g
    return [x - rate * g / (op.Sqrt(squares) + step.number("epsilon")), squares]


def _adam(step: Step, rate: Tensor, count: Tensor, own: Sequence[Tensor]) -> list[Tensor]:
    x, g, v, h = own
    alpha, beta = step.number("alpha"), step.number("beta")
    g = _regularised(step, x, g)
    mean = v * alpha + g * (1.0 - alpha)
    square = h * beta + g * g * (1.0 - beta)
    turns = op.Cast(count, to=x.dtype)
    first = 1.0 - op.Pow(op.Cast(alpha, to=x.dtype), turns)
    second = 1.0 - op.Pow(op.Cast(beta, to=x.dtype), turns)
    # The first update, number 0, has no correction: there it would divide zero by zero.
    length = op.Where(op.Greater(count, 0), rate * op.Sqrt(second) / first, rate)
    moved = x - length * (mean / (op.Sqrt(square) + step.number("epsilon")))
    after = step.number("norm_coefficient_post")
    return [moved * (1.0 - after) if after else moved, mean, square]


def _momentum(step: Step, rate: Tensor, count: Tensor, own: Sequence[Tensor]) -> list[Tensor]:
    x, g, v = own
    alpha, beta = step.number("alpha"), step.number("beta")
    g = _regularised(step, x, g)
    weight = op.Where(op.Greater(count, 0), op.Cast(beta, to=x.dtype), op.Cast(1.0, to=x.dtype))
    velocity = v * alpha + g * weight
    moved = g + velocity * alpha if step.text("mode") == "nesterov" else velocity
    return [x - rate * moved, velocity]


#: What an operator does, and how many tensors it takes for each weight.
OPTIMIZERS: dict[str, tuple[Update, int]] = {
    "Adagrad": (_adagrad, 3),
    "Adam": (_adam, 4),
    "Momentum": (_momentum, 3),
}
