"""Optimisers: what becomes of a weight, given its gradient and what is kept from step to step.

One function for each, on tensors; all but `lion` compute what the class of torch.optim of the same name does. Which
weights an optimiser moves, and what is done to gradients before, is for `step` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import AttributeTypeError, AttributeValueError, boundary
from onnxsmith.errors.arguments import check_flags, check_numbers, check_share
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.training.schedules import Rate, Schedule, read_rate
from onnxsmith.types.dtypes import DType

#: Given a weight, its gradient, the learning rate, the number of the step and what is kept: the next weight, and that.
Update: TypeAlias = (
    "Callable[[Tensor, Tensor, Tensor | float, Tensor | None, Sequence[Tensor]], tuple[Tensor, list[Tensor]]]"
)


@dataclass(frozen=True, slots=True)
class Optimizer:
    """How weights are moved; `sgd`, `adam` and the other functions of `onnxsmith.training.optimizers` make one.

    >>> from onnxsmith.training import Optimizer, sgd
    >>> isinstance(sgd(0.1), Optimizer)
    True
    """

    #: None where it is an input of each step, as it is where a schedule says what it is.
    lr: float | None
    #: What is kept for each weight, of its shape unless it is in `single`; it starts at zero unless `starts` says more.
    slots: tuple[str, ...]
    #: Whether steps are counted.
    counts: bool
    update: Update
    #: The first values of slots that do not start at zero.
    starts: Mapping[str, float] = field(default_factory=dict[str, float])
    #: Slots of one number for a weight; they are float64.
    single: frozenset[str] = frozenset()
    #: How the rate changes from step to step, where it does.
    schedule: Schedule | None = None


@boundary
def sgd(
    lr: Rate,
    *,
    momentum: float = 0.0,
    dampening: float = 0.0,
    nesterov: bool = False,
    weight_decay: float = 0.0,
) -> Optimizer:
    """Steps against the gradient, of the length `lr`; None makes it an input of each step, a schedule changes it.

    `momentum` is how much of the last step is kept, and `dampening` how much of the gradient is not added to it;
    `nesterov` looks ahead by it. `weight_decay` times the weight is added to the gradient. All is as torch.optim.SGD
    has it.

    >>> from onnxsmith.training import sgd
    >>> sgd(0.1, momentum=0.9).slots
    ('momentum',)
    """
    check_numbers(momentum=momentum, dampening=dampening, weight_decay=weight_decay)
    # Numbers of Python's take the element types of weights; those of numpy's have one of their own.
    momentum, dampening, weight_decay = map(_plain, (momentum, dampening, weight_decay))
    check_flags(nesterov=nesterov)
    if nesterov and (not momentum or dampening):
        raise AttributeValueError(
            "nesterov looks ahead by a momentum, without dampening",
            help="sgd(0.1, momentum=0.9, nesterov=True)",
        )

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        g = _decayed(g, weight, weight_decay)
        if not momentum:
            return weight - g * rate, []
        added = g
        if dampening:  # the first gradient is taken whole
            assert step is not None  # it is counted
            added = op.Where(step == np.int64(1), g, g * (1.0 - dampening))
        velocity = kept[0] * momentum + added
        moved = g + velocity * momentum if nesterov else velocity
        return weight - moved * rate, [velocity]

    return _made(lr, ("momentum",) if momentum else (), bool(momentum and dampening), update)


@boundary
def adagrad(
    lr: Rate = 1e-2,
    *,
    lr_decay: float = 0.0,
    initial_accumulator_value: float = 0.0,
    eps: float = 1e-10,
    weight_decay: float = 0.0,
) -> Optimizer:
    """Steps that get shorter by the sum of the gradient's squares, as torch.optim.Adagrad has it.

    >>> from onnxsmith.training.optimizers import adagrad
    >>> adagrad().slots
    ('sum',)
    """
    check_numbers(
        lr_decay=lr_decay,
        initial_accumulator_value=initial_accumulator_value,
        eps=eps,
        weight_decay=weight_decay,
    )
    lr_decay, start, eps, weight_decay = map(_plain, (lr_decay, initial_accumulator_value, eps, weight_decay))

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        g = _decayed(g, weight, weight_decay)
        total = kept[0] + g * g
        if lr_decay:
            rate = rate / _like(weight, (_counted(step) - 1.0) * lr_decay + 1.0)
        return weight - g / (op.Sqrt(total) + eps) * rate, [total]

    return _made(lr, ("sum",), bool(lr_decay), update, {"sum": start} if start else {})


@boundary
def rmsprop(
    lr: Rate = 1e-2,
    *,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    centered: bool = False,
) -> Optimizer:
    """Steps in units of the mean square of the gradient, as torch.optim.RMSprop has it.

    `centered` takes the square of its mean away, so that the units are its standard deviation.

    >>> from onnxsmith.training.optimizers import rmsprop
    >>> rmsprop(momentum=0.9, centered=True).slots
    ('square', 'mean', 'momentum')
    """
    check_numbers(alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum)
    check_share("alpha", alpha)
    check_flags(centered=centered)
    alpha, eps, weight_decay, momentum = map(_plain, (alpha, eps, weight_decay, momentum))

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        g = _decayed(g, weight, weight_decay)
        square = kept[0] * alpha + g * g * (1.0 - alpha)
        after, spread = [square], square
        if centered:
            mean = _mixed(kept[1], g, alpha)
            after.append(mean)
            spread = square - mean * mean
        moved = g / (op.Sqrt(spread) + eps)
        if momentum:
            moved = kept[-1] * momentum + moved
            after.append(moved)
        return weight - moved * rate, after

    slots = ("square", *(["mean"] if centered else []), *(["momentum"] if momentum else []))
    return _made(lr, slots, False, update)


@boundary
def adam(
    lr: Rate,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    amsgrad: bool = False,
) -> Optimizer:
    """Steps by the means of the gradient and of its square, as torch.optim.Adam has it.

    With `amsgrad` it is the largest mean of the square so far.

    >>> from onnxsmith.training import adam
    >>> adam(1e-3).slots
    ('mean', 'square')
    """
    return _adam(lr, betas, eps, weight_decay, is_largest=amsgrad, is_decoupled=False)


@boundary
def adamw(
    lr: Rate = 1e-3,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    amsgrad: bool = False,
) -> Optimizer:
    """Adam whose weights shrink by `weight_decay` times the rate, apart from the gradient, as torch.optim.AdamW has it.

    >>> from onnxsmith.training.optimizers import adamw
    >>> adamw(amsgrad=True).slots
    ('mean', 'square', 'largest')
    """
    return _adam(lr, betas, eps, weight_decay, is_largest=amsgrad, is_decoupled=True)


def _adam(
    lr: Rate,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
    *,
    is_largest: bool,
    is_decoupled: bool,
) -> Optimizer:
    first, second = _betas(betas, "adam(1e-3, betas=(0.9, 0.999))")
    check_numbers(eps=eps, weight_decay=weight_decay)
    check_flags(amsgrad=is_largest)
    eps, weight_decay = _plain(eps), _plain(weight_decay)

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        weight, g = _shrunk(weight, g, rate, weight_decay, is_decoupled=is_decoupled)
        mean = _mixed(kept[0], g, first)
        square = kept[1] * second + g * g * (1.0 - second)
        after, spread = [mean, square], square
        if is_largest:
            spread = op.Max(kept[2], square)
            after.append(spread)
        root = _like(weight, op.Sqrt(_missing(second, step)))
        scale = rate / _like(weight, _missing(first, step))
        return weight - mean * scale / (op.Sqrt(spread) / root + eps), after

    return _made(lr, ("mean", "square", *(["largest"] if is_largest else [])), True, update)


@boundary
def nadam(
    lr: Rate = 2e-3,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum_decay: float = 4e-3,
    decoupled_weight_decay: bool = False,
) -> Optimizer:
    """Adam that looks ahead by its momentum, as torch.optim.NAdam has it.

    >>> from onnxsmith.training.optimizers import nadam
    >>> nadam().slots
    ('mean', 'square', 'product')
    """
    first, second = _betas(betas, "nadam(2e-3, betas=(0.9, 0.999))")
    check_numbers(eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
    check_flags(decoupled_weight_decay=decoupled_weight_decay)
    eps, weight_decay, momentum_decay = map(_plain, (eps, weight_decay, momentum_decay))
    factor = 0.96**momentum_decay

    def momentum_at(count: Tensor) -> Tensor:
        return (1.0 - op.Pow(np.float64(factor), count) * 0.5) * first

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        weight, g = _shrunk(weight, g, rate, weight_decay, is_decoupled=decoupled_weight_decay)
        count = _counted(step)
        now, ahead = momentum_at(count), momentum_at(count + 1.0)
        product = kept[2] * now
        mean = _mixed(kept[0], g, first)
        square = kept[1] * second + g * g * (1.0 - second)
        spread = op.Sqrt(square / _like(weight, _missing(second, step))) + eps
        of_slope = _like(weight, (1.0 - now) / (1.0 - product))
        of_mean = _like(weight, ahead / (1.0 - product * ahead))
        return weight - (g * of_slope + mean * of_mean) / spread * rate, [mean, square, product]

    return _made(lr, ("mean", "square", "product"), True, update, {"product": 1.0}, frozenset({"product"}))


@boundary
def radam(
    lr: Rate = 1e-3,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    decoupled_weight_decay: bool = False,
) -> Optimizer:
    """Adam that trusts the mean square only when it has seen enough of it, as torch.optim.RAdam has it.

    >>> from onnxsmith.training.optimizers import radam
    >>> radam().slots
    ('mean', 'square')
    """
    first, second = _betas(betas, "radam(1e-3, betas=(0.9, 0.999))")
    check_numbers(eps=eps, weight_decay=weight_decay)
    check_flags(decoupled_weight_decay=decoupled_weight_decay)
    eps, weight_decay = _plain(eps), _plain(weight_decay)
    limit = 2.0 / (1.0 - second) - 1.0

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        weight, g = _shrunk(weight, g, rate, weight_decay, is_decoupled=decoupled_weight_decay)
        mean = _mixed(kept[0], g, first)
        square = kept[1] * second + g * g * (1.0 - second)
        missing = _missing(second, step)
        # How many gradients the mean square amounts to; up to five its variance is not known.
        length = limit - _counted(step) * (1.0 - missing) * 2.0 / missing
        is_known = length > 5.0
        safe = op.Where(is_known, length, 6.0)
        part = (safe - 4.0) * (safe - 2.0) * limit / (safe * ((limit - 4.0) * (limit - 2.0)))
        scale = _like(weight, op.Sqrt(part * missing))
        unit = op.Where(is_known, scale / (op.Sqrt(square) + eps), 1.0)
        return weight - mean / _like(weight, _missing(first, step)) * unit * rate, [mean, square]

    return _made(lr, ("mean", "square"), True, update)


@boundary
def adamax(
    lr: Rate = 2e-3,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> Optimizer:
    """Adam in units of the largest gradient, which is forgotten bit by bit, as torch.optim.Adamax has it.

    >>> from onnxsmith.training.optimizers import adamax
    >>> adamax().slots
    ('mean', 'largest')
    """
    first, second = _betas(betas, "adamax(2e-3, betas=(0.9, 0.999))")
    check_numbers(eps=eps, weight_decay=weight_decay)
    eps, weight_decay = _plain(eps), _plain(weight_decay)

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        g = _decayed(g, weight, weight_decay)
        mean = _mixed(kept[0], g, first)
        largest = op.Max(kept[1] * second, op.Abs(g) + eps)
        return weight - mean / largest * (rate / _like(weight, _missing(first, step))), [mean, largest]

    return _made(lr, ("mean", "largest"), True, update)


@boundary
def lion(
    lr: Rate = 1e-4, *, betas: tuple[float, float] = (0.9, 0.99), weight_decay: float = 0.0
) -> Optimizer:
    """Steps of the same length in every direction, by the sign of a mean (Chen and others, 2023).

    >>> from onnxsmith.training.optimizers import lion
    >>> lion().slots
    ('mean',)
    """
    first, second = _betas(betas, "lion(1e-4, betas=(0.9, 0.99))")
    check_numbers(weight_decay=weight_decay)
    weight_decay = _plain(weight_decay)

    def update(
        weight: Tensor, g: Tensor, rate: Tensor | float, step: Tensor | None, kept: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        moved = _decayed(op.Sign(_mixed(kept[0], g, first)), weight, weight_decay)
        return weight - moved * rate, [_mixed(kept[0], g, second)]

    return _made(lr, ("mean",), False, update)


# -- what they share ---------------------------------------------------------------------------------------------


def _made(
    lr: Rate,
    slots: tuple[str, ...],
    counts: bool,
    update: Update,
    starts: Mapping[str, float] | None = None,
    single: frozenset[str] = frozenset(),
) -> Optimizer:
    rate, schedule = read_rate(lr)
    return Optimizer(rate, slots, counts, update, starts or {}, single, schedule)


def _plain(number: float | None) -> float:
    return float(number or 0.0)


def _betas(betas: Given, example: str) -> tuple[float, float]:
    if not isinstance(betas, tuple | list) or len(cast("Sequence[object]", betas)) != 2:
        raise AttributeTypeError(f"betas are two numbers, and not {betas!r}", help=example, culprit="betas")
    shares: list[float] = []
    for each in cast("Sequence[float]", betas):
        check_numbers(betas=each)
        check_share("betas", float(each))
        shares.append(float(each))
    return shares[0], shares[1]


def _decayed(g: Tensor, weight: Tensor, weight_decay: float) -> Tensor:
    return g + weight * weight_decay if weight_decay else g


def _shrunk(
    weight: Tensor, g: Tensor, rate: Tensor | float, weight_decay: float, *, is_decoupled: bool
) -> tuple[Tensor, Tensor]:
    """The weight and gradient after decay: of the weight itself, or as a part of the gradient."""
    if not is_decoupled:
        return weight, _decayed(g, weight, weight_decay)
    return weight * (1.0 - rate * weight_decay) if weight_decay else weight, g


def _mixed(mean: Tensor, new: Tensor, share: float) -> Tensor:
    """A mean that keeps a share of what it was."""
    return mean * share + new * (1.0 - share)


def _counted(step: Tensor | None) -> Tensor:
    """The number of the step, in float64: powers of 0.999 lose half their digits in float32."""
    assert step is not None  # it is counted
    return op.Cast(step, to=DType.DOUBLE)


def _missing(share: float, step: Tensor | None) -> Tensor:
    """The part that a mean which began at zero is short of after so many steps; float64."""
    return 1.0 - op.Pow(np.float64(share), _counted(step))


def _like(weight: Tensor, number: Tensor) -> Tensor:
    """A number in the element type of a weight."""
    return op.Cast(number, to=weight.dtype)


__all__ = [
    "Optimizer",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "lion",
    "nadam",
    "radam",
    "rmsprop",
    "sgd",
]


def __dir__() -> list[str]:
    return list(__all__)
