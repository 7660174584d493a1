"""Networks from scripts and from torch: loss, all gradients and twenty steps of training are torch's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.grad.networks import (
    NETWORKS,
    Network,
    Trained,
    by_export,
    by_script,
    by_torch,
    differences,
    network,
)

TOLERANCE = 1e-4


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("road", [by_script, by_export])
def test_training_a_network_is_torchs(name: str, road: Callable[[Network], Trained]) -> None:
    given = network(name)
    wanted = by_torch(given)
    off = differences(road(given), wanted)
    assert max(off.values()) <= TOLERANCE, off
