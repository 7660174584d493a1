"""The last road: what skl2onnx makes is embedded, marked and verified. A module stands in for it."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onnxsmith
from onnxsmith import opset21 as op
from onnxsmith.errors import UnconvertedStepError, VerificationError
from onnxsmith.sklearn.calling import METADATA_KEY

X = np.random.default_rng(0).normal(size=(20, 3))


class _OfC:
    """Stands for code that no recording can read."""

    def __call__(self, x: Any) -> Any:
        return np.frombuffer(np.ascontiguousarray(np.asarray(x, np.float64).sum(axis=1)).tobytes())


class Sum(RegressorMixin, BaseEstimator):
    def fit(self, X: Any, y: Any = None) -> Sum:
        self.code_ = _OfC()
        return self

    def predict(self, X: Any) -> Any:
        return self.code_(X)


class Sign(ClassifierMixin, Sum):
    def fit(self, X: Any, y: Any = None) -> Sign:
        self.classes_ = np.array([0, 1])
        super().fit(X)
        return self

    def predict(self, X: Any) -> Any:
        return (self.code_(X) > 0).astype(np.int64)

    def predict_proba(self, X: Any) -> Any:
        share = 1 / (1 + np.exp(-self.code_(X)))
        return np.stack([1 - share, share], axis=1)


def _stand_in(monkeypatch: pytest.MonkeyPatch, *, error: float = 0.0, asked: list[Any] | None = None) -> None:
    """A module that makes models as skl2onnx does: numbers as a column, labels and probabilities as two outputs."""
    library, common = types.ModuleType("skl2onnx"), types.ModuleType("skl2onnx.common")
    kinds = types.ModuleType("skl2onnx.common.data_types")
    names = {"DoubleTensorType": onnxsmith.DOUBLE, "FloatTensorType": onnxsmith.FLOAT}
    for name, dtype in names.items():
        setattr(kinds, name, lambda shape, dtype=dtype: dtype["N", shape[1]])

    def convert_sklearn(model: Any, initial_types: Any, options: Any, target_opset: int) -> Any:
        ((name, kind),) = initial_types
        if asked is not None:
            asked.append((name, options, target_opset))
        if isinstance(model, Sign):

            def classes(x: Any) -> Any:
                total = op.ReduceSum(x, np.array([1]), keepdims=1)
                second = op.Sigmoid(total)
                label = op.Cast(op.Greater(op.Squeeze(total, np.array([1])), op.CastLike(0.0, x)), to=7)
                return label, op.Concat(op.Sub(op.CastLike(1.0, x), second), second, axis=1)

            return onnxsmith.trace(classes, kind, opset_version=21).proto
        if isinstance(model, Sum):
            return onnxsmith.trace(
                lambda x: op.Add(op.ReduceSum(x, np.array([1]), keepdims=1), op.CastLike(error, x)),
                kind,
                opset_version=21,
            ).proto
        raise RuntimeError(f"Unable to find a shape calculator for {type(model).__name__}.\nMore words.")

    library.convert_sklearn = convert_sklearn  # type: ignore[attr-defined]
    library.__max_supported_opset__ = 21  # type: ignore[attr-defined]
    for module in (library, common, kinds):
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_its_model_is_embedded_and_marked(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    asked: list[Any] = []
    _stand_in(monkeypatch, asked=asked)
    rows = X.astype(dtype)
    fitted = make_pipeline(StandardScaler(), Sum()).fit(rows, rows[:, 0])
    model = onnxsmith.sklearn.convert(fitted, rows)
    np.testing.assert_allclose(model.predict(rows), fitted.predict(rows), rtol=1e-4, atol=1e-6)
    assert asked == [("X", None, 21)]
    assert [each.road for each in model.roads if each.estimator.endswith(".Sum")] == ["skl2onnx"]
    notes = [note for node in model.proto.graph.node for note in node.metadata_props]
    said = [json.loads(each.value) for each in notes if each.key == METADATA_KEY]
    assert [each["road"] for each in said] == ["converter", "skl2onnx"]


def test_labels_and_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    _stand_in(monkeypatch, asked=asked)
    fitted = Sign().fit(X)
    model = onnxsmith.sklearn.convert(fitted, X)
    assert model.predict(X).tolist() == fitted.predict(X).tolist()
    np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X), rtol=1e-12)
    assert all(options == {id(fitted): {"zipmap": False}} for _, options, _ in asked)


def test_it_is_verified_like_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(monkeypatch, error=0.01)
    with pytest.raises(VerificationError, match=r"Sum.predict"):
        onnxsmith.sklearn.convert(Sum().fit(X), X)


class Unknown(RegressorMixin, BaseEstimator):
    def fit(self, X: Any, y: Any = None) -> Unknown:
        self.code_ = _OfC()
        return self

    def predict(self, X: Any) -> Any:
        return self.code_(X)


def test_what_it_refuses_is_refused_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(monkeypatch)
    with pytest.raises(
        UnconvertedStepError, match="skl2onnx: RuntimeError: Unable to find a shape calculator"
    ) as why:
        onnxsmith.sklearn.convert(Unknown().fit(X), X)
    assert "More words" not in str(why.value)


def test_without_it_nothing_is_said_of_it() -> None:
    with pytest.raises(UnconvertedStepError) as why:
        onnxsmith.sklearn.convert(Unknown().fit(X), X)
    # The place of the error is in this file, which has the word in its name.
    assert "skl2onnx" not in str(why.value).replace(Path(__file__).stem, "")


def test_a_pipeline_in_a_pipeline_takes_what_a_vectorizer_gives() -> None:
    texts, y = np.array(["a b", "b c c", "a", "c d"], object), [0, 1, 0, 1]
    inner = make_pipeline(TfidfTransformer(), LogisticRegression())
    fitted = make_pipeline(CountVectorizer(token_pattern=r"\w"), inner).fit(texts, y)
    model = onnxsmith.sklearn.convert(fitted, texts)
    np.testing.assert_allclose(model.predict_proba(texts), fitted.predict_proba(texts), rtol=1e-6)
