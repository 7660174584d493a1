"""Kernel ridge and Nystroem's approximation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(50, 4))
_KERNELS = ["linear", "rbf", "poly", "polynomial", "sigmoid", "laplacian", "cosine"]


@pytest.mark.filterwarnings("ignore:Singular matrix")
@pytest.mark.parametrize("kernel", _KERNELS)
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_ridge(kernel: Any, gamma: Any):
    estimator = KernelRidge(alpha=2.0, kernel=kernel, gamma=gamma).fit(_ROWS, _ROWS[:, :2])
    found = convert(estimator, _ROWS)(_ROWS)
    np.testing.assert_allclose(found, estimator.predict(_ROWS), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kernel", _KERNELS)
def test_nystroem(kernel: Any):
    estimator = Nystroem(kernel, n_components=8, random_state=0).fit(_ROWS)
    found = convert(estimator, _ROWS)(_ROWS)
    np.testing.assert_allclose(found, estimator.transform(_ROWS), rtol=1e-7, atol=1e-9)
