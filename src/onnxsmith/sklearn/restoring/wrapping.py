"""Models as estimators: `OnnxTransformer` and `OnnxPredictor`, for steps that are not made again of their class."""

from __future__ import annotations

from typing import Self

from sklearn.base import TransformerMixin  # pyright: ignore[reportMissingTypeStubs]

from onnxsmith.graphs.model import ModelLike
from onnxsmith.sklearn.of_model import OfModel
from onnxsmith.sklearn.rows import Elements, Rows


class _Fitted(OfModel):
    """An estimator that is a model: there is nothing to fit."""

    def __init__(self, model: ModelLike | None = None) -> None:
        self.model = model

    def fit(self, X: Rows, y: Rows | None = None) -> Self:
        """Nothing is left to fit: itself."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self.model is not None

    def _result(self, X: Rows, name: str, method: str) -> Elements:
        self.model = self._given_model()  # a file is read once
        return self._output(self.model, X, name, method)


class OnnxTransformer(TransformerMixin, _Fitted):
    """A transformer that runs a model.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0]])
    >>> model = onnxsmith.sklearn.convert(StandardScaler().fit(X), X)
    >>> onnxsmith.sklearn.OnnxTransformer(model).transform(X)
    array([[-1., -1.],
           [ 1.,  1.]])
    """

    def transform(self, X: Rows) -> Elements:
        """The outputs of the model for rows."""
        return self._result(X, "transformed", "transform")


class OnnxPredictor(_Fitted):
    """A predictor that runs a model; it has the methods that the model has outputs for.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X)
    >>> onnxsmith.sklearn.OnnxPredictor(model).predict(X)
    array([0, 0, 1, 1], dtype=int64)
    """

    def predict(self, X: Rows) -> Elements:
        """Labels or numbers."""
        return self._result(X, "prediction", "predict")

    def predict_proba(self, X: Rows) -> Elements:
        """Probabilities of all classes."""
        return self._result(X, "probabilities", "predict_proba")

    def predict_log_proba(self, X: Rows) -> Elements:
        """Their logarithms."""
        return self._result(X, "log_probabilities", "predict_log_proba")

    def decision_function(self, X: Rows) -> Elements:
        """Scores."""
        return self._result(X, "scores", "decision_function")
