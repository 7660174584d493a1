"""Models as estimators: `OnnxTransformer` and `OnnxPredictor`, for steps that are not made again of their class."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin  # pyright: ignore[reportMissingTypeStubs]

from onnxsmith.errors import PipelineError
from onnxsmith.graphs.model import ModelLike, model_of
from onnxsmith.sklearn.frames.signature import has_signature
from onnxsmith.sklearn.rows import Elements, Rows


class _OfModel(BaseEstimator):
    """An estimator that is a model: there is nothing to fit, and copies share the model."""

    def __init__(self, model: ModelLike | None = None) -> None:
        self.model = model

    def fit(self, X: Rows, y: Rows | None = None) -> Self:
        """Nothing is left to fit: itself."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self.model is not None

    def __sklearn_clone__(self) -> Self:
        return type(self)(self.model)

    def _output(self, X: Rows, name: str, method: str) -> Elements:
        if self.model is None:
            raise PipelineError(f"the {type(self).__name__} has no model", help="give it one: model=…")
        # Here: scikit-learn wants parameters to stay as they are given, and sets them later, too.
        model = self.model = model_of(self.model, type(self).__name__)
        names = [each.name for each in model.outputs]
        if name not in names:
            raise PipelineError(
                f"the model gives {', '.join(names)}, and no {name}",
                help="convert(pipeline, X, outputs=[…]) says which methods a model has",
            )
        if has_signature(model):
            return getattr(model, method)(X)  # which knows columns, and what is missing in them
        found = model(np.asarray(X))
        return found[names.index(name)] if len(names) > 1 else found


class OnnxTransformer(TransformerMixin, _OfModel):
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
        return self._output(X, "transformed", "transform")


class OnnxPredictor(_OfModel):
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
        return self._output(X, "prediction", "predict")

    def predict_proba(self, X: Rows) -> Elements:
        """Probabilities of all classes."""
        return self._output(X, "probabilities", "predict_proba")

    def predict_log_proba(self, X: Rows) -> Elements:
        """Their logarithms."""
        return self._output(X, "log_probabilities", "predict_log_proba")

    def decision_function(self, X: Rows) -> Elements:
        """Scores."""
        return self._output(X, "scores", "decision_function")
