"""Padding against numpy, and cropping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import padding
from tests.algorithms.running import computed

X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize(("before", "after"), [((1, 2), (0, 3)), ((2, 0), (2, 0)), ((0, 0), (0, 0))])
def test_around(mode: Any, before: Any, after: Any):
    (found,) = computed(lambda x: padding.padded(x, before, after, mode), X)
    np.testing.assert_array_equal(found, np.pad(X, list(zip(before, after, strict=True)), mode=mode))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_negative_amounts_crop(mode: Any):
    (found,) = computed(lambda x: padding.padded(x, [-1, 1], [0, -2], mode), X)
    whole = np.pad(X, [(0, 0), (1, 0)], mode=mode)
    assert found.shape == (2, 3)
    if mode != "wrap":  # which comes round from what is left
        np.testing.assert_array_equal(found, whole[1:, :3])


def test_a_value():
    (found,) = computed(lambda x: padding.padded(x, [1, 0], [0, 1], value=7), X.astype(np.int64))
    np.testing.assert_array_equal(found, np.pad(X.astype(np.int64), [(1, 0), (0, 1)], constant_values=7))
