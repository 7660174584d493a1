"""KNNImputer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.impute import KNNImputer

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(60, 4))
_ROWS[_RANDOM.random(_ROWS.shape) < 0.2] = np.nan
_ASKED = _RANDOM.normal(size=(41, 4))
_ASKED[_RANDOM.random(_ASKED.shape) < 0.3] = np.nan
_ASKED[3] = np.nan


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_the_nearest_rows_fill_what_is_missing(weights: Any):
    estimator = KNNImputer(weights=weights).fit(_ROWS)
    np.testing.assert_allclose(convert(estimator, _ASKED)(_ASKED), estimator.transform(_ASKED), rtol=1e-9)


def test_float32_stays():
    rows = _ASKED.astype(np.float32)
    estimator = KNNImputer().fit(_ROWS.astype(np.float32))
    found = convert(estimator, rows)(rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, estimator.transform(rows), rtol=1e-5)


@pytest.mark.parametrize("keeps", [False, True])
def test_a_column_that_was_never_there(keeps: bool):
    rows = _ROWS.copy()
    rows[:, 1] = np.nan
    estimator = KNNImputer(keep_empty_features=keeps).fit(rows)
    np.testing.assert_allclose(convert(estimator, _ASKED)(_ASKED), estimator.transform(_ASKED), rtol=1e-9)


def test_another_sign_of_what_is_missing():
    rows = np.nan_to_num(_ROWS, nan=-1.0)
    estimator = KNNImputer(missing_values=-1.0).fit(rows)
    asked = np.nan_to_num(_ASKED[:3], nan=-1.0)
    np.testing.assert_allclose(convert(estimator, asked)(asked), estimator.transform(asked), rtol=1e-9)
