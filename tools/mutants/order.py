"""A plugin of pytest: runs the tests of a run in an order that a seed draws."""

from __future__ import annotations

import os
import random

import pytest

#: The variable that holds the seed.
SEED = "TEST_ORDER_SEED"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle what was collected."""
    random.Random(os.environ[SEED]).shuffle(items)
