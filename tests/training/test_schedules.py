"""Schedules against torch.optim.lr_scheduler, and their parts by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from onnxsmith.errors import AttributeTypeError, AttributeValueError  # noqa: E402  # torch may be missing
from onnxsmith.training import schedules  # noqa: E402

STEPS = 20
CASES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "constant": (schedules.constant(0.1), lambda o: torch.optim.lr_scheduler.ConstantLR(o, 1.0)),
    "step": (schedules.step(0.1, 3, 0.5), lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.5)),
    "exponential": (
        schedules.exponential(0.1, 0.9),
        lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9),
    ),
    "cosine": (
        schedules.cosine(0.1, end=0.01),
        lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, STEPS, 0.01),
    ),
    "polynomial": (
        schedules.polynomial(0.1, 2.0, steps=10),
        lambda o: torch.optim.lr_scheduler.PolynomialLR(o, 10, 2.0),
    ),
    "one cycle": (
        schedules.one_cycle(0.1),
        lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=STEPS, cycle_momentum=False),
    ),
    "one cycle, longer": (
        schedules.one_cycle(0.1, steps=25, rising=0.5, start_factor=10.0, end_factor=100.0),
        lambda o: torch.optim.lr_scheduler.OneCycleLR(
            o,
            0.1,
            total_steps=25,
            pct_start=0.5,
            div_factor=10.0,
            final_div_factor=100.0,
            cycle_momentum=False,
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:Detected call of")
def test_rates_are_those_of_torch(name: str) -> None:
    ours, make = CASES[name]
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 0.1)
    theirs, wanted = make(optimizer), []
    for _ in range(STEPS):
        wanted.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        theirs.step()
    np.testing.assert_allclose(ours.rates(STEPS), wanted, rtol=1e-9, atol=1e-15)


def test_a_warm_up_leads_to_the_first_rate() -> None:
    rates = schedules.cosine(1.0, warmup=4).rates(12)
    np.testing.assert_allclose(rates[:5], [0.25, 0.5, 0.75, 1.0, 1.0])
    np.testing.assert_allclose(rates[4:], schedules.cosine(1.0).rates(8))


def test_one_after_the_other() -> None:
    found = schedules.piecewise([schedules.constant(1.0), schedules.polynomial(2.0)], [2])
    assert found.needs_total
    np.testing.assert_allclose(found.rates(6), [1.0, 1.0, 2.0, 1.5, 1.0, 0.5])


def test_which_need_to_know_the_number_of_steps() -> None:
    assert schedules.cosine(0.1).needs_total
    assert not schedules.cosine(0.1, steps=5).needs_total
    assert not schedules.exponential(0.1, 0.9).needs_total


WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no rate": (lambda: schedules.constant(None), AttributeTypeError, "begins with a rate"),  # type: ignore[arg-type]
    "a negative rate": (lambda: schedules.cosine(-0.1), AttributeValueError, "lr is a number from 0 on"),
    "no step": (lambda: schedules.step(0.1, 0), AttributeValueError, "every is a whole number from 1 on"),
    "half a step": (lambda: schedules.step(0.1, 0.5), AttributeTypeError, "every is a whole number"),  # type: ignore[arg-type]
    "a share": (lambda: schedules.one_cycle(0.1, rising=1.5), AttributeValueError, "rising is a share"),
    "a factor": (lambda: schedules.plateau(0.1, factor=2.0), AttributeValueError, "is below 1"),
    "boundaries": (
        lambda: schedules.piecewise([schedules.constant(0.1)], [1]),
        AttributeValueError,
        "1 schedules have 0 boundaries",
    ),
    "no schedule": (
        lambda: schedules.piecewise([0.1], []),  # type: ignore[list-item]
        AttributeTypeError,
        "schedules are schedules",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    call, kind, words = WRONG[name]
    with pytest.raises(kind, match=words):
        call()
