"""Pipelines of the kinds that scikit-learn's gallery shows become models, and give what they gave."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import onnxsmith
from tests.sklearn.pipelines import PIPELINES, Case


def _rows(data: Any, rows: slice) -> Any:
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", PIPELINES, ids=lambda case: case.name)
def test_a_pipeline_becomes_a_model(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = case.made().fit(case.data, case.target)
    model = onnxsmith.sklearn.convert(fitted, case.data)
    for rows in (slice(0, 1), slice(3, 10), slice(None)):
        data = _rows(case.data, rows)
        wanted = fitted.predict(data)
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(model.predict(data), wanted, rtol=1e-9, atol=1e-9)
        else:
            assert model.predict(data).tolist() == wanted.tolist()
        if hasattr(fitted, "predict_proba"):
            found = model.predict_proba(data)
            np.testing.assert_allclose(found, fitted.predict_proba(data), rtol=1e-9, atol=1e-9)


def test_there_are_enough_of_them() -> None:
    assert len(PIPELINES) == 25
