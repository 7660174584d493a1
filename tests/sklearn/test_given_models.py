"""The functions of models that came from estimators take them in every form."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import onnxsmith
from onnxsmith.graphs.model import Model
from onnxsmith.sklearn import OnnxPredictor, discrepancies, from_onnx, signature

X = np.arange(6.0).reshape(3, 2)
FITTED = LinearRegression().fit(X, [0.0, 1.0, 2.0])

FORMS: dict[str, Callable[[Model, Path], Any]] = {
    "path": lambda model, path: path,
    "bytes": lambda model, path: path.read_bytes(),
    "file in memory": lambda model, path: io.BytesIO(path.read_bytes()),
    "ModelProto": lambda model, path: model.proto,
    "onnx-ir": lambda model, path: model.ir,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_converted_model_in_every_form(form: str, tmp_path: Path) -> None:
    model = onnxsmith.sklearn.convert(FITTED, X)
    model.save(tmp_path / "m.onnx")

    def given() -> Any:
        return FORMS[form](model, tmp_path / "m.onnx")

    assert discrepancies(FITTED, given(), X) == []
    assert signature(given()) == signature(model)
    np.testing.assert_allclose(from_onnx(given()).predict(X), FITTED.predict(X), rtol=1e-5)
    predictor = OnnxPredictor(given())
    np.testing.assert_allclose(predictor.predict(X), model.predict(X))
    np.testing.assert_allclose(predictor.predict(X), model.predict(X))  # the file is read once
