"""`convert`: a fitted pipeline as a model that takes what the pipeline takes, and gives what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import PipelineError
from onnxsmith.graphs.model import Model
from onnxsmith.sklearn.calling import Road, call, roads
from onnxsmith.sklearn.library import of_sklearn
from onnxsmith.sklearn.values import Fitted, Part, array_of
from onnxsmith.tracing.trace import trace
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: What outputs are called, by method.
_OUTPUT_NAMES = {
    "predict": "prediction",
    "predict_proba": "probabilities",
    "predict_log_proba": "log_probabilities",
    "decision_function": "scores",
    "transform": "transformed",
}


class ConvertedModel(Model):
    """A model that came from an estimator: a `Model` that knows on which road each step was converted."""

    #: How each call was converted.
    roads: Sequence[Road]


def convert(
    estimator: Fitted,
    X: Any,
    *,
    outputs: Sequence[str] | None = None,
    verify: bool = True,
    opset_version: int | None = None,
    name: str | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> ConvertedModel:
    """The model of a fitted estimator, such as a pipeline, for data like `X`; the number of rows stays open.

    `outputs` are the methods whose results the model gives, by default `predict` and `predict_proba`, where there are
    these, or else `transform`.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0]])
    >>> model = onnxsmith.sklearn.convert(StandardScaler().fit(X), X)
    >>> model(X)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    refuse_unfitted(estimator)
    matrix = _matrix(X)
    methods = _methods(estimator, outputs)
    found: list[Road] = []

    def body(x: Tensor) -> tuple[Tensor, ...]:
        given = array_of(x)
        made: list[Part] = [call(estimator, method, given) for method in methods]
        found.extend(roads())
        return tuple(each if isinstance(each, Tensor) else each.tensor for each in made)

    model = trace(
        body,
        TensorType(DType.from_numpy(matrix.dtype), ("N", matrix.shape[1])),
        opset_version=opset_version,
        name=name or type(estimator).__name__,
        input_names=["X"],
        output_names=[_OUTPUT_NAMES.get(each, each) for each in methods],
        doc_string=doc_string,
        metadata=metadata,
    )
    model.__class__ = ConvertedModel
    converted = cast(ConvertedModel, model)
    converted.roads = tuple(found)
    return converted


def refuse_unfitted(estimator: Fitted) -> None:
    """Refuse what is no estimator, and one that was not fitted."""
    name = type(estimator).__name__
    try:
        of_sklearn("utils.validation", "check_is_fitted")(estimator)
    except of_sklearn("exceptions", "NotFittedError"):
        raise PipelineError(
            f"the {name} was not fitted, and a model is made of what fitting found",
            help="fit it first: estimator.fit(X, y)",
        ).locate_at_caller() from None
    except TypeError as error:
        raise PipelineError(
            f"convert needs a fitted estimator first, not {name}: {error}",
            help="onnxsmith.sklearn.convert(pipeline, X)",
        ).locate_at_caller() from None


def _matrix(data: Any) -> np.ndarray[Any, Any]:
    matrix = np.asarray(data)
    if matrix.ndim != 2:
        raise PipelineError(
            f"X has {matrix.ndim} dimensions, and a pipeline takes rows of numbers",
            help="give an array of two dimensions",
        ).locate_at_caller()
    return matrix


def _methods(estimator: Fitted, outputs: Sequence[str] | None) -> Sequence[str]:
    if outputs is not None:
        return [outputs] if isinstance(outputs, str) else list(outputs)
    if hasattr(estimator, "predict"):
        return ["predict", "predict_proba"] if hasattr(estimator, "predict_proba") else ["predict"]
    return ["transform"]
