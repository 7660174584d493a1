"""Optimisers: what becomes of a weight, given its gradient and what is kept from step to step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import AttributeTypeError, AttributeValueError, boundary
from onnxsmith.grad.checks import check_flags, check_numbers, check_share
from onnxsmith.grad.operators import op

#: Given a weight, its gradient, the learning rate, the number of the step and what is kept: the next weight, and that.
Update: TypeAlias = (
    "Callable[[Tensor, Tensor, Tensor | float, Tensor | None, Sequence[Tensor]], tuple[Tensor, list[Tensor]]]"
)


@dataclass(frozen=True, slots=True)
class Optimizer:
    """How weights are moved; `sgd` and `adam` make one.

    >>> from onnxsmith.grad import Optimizer, sgd
    >>> isinstance(sgd(0.1), Optimizer)
    True
    """

    #: None where it is an input of each step.
    lr: float | None
    #: What is kept for each weight, of its shape; all of it starts at zero.
    slots: tuple[str, ...]
    #: Whether steps are counted.
    counts: bool
    update: Update


def _number(given: float | None) -> float | None:
    return None if given is None else float(given)


@boundary
def sgd(
    lr: float | None, *, momentum: float = 0.0, nesterov: bool = False, weight_decay: float = 0.0
) -> Optimizer:
    """Steps against the gradient, of the length `lr`; None makes it an input of each step.

    `momentum` is how much of the last step is kept; `nesterov` looks ahead by it. `weight_decay` times the weight is
    added to the gradient. All is as torch.optim.SGD has it.

    >>> from onnxsmith.grad import sgd
    >>> sgd(0.1, momentum=0.9).slots
    ('momentum',)
    """
    check_numbers(lr=lr, momentum=momentum, weight_decay=weight_decay)
    # Numbers of Python's take the element types of weights; those of numpy's have one of their own.
    momentum, weight_decay = float(momentum or 0.0), float(weight_decay or 0.0)
    check_flags(nesterov=nesterov)
    if nesterov and not momentum:
        raise AttributeValueError(
            "nesterov looks ahead by a momentum", help="sgd(0.1, momentum=0.9, nesterov=True)"
        )

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        if weight_decay:
            g = g + weight * weight_decay
        if not momentum:
            return weight - g * rate, []
        velocity = kept[0] * momentum + g
        moved = g + velocity * momentum if nesterov else velocity
        return weight - moved * rate, [velocity]

    return Optimizer(_number(lr), ("momentum",) if momentum else (), False, update)


@boundary
def adam(
    lr: float | None,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> Optimizer:
    """Steps by the means of the gradient and of its square, as torch.optim.Adam has it.

    >>> from onnxsmith.grad import adam
    >>> adam(1e-3).slots
    ('mean', 'square')
    """
    given = cast(object, betas)
    if not isinstance(given, tuple | list) or len(cast("Sequence[object]", given)) != 2:
        raise AttributeTypeError(
            f"betas are two numbers, and not {given!r}", help="adam(1e-3, betas=(0.9, 0.999))"
        )
    for each in betas:
        check_numbers(betas=each)
        check_share("betas", float(each))
    first, second = map(float, betas)
    check_numbers(lr=lr, eps=eps, weight_decay=weight_decay)
    eps, weight_decay = float(eps or 0.0), float(weight_decay or 0.0)

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        assert step is not None  # it is counted
        if weight_decay:
            g = g + weight * weight_decay
        mean = kept[0] * first + g * (1.0 - first)
        square = kept[1] * second + g * g * (1.0 - second)
        count = op.Cast(step, to=weight.dtype)
        corrected = (
            op.Sqrt(square / (1.0 - op.Pow(op.Cast(np.float64(second), to=weight.dtype), count))) + eps
        )
        scale = rate / (1.0 - op.Pow(op.Cast(np.float64(first), to=weight.dtype), count))
        return weight - mean * scale / corrected, [mean, square]

    return Optimizer(_number(lr), ("mean", "square"), True, update)


__all__ = [
    "Optimizer",
    "adam",
    "sgd",
]


def __dir__() -> list[str]:
    return list(__all__)
