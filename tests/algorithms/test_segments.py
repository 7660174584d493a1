"""Reductions of segments against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import segments
from onnxsmith.algorithms.values import size_of
from tests.algorithms.running import computed

X = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
LENGTHS = np.array([2, 1, 4])
FUNCTIONS = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_segments(name: Any):
    def function(x, lengths):
        return segments.reduced(x, segments.offsets_of(lengths), 0, size_of(lengths, 0), name)

    (found,) = computed(function, X, LENGTHS, tolerance=1e-6)
    wanted = [FUNCTIONS[name](part, axis=0) for part in np.split(X, np.cumsum(LENGTHS)[:-1])]
    np.testing.assert_allclose(found, wanted, 1e-5)


def test_a_segment_without_elements_has_the_initial_value():
    def function(x, lengths):
        return segments.reduced(x, segments.offsets_of(lengths), 0, size_of(lengths, 0), "sum", 5.0)

    (found,) = computed(function, X, np.array([7, 0]), tolerance=1e-6)
    np.testing.assert_array_equal(found[1], [5, 5, 5])
