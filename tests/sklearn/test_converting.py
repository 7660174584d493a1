"""`convert`: what a fitted estimator gives, its model gives."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.cluster import DBSCAN
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import onnxsmith
from onnxsmith.errors import PipelineError

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.array(["a", "b", "c"] * 4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pipeline_gives_labels(dtype: type) -> None:
    x = X.astype(dtype)
    fitted = make_pipeline(StandardScaler(), MinMaxScaler(), LogisticRegression()).fit(x, Y)
    model = onnxsmith.sklearn.convert(fitted, x, outputs=["predict", "decision_function"])
    label, scores = model(x[:5])
    assert label.tolist() == fitted.predict(x[:5]).tolist()
    np.testing.assert_allclose(scores, fitted.decision_function(x[:5]), rtol=1e-5)


def test_each_step_is_a_function_named_after_its_class() -> None:
    fitted = make_pipeline(StandardScaler(with_std=False), LinearRegression()).fit(X, X[:, 0])
    model = onnxsmith.sklearn.convert(fitted, X)
    assert [(node.domain, node.op_type) for node in model.proto.graph.node] == [
        ("onnxsmith.sklearn", "StandardScaler"),
        ("onnxsmith.sklearn", "LinearRegression"),
    ]
    [said] = [
        each.value for each in model.proto.graph.node[0].metadata_props if each.key == "onnxsmith.sklearn"
    ]
    read = json.loads(said)
    assert read["class"] == "sklearn.preprocessing.StandardScaler"
    assert read["parameters"] == {"copy": True, "with_mean": True, "with_std": False}
    assert [(each.path, each.road) for each in model.roads] == [
        ("standardscaler", "converter"),
        ("linearregression", "converter"),
        ("", "converter"),
    ]


def test_what_the_estimator_does_not_take_is_refused_in_its_words() -> None:
    with pytest.raises(PipelineError, match="StandardScaler itself does not take X: Expected 2D array"):
        onnxsmith.sklearn.convert(StandardScaler().fit(X), X[0])


def test_what_was_not_fitted_is_refused() -> None:
    with pytest.raises(PipelineError, match="the StandardScaler was not fitted"):
        onnxsmith.sklearn.convert(StandardScaler(), X)


def test_an_output_that_is_not_there_is_refused() -> None:
    with pytest.raises(PipelineError, match="the StandardScaler has no predict"):
        onnxsmith.sklearn.convert(StandardScaler().fit(X), X, outputs=["predict"])


def test_what_is_no_estimator_is_refused() -> None:
    with pytest.raises(PipelineError, match="convert needs a fitted estimator first, not int"):
        onnxsmith.sklearn.convert(3, X)  # type: ignore[arg-type]


def test_what_only_labels_the_rows_it_was_fitted_on_is_refused() -> None:
    with pytest.raises(PipelineError, match="the DBSCAN neither predicts nor transforms"):
        onnxsmith.sklearn.convert(DBSCAN().fit(X), X)
