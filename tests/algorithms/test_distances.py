"""Distances between rows against numpy's norms."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.algorithms import distances
from tests.algorithms.running import computed

X = np.random.default_rng(0).normal(size=(5, 3))
Y = np.random.default_rng(1).normal(size=(4, 3))


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, np.inf])
def test_distances(p: float):
    apart = X[:, None] - Y[None]
    (found,) = computed(lambda x, y: distances.between(x, y, p), X, Y, tolerance=1e-12)
    np.testing.assert_allclose(found, np.linalg.norm(apart, p, axis=-1), 1e-12)
    (found,) = computed(lambda x: distances.among(x, p), X, tolerance=1e-12)
    wanted = np.linalg.norm(X[:, None] - X[None], p, axis=-1)
    np.testing.assert_allclose(found, wanted[np.triu_indices(5, 1)], 1e-12)
