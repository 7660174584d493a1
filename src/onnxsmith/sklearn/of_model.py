"""`OfModel`: the base of estimators that run a model, whether it is given or trained."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from sklearn import base  # pyright: ignore[reportMissingTypeStubs]
from sklearn.base import BaseEstimator  # pyright: ignore[reportMissingTypeStubs]

from onnxsmith.errors import PipelineError
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.sklearn.frames.signature import has_signature
from onnxsmith.sklearn.rows import Elements, Rows


class OfModel(BaseEstimator):
    """An estimator with a parameter `model`, which its copies share: a model is never changed."""

    #: What subclasses take may be more.
    model: Any

    def __sklearn_clone__(self) -> Self:
        parameters: dict[str, Any] = cast(Any, self).get_params(deep=False)
        return type(self)(
            **{
                name: each if name == "model" else cast(Any, base).clone(each, safe=False)
                for name, each in parameters.items()
            }
        )

    def _given_model(self) -> Model:
        """The model that is a parameter; read where it is used, for scikit-learn wants it as it is given."""
        if self.model is None:
            raise PipelineError(f"the {type(self).__name__} has no model", help="give it one: model=…")
        return model_of(cast(ModelLike, self.model), type(self).__name__)

    def _output(self, model: Model, X: Rows, name: str, method: str) -> Elements:
        """The output of a model for rows."""
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
