"""Python's `min` and `max` of sizes and numbers of numpy's: what is chosen goes on with numpy's arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import onnxsmith.numpy as xp

CASES: dict[str, Callable[[Any], Any]] = {
    "halved": lambda x: max(np.int64(2), len(x)) / 2,
    "size first": lambda x: min(len(x), np.int64(5)) / 2,
    "less an element": lambda x: max(np.int64(2), len(x)) - x[0],
    "a divisor": lambda x: np.sum(x) / max(np.int64(1), len(x) - 1),
    "of floats": lambda x: max(np.float64(1.5), len(x)) * 0.5,
    "in a list": lambda x: max([len(x), np.int64(7)]) // 2,
}


@pytest.mark.parametrize("size", [1, 3, 9])
@pytest.mark.parametrize("name", CASES)
def test_a_size_and_a_number_of_numpys(name: str, size: int) -> None:
    function, x = CASES[name], np.arange(1, size + 1)
    wanted, given = function(x), xp.jit(function)(x)
    assert_array_equal(given, wanted)
    assert np.asarray(given).dtype == np.asarray(wanted).dtype
