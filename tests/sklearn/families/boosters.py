"""What the tests of LightGBM, XGBoost and CatBoost have in common: data, and one law for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import onnxsmith

RNG = np.random.default_rng(16)
X = RNG.normal(size=(160, 4))
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
ZEROS = np.where(RNG.random(X.shape) < 0.4, 0.0, X)
TWO = (X[:, 0] + X[:, 1] > 0).astype(np.int64)
THREE = np.digitize(X[:, 0] + X[:, 2], [-0.5, 0.5])
NUMBER = 2 * X[:, 0] + np.sin(X[:, 1])
SHARE = 1 / (1 + np.exp(-NUMBER))
POSITIVE = np.abs(NUMBER) + 0.1

#: What single precision leaves of a sigmoid or an exponential; sums themselves are equal.
SINGLE = 2.5e-7
DOUBLE = 1e-14


def rows_at(thresholds: Iterable[tuple[int, float]], like: Any = X) -> Any:
    """Rows with a number at, just below and just above each threshold, in double and in single precision."""
    made = []
    for k, (column, threshold) in enumerate(thresholds):
        for kind in (np.float64, np.float32):
            for side in (-np.inf, threshold, np.inf):
                row = like[k % len(like)].copy()
                row[column] = np.nextafter(kind(threshold), kind(side))
                made.append(row)
    return np.array(made)


def odd_rows() -> Any:
    """Rows with numbers that are missing, zero, nearly zero, or far away."""
    made = np.tile(X[:1], (10, 1))
    for k, value in enumerate([np.nan, 0.0, -0.0, 1e-40, -1e-40, 1e-35, 3e38, -3e38, 1e-30, 5.0]):
        made[k, : 1 + k % 4] = value
    return made


def check_agreement(
    estimator: Any, given: Any, thresholds: Sequence[tuple[int, float]] = (), *, allowed: float
) -> Any:
    """The law: what the model gives is what the estimator gives, on every kind of rows; labels without exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = onnxsmith.sklearn.convert(estimator, given)
        rows = [given]
        if isinstance(given, np.ndarray) and given.dtype.kind == "f" and given.shape[1] == X.shape[1]:
            rows += [HOLES, ZEROS, odd_rows(), RNG.normal(size=(500, X.shape[1]))]
            rows += [rows_at(thresholds)] if thresholds else []
        for each in rows:
            for method in ("predict", "predict_proba"):
                if not hasattr(estimator, method):
                    continue
                wanted, found = np.asarray(getattr(estimator, method)(each)), getattr(model, method)(each)
                assert found.shape == wanted.shape
                if wanted.dtype.kind == "f":
                    assert found.dtype == wanted.dtype
                    np.testing.assert_allclose(found, wanted, rtol=allowed, atol=allowed)
                else:
                    assert found.tolist() == wanted.tolist()
    return model
