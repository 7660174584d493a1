"""`from_onnx`: the fitted pipeline that a model was made of."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Any

from onnxsmith.errors import ModelWarning, PipelineError, boundary
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.sklearn.restoring.estimators import KEY, pipeline_of_json
from onnxsmith.sklearn.restoring.values import Damaged
from onnxsmith.sklearn.restoring.wrapping import OnnxPredictor, OnnxTransformer


@boundary
def from_onnx(model: ModelLike) -> Any:
    """The fitted estimator that a model was converted from.

    Linear models, scaling, encoding, trees, neighbours, and pipelines of these are estimators of their own classes
    again. A step of another class becomes an `OnnxPredictor` or an `OnnxTransformer`, which run the part of the model
    that the step is; where the whole model is of another class, it runs the whole.

    What a model says of itself is data: no code of it is run, classes come from a fixed list, and trees are checked.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0]])
    >>> model = onnxsmith.sklearn.convert(StandardScaler(with_std=False).fit(X), X)
    >>> onnxsmith.sklearn.from_onnx(model)
    StandardScaler(with_std=False)
    """
    opened = model_of(model, "from_onnx")
    text = {each.key: each.value for each in opened.proto.metadata_props}.get(KEY)
    if text is None:
        return _run(opened)
    try:
        estimator, made_with = pipeline_of_json(text, opened)
    except Damaged as error:
        raise PipelineError(
            f"what the model says of the pipeline that it was made of is damaged: {error}",
            help="OnnxPredictor(model) runs it as it is",
        ) from None
    if made_with != version("scikit-learn"):
        warnings.warn(
            f"the pipeline was fitted with scikit-learn {made_with}, and {version('scikit-learn')} is installed:"
            " attributes may mean something else",
            ModelWarning,
            stacklevel=2,
        )
    return estimator


def _run(model: Model) -> OnnxTransformer | OnnxPredictor:
    names = {each.name for each in model.outputs}
    if "transformed" in names:
        return OnnxTransformer(model)
    if names & {"prediction", "probabilities", "log_probabilities", "scores"}:
        return OnnxPredictor(model)
    raise PipelineError(
        f"the model was not made by onnxsmith.sklearn.convert: its outputs are {', '.join(sorted(names))}",
        help="from_onnx takes models that convert has made",
    )
