"""`predict`, `predict_proba`, `decision_function` and `transform` of a model that came from scikit-learn.

They take what the pipeline took, such as a data frame with columns in any order, at once or batch by batch. They need
neither scikit-learn nor the library that the frame comes from: a model that is loaded from a file has them, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.errors import PipelineError
from onnxsmith.graphs.batches import Batches
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.sklearn.frames.signature import Signature, read_signature
from onnxsmith.sklearn.rows import Elements, Rows


@model_boundary
def signature(model: ModelLike) -> Signature:
    """The columns that a model takes, with their element types, and its outputs.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X)
    >>> onnxsmith.sklearn.signature(model).outputs
    (('predict', 'prediction'), ('predict_proba', 'probabilities'))
    """
    return read_signature(model_of(model, "signature"))


@model_boundary
def predict(model: Model, X: Rows) -> np.ndarray[Any, np.dtype[Any]]:
    """The predictions of the pipeline for the rows of `X`: a data frame, an array, or a list of texts.

    `X` may also be a parquet file, a table or dataset of Arrow, a `DataLoader`, or any iterator of these: the model
    runs on one batch after the other.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X)
    >>> model.predict(X)
    array([0, 0, 1, 1], dtype=int64)
    """
    return _result(model, "predict", X)


@model_boundary
def predict_proba(model: Model, X: Rows) -> np.ndarray[Any, np.dtype[Any]]:
    """The probability of each class for the rows of `X`.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X)
    >>> model.predict_proba(X).shape
    (4, 2)
    """
    return _result(model, "predict_proba", X)


@model_boundary
def decision_function(model: Model, X: Rows) -> np.ndarray[Any, np.dtype[Any]]:
    """The scores of the rows of `X`.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X, outputs="decision_function")
    >>> model.decision_function(X).shape
    (4,)
    """
    return _result(model, "decision_function", X)


@model_boundary
def transform(model: Model, X: Rows) -> np.ndarray[Any, np.dtype[Any]]:
    """The rows of `X`, transformed by the pipeline.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.array([[0.0], [2.0]])
    >>> model = onnxsmith.sklearn.convert(StandardScaler().fit(X), X)
    >>> model.transform(X)
    array([[-1.],
           [ 1.]])
    """
    return _result(model, "transform", X)


def _result(model: Model, method: str, data: Rows) -> np.ndarray[Any, np.dtype[Any]]:
    said = read_signature(model)
    outputs = dict(said.outputs)
    if method not in outputs:
        raise PipelineError(
            f"the model has no output for {method}, but for {', '.join(outputs) or 'nothing'}",
            help=f"convert(pipeline, X, outputs=[{method!r}])",
        )
    names = [each.name for each in model.outputs]
    place = names.index(outputs[method])
    found: list[Elements] = []
    for rows in Batches(data).pieces(said.names):
        results: Any = model(*said.feeds(rows))
        found.append(results if len(names) == 1 else results[place])
    if not found:
        raise PipelineError("X has no batches", help="give at least one, of no rows")
    return found[0] if len(found) == 1 else np.concatenate(found)
