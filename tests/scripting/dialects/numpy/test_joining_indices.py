"""`np.r_` and `np.c_` in numpy code join what they are given as numpy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import AttributeValueError
from tests.numpy.same_results import difference

CASES: list[Callable[[Any], Any]] = [
    lambda x: np.r_[x, x],
    lambda x: np.r_[0, x, len(x)],
    lambda x: np.r_[0.5, x[:1], x.sum()],
    lambda x: np.r_[1 : len(x) + 1, x],
    lambda x: np.r_[0:1:5j, x],
    lambda x: np.r_[x],
    lambda x: np.c_[x, x * 2],
    lambda x: np.c_[np.c_[x, x], x],
    lambda x: np.r_[np.c_[x, x], np.c_[x, x]],
    lambda x: np.r_[np.arange(3), 7] + x.sum(),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("function", CASES)
def test_it_joins_as_numpy_does(function: Callable[[Any], Any], dtype: Any):
    fast = xp.jit(function)
    for size in (0, 1, 4):
        x = np.arange(size).astype(dtype)
        assert difference(function(x), fast(x), 1e-6) is None


def test_directions_in_words_are_refused():
    with pytest.raises(AttributeValueError, match=r"np\.r_\['0,2', …\]"):
        xp.jit(lambda x: np.r_["0,2", x, x])(np.ones(3))
