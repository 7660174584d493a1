"""Schedules: the learning rate of each step.

A rate is an input of the step of training, so that one compiled step serves a whole schedule. A schedule is a function
of the number of the step, from 0 on, and of how many steps there are; `plateau` looks at what is measured as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeTypeError, AttributeValueError, boundary
from onnxsmith.errors.arguments import check_counts, check_numbers
from onnxsmith.errors.wrong_kinds import Given

#: The rate of a step, by its number and by the number of all steps.
RateOfStep: TypeAlias = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A learning rate that changes; the functions of `onnxsmith.training.schedules` make one.

    >>> from onnxsmith.training.schedules import exponential
    >>> exponential(0.1, 0.5).rates(3)
    [0.1, 0.05, 0.025]
    """

    rate: RateOfStep
    #: True if it has to know how many steps there are.
    needs_total: bool = False
    #: What follows what is measured at the end of an epoch, beside the rate.
    plateau: Plateau | None = None

    def rates(self, steps: int) -> list[float]:
        """The rates of so many steps."""
        return [self.rate(each, steps) for each in range(steps)]


@dataclass(frozen=True, slots=True)
class Plateau:
    """When a rate is lowered by what is measured."""

    monitor: str
    factor: float
    patience: int
    smallest: float
    least: float


#: A learning rate: a number, a schedule, a function of the number of the step, or None for an input of each step.
Rate: TypeAlias = float | Schedule | Callable[[int], float] | None


def read_rate(lr: Rate) -> tuple[float | None, Schedule | None]:
    """A rate as a number that stands in the step, and a schedule."""
    if isinstance(lr, Schedule):
        return None, lr
    if callable(lr):
        return None, Schedule(lambda step, total: float(lr(step)))
    check_numbers(lr=lr)
    return (None if lr is None else float(lr)), None


@boundary
def constant(lr: float, *, warmup: int = 0) -> Schedule:
    """The same rate in every step, after a warm-up of so many steps in which it grows to it.

    >>> from onnxsmith.training.schedules import constant
    >>> constant(1.0, warmup=2).rates(4)
    [0.5, 1.0, 1.0, 1.0]
    """
    start = _first("lr", lr)
    return Schedule(_warmed(lambda step, total: start, warmup))


