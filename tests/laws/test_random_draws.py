"""Operators that draw: the same type, shape, support and moments on every road, and one meaning of `seed`."""

from __future__ import annotations

import numpy as np
import pytest

from tests.laws.contexts import Inexpressible
from tests.laws.random_draws import DRAWN, Drawn
from tests.laws.roads import ROADS

NAMES = [f"{each.name}-{k}" for k, each in enumerate(DRAWN)]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("drawn", DRAWN, ids=NAMES)
def test_what_is_drawn(drawn: Drawn, road: str) -> None:
    for seed in (None, 7):
        value = ROADS[road](drawn.case(seed))[0]
        assert drawn.objection(np.asarray(value)) is None


@pytest.mark.parametrize("drawn", DRAWN, ids=NAMES)
def test_a_seed_means_the_same_on_every_road(drawn: Drawn) -> None:
    """What a node with a seed draws is a matter of the seed, the shape and the distribution alone, whoever runs it."""
    case = drawn.case(7)
    first = np.asarray(ROADS["eager"](case)[0])
    for road, run in ROADS.items():
        for _ in range(2):
            try:
                again = np.asarray(run(case)[0])
            except Inexpressible:
                break
            np.testing.assert_array_equal(again, first, err_msg=road)


@pytest.mark.parametrize("drawn", [each for each in DRAWN if each.deviation], ids=lambda each: each.name)
def test_without_a_seed_every_run_draws_anew(drawn: Drawn) -> None:
    for road, run in ROADS.items():
        if road.startswith("bare"):
            continue  # sessions of a process without us: ONNX Runtime gives all of them the same numbers
        first, second = (np.asarray(run(drawn.case(None))[0]) for _ in range(2))
        assert not np.array_equal(first, second)
