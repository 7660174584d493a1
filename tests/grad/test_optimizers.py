"""Optimizers, step by step, against torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from onnxsmith.errors import AttributeTypeError, AttributeValueError  # noqa: E402  # torch may be missing
from onnxsmith.grad import adam, optimizers, sgd  # noqa: E402
from tests.algorithms.running import computed  # noqa: E402

WEIGHT = np.array([1.0, -2.0, 0.5])
SLOPES = [np.array([0.5, -1.0, 2.0]), np.array([-0.25, 3.0, 0.0]), np.array([1.0, 1.0, -1.0])]
CASES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "sgd": (sgd(0.1), lambda w: torch.optim.SGD(w, 0.1)),
    "decay": (sgd(0.1, weight_decay=0.2), lambda w: torch.optim.SGD(w, 0.1, weight_decay=0.2)),
    "momentum": (sgd(0.1, momentum=0.9), lambda w: torch.optim.SGD(w, 0.1, momentum=0.9)),
    "nesterov": (
        sgd(0.1, momentum=0.5, nesterov=True, weight_decay=0.1),
        lambda w: torch.optim.SGD(w, 0.1, momentum=0.5, nesterov=True, weight_decay=0.1),
    ),
    "adam": (adam(0.1), lambda w: torch.optim.Adam(w, 0.1)),
    "adam, all": (
        adam(0.1, betas=(0.7, 0.95), eps=1e-3, weight_decay=0.2),
        lambda w: torch.optim.Adam(w, 0.1, (0.7, 0.95), 1e-3, weight_decay=0.2),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_steps_are_those_of_torch(name: str) -> None:
    ours, make = CASES[name]
    held = torch.nn.Parameter(torch.tensor(WEIGHT))
    theirs = make([held])
    weight, kept = WEIGHT, [np.zeros(3) for _ in ours.slots]
    for count, slope in enumerate(SLOPES, 1):
        held.grad = torch.tensor(slope)
        theirs.step()

        def step(weight: Any, slope: Any, number: Any, *kept: Any) -> Any:
            made, left = ours.update(weight, slope, ours.lr, number, kept)
            return [made, *left]

        weight, *kept = computed(step, weight, slope, np.int64(count), *kept)
        np.testing.assert_allclose(weight, held.detach().numpy(), rtol=1e-9)
    assert ours.lr == 0.1
    assert ours.counts == (name.startswith("adam"))


def test_refused() -> None:
    with pytest.raises(AttributeValueError, match="looks ahead by a momentum"):
        sgd(0.1, nesterov=True)
    for betas in ((0.9,), 0.9):
        wrong: Any = betas
        with pytest.raises(AttributeTypeError, match="betas are two numbers"):
            adam(0.1, betas=wrong)
    assert optimizers.sgd(None).lr is None
