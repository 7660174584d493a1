"""The recorded road: code of the user's and of scikit-learn, as it is written, becomes part of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.linear_model import ElasticNet, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer, RobustScaler, StandardScaler

import onnxsmith
from onnxsmith.errors import UnconvertedStepError

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 3


class Clipped(TransformerMixin, BaseEstimator):
    """Numbers between the quantiles that it was fitted to."""

    def __init__(self, share: float = 0.1) -> None:
        self.share = share

    def fit(self, X: Any, y: Any = None) -> Clipped:
        self.low_, self.high_ = np.quantile(X, [self.share, 1 - self.share], axis=0)
        return self

    def transform(self, X: Any) -> Any:
        if X.shape[0] > 5:
            X = X + 0.0
        return np.clip(X, self.low_, self.high_)


class Shifted(StandardScaler):
    """What calls `super()`."""

    def transform(self, X: Any, copy: Any = None) -> Any:
        return super().transform(X) + 1.0


class Around(TransformerMixin, BaseEstimator):
    """What has another estimator inside."""

    def fit(self, X: Any, y: Any = None) -> Around:
        self.inner_ = StandardScaler().fit(X)
        return self

    def transform(self, X: Any) -> Any:
        return np.hstack([self.inner_.transform(X), X])


@pytest.mark.parametrize(
    "estimator",
    [
        RobustScaler(),
        PCA(2),
        # Writes to the columns of X what may be parts of it, and may be new.
        QuantileTransformer(n_quantiles=9, output_distribution="normal"),
        FunctionTransformer(np.log1p),
        FunctionTransformer(lambda x, k: x * k, kw_args={"k": 3.0}),
        Clipped(),
        Shifted(),
        Around(),
        make_pipeline(Clipped(), Around()),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("count", [1, 7, 25])
def test_a_transformer_is_recorded(estimator: Any, count: int) -> None:
    fitted = estimator.fit(np.abs(X))
    model = onnxsmith.sklearn.convert(fitted, np.abs(X))
    rows = np.abs(np.random.default_rng(count).normal(size=(count, 3)))
    np.testing.assert_allclose(model(rows), fitted.transform(rows), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("estimator", [ElasticNet(), RidgeClassifier()])
def test_a_predictor_is_recorded(estimator: Any) -> None:
    fitted = estimator.fit(X, Y)
    model = onnxsmith.sklearn.convert(fitted, X)
    assert model.roads[-1].road == "recorded"
    np.testing.assert_allclose(model(X), fitted.predict(X), rtol=1e-12)


def test_code_that_calls_super_takes_the_converter_of_the_base() -> None:
    model = onnxsmith.sklearn.convert(Shifted().fit(X), X)
    assert [(each.estimator.rpartition(".")[2], each.road) for each in model.roads] == [
        ("Shifted", "converter"),
        ("Shifted", "recorded"),
    ]


def test_what_cannot_be_recorded_is_refused_with_its_line_and_the_step() -> None:
    def written(x: Any) -> Any:
        return np.array([float(text) for text in " ".join(map(str, x[:, 0])).split()])

    fitted = make_pipeline(FunctionTransformer(written)).fit(X)
    with pytest.raises(
        UnconvertedStepError, match=r"^step 'functiontransformer', FunctionTransformer"
    ) as caught:
        onnxsmith.sklearn.convert(fitted, X)
    assert "in written" in str(caught.value)


def test_the_line_is_the_users_own_where_a_library_stops() -> None:
    def rolled(x: Any) -> Any:
        return pd.DataFrame(x).rolling(3).mean().to_numpy()

    with pytest.raises(UnconvertedStepError) as caught:
        onnxsmith.sklearn.convert(FunctionTransformer(rolled).fit(X), X)
    assert "return pd.DataFrame(x).rolling(3)" in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.span.function == "rolled"


def test_a_function_on_data_frames_is_told_to_take_an_array() -> None:
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])

    def on_arrays(x: Any) -> Any:  # as the help says it
        x = np.asarray(x)
        return np.column_stack([x, x[:, 0] + x[:, 1]])

    for on_frames in (
        lambda x: x.assign(d=x["a"] + x["b"]),
        lambda x: x[["a"]],
        lambda x: x.fillna(0.0),
    ):
        with pytest.raises(UnconvertedStepError, match="methods of data frames are not recorded") as caught:
            onnxsmith.sklearn.convert(FunctionTransformer(on_frames).fit(frame), frame)
        assert "the class" not in str(caught.value)
        with pytest.raises(UnconvertedStepError, match=r"columns of numbers: .*, \['a', 'b'\]"):
            onnxsmith.sklearn.convert(FunctionTransformer(on_frames).fit(frame), frame.assign(c="text"))
    fitted = FunctionTransformer(on_arrays).fit(frame)
    np.testing.assert_allclose(
        onnxsmith.sklearn.convert(fitted, frame).transform(frame), fitted.transform(frame)
    )


def test_a_class_says_itself_what_it_computes() -> None:
    class Own(TransformerMixin, BaseEstimator):
        def fit(self, X: Any, y: Any = None) -> Own:
            self.fitted_ = True
            return self

        def transform(self, X: Any) -> Any:
            return np.maximum(X, 0)

        def to_onnx(self, op: Any, x: Any) -> Any:
            return op.Relu(x)

    model = onnxsmith.sklearn.convert(make_pipeline(Own(), LogisticRegression()).fit(X, Y), X)
    assert model.roads[0].road == "to_onnx"