@boundary
def step(lr: float, every: int, factor: float = 0.1, *, warmup: int = 0) -> Schedule:
    """The rate times `factor` after each `every` steps, as torch's StepLR has it.

    >>> from onnxsmith.training.schedules import step
    >>> step(1.0, every=2, factor=0.5).rates(5)
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """
    start = _first("lr", lr)
    check_counts(every=every)
    check_numbers(factor=factor)
    return Schedule(_warmed(lambda step, total: start * factor ** (step // every), warmup))


@boundary
def exponential(lr: float, factor: float, *, warmup: int = 0) -> Schedule:
    """The rate times `factor` after each step.

    >>> from onnxsmith.training.schedules import exponential
    >>> exponential(1.0, 0.5).rates(3)
    [1.0, 0.5, 0.25]
    """
    start = _first("lr", lr)
    check_numbers(factor=factor)
    return Schedule(_warmed(lambda step, total: start * factor**step, warmup))


@boundary
def cosine(lr: float, *, warmup: int = 0, steps: int | None = None, end: float = 0.0) -> Schedule:
    """Half a wave from the rate down to `end`, over `steps` or over all steps, after a warm-up.

    >>> from onnxsmith.training.schedules import cosine
    >>> [round(each, 3) for each in cosine(1.0).rates(4)]
    [1.0, 0.854, 0.5, 0.146]
    """
    start = _first("lr", lr)
    check_numbers(end=end)
    check_counts(steps=steps)

    def rate(step: int, total: int) -> float:
        share = min(step / max(_length(steps, total, warmup), 1), 1.0)
        return end + (start - end) * (1.0 + math.cos(math.pi * share)) / 2.0

    return Schedule(_warmed(rate, warmup), needs_total=steps is None)


@boundary
def polynomial(
    lr: float, power: float = 1.0, *, warmup: int = 0, steps: int | None = None, end: float = 0.0
) -> Schedule:
    """A power of what is left of `steps`, or of all steps, from the rate down to `end`; with 1 it falls in a line.

    >>> from onnxsmith.training.schedules import polynomial
    >>> polynomial(1.0).rates(4)
    [1.0, 0.75, 0.5, 0.25]
    """
    start = _first("lr", lr)
    check_numbers(power=power, end=end)
    check_counts(steps=steps)

    def rate(step: int, total: int) -> float:
        share = min(step / max(_length(steps, total, warmup), 1), 1.0)
        return end + (start - end) * (1.0 - share) ** power

    return Schedule(_warmed(rate, warmup), needs_total=steps is None)


@boundary
def one_cycle(
    lr: float,
    *,
    steps: int | None = None,
    rising: float = 0.3,
    start_factor: float = 25.0,
    end_factor: float = 1e4,
) -> Schedule:
    """Up to the rate in the first part of the steps and down again, in cosines, as torch's OneCycleLR has it.

    It begins at the rate by `start_factor`, and ends at that by `end_factor`.

    >>> from onnxsmith.training.schedules import one_cycle
    >>> [round(each, 3) for each in one_cycle(1.0).rates(5)]
    [0.04, 0.95, 0.611, 0.188, 0.0]
    """
    top = _first("lr", lr)
    check_numbers(rising=rising, start_factor=start_factor, end_factor=end_factor)
    check_counts(steps=steps)
    if not (0.0 < rising < 1.0 and start_factor and end_factor):
        raise AttributeValueError(
            "rising is a share of the steps between 0 and 1, and the factors are no zeros", culprit="rising"
        )
    first = top / start_factor
    last = first / end_factor

    def rate(step: int, total: int) -> float:
        length = total if steps is None else steps
        peak = rising * length - 1.0
        if step <= peak:
            return _between(first, top, step / peak)
        return _between(top, last, min((step - peak) / max(length - 1.0 - peak, 1e-12), 1.0))

    return Schedule(rate, needs_total=steps is None)


@boundary
def plateau(
    lr: float,
    *,
    monitor: str = "val_loss",
    factor: float = 0.1,
    patience: int = 10,
    smallest: float = 0.0,
    min_delta: float = 1e-4,
) -> Schedule:
    """The rate times `factor` when what is measured has not fallen for more than `patience` epochs.

    As torch's ReduceLROnPlateau has it: it has fallen if it is less than the best by the part `min_delta` of it.
    `monitor` is a name of the history; without data for validation "val_loss" is the loss of training.

    >>> from onnxsmith.training.schedules import plateau
    >>> plateau(0.1, patience=2).rates(2)
    [0.1, 0.1]
    """
    start = _first("lr", lr)
    check_numbers(factor=factor, smallest=smallest, min_delta=min_delta, patience=patience)
    if factor >= 1.0:
        raise AttributeValueError(
            f"factor makes the rate less, and is below 1, not {factor!r}", culprit="factor"
        )
    followed = Plateau(monitor, float(factor), int(patience), float(smallest), float(min_delta))
    return Schedule(lambda step, total: start, plateau=followed)


@boundary
def piecewise(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """One schedule after the other: each counts its own steps, and the next begins at a boundary.

    >>> from onnxsmith.training.schedules import constant, exponential, piecewise
    >>> piecewise([constant(1.0), exponential(0.5, 0.5)], [2]).rates(4)
    [1.0, 1.0, 0.5, 0.25]
    """
    parts, ends = list(schedules), list(boundaries)
    for each in parts:
        if not isinstance(each, Schedule):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
            raise AttributeTypeError(f"schedules are schedules, not {described_type(type(each))}")
    if len(ends) != len(parts) - 1 or sorted(ends) != ends:
        raise AttributeValueError(
            f"{len(parts)} schedules have {len(parts) - 1} boundaries, in order, and these are {ends!r}",
            culprit="boundaries",
        )

    def rate(step: int, total: int) -> float:
        part = sum(step >= each for each in ends)
        begin = ends[part - 1] if part else 0
        end = ends[part] if part < len(ends) else total
        return parts[part].rate(step - begin, end - begin)

    return Schedule(rate, needs_total=parts[-1].needs_total)


def _first(name: Literal["lr"], lr: Given) -> float:
    if lr is None:
        raise AttributeTypeError("a schedule begins with a rate, a number", culprit=name)
    check_numbers(**{name: lr})
    return float(cast(float, lr))


def _length(steps: int | None, total: int, warmup: int) -> int:
    return (total if steps is None else steps) - warmup


def _between(first: float, last: float, share: float) -> float:
    return last + (first - last) * (1.0 + math.cos(math.pi * share)) / 2.0


def _warmed(rate: RateOfStep, warmup: int) -> RateOfStep:
    """A schedule behind steps in which the rate grows in a line to its first value."""
    check_numbers(warmup=warmup)
    if not warmup:
        return rate
    return lambda step, total: (
        rate(0, total) * (step + 1) / warmup if step < warmup else rate(step - warmup, total)
    )


__all__ = [
    "Schedule",
    "constant",
    "cosine",
    "exponential",
    "one_cycle",
    "piecewise",
    "plateau",
    "polynomial",
    "step",
]


def __dir__() -> list[str]:
    return list(__all__)
