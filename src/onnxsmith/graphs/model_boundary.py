"""`model_boundary`: marks the public functions of models, so that a model that is not valid is told to be that.

Our code is written for models that keep ONNX's rules. On one that does not it may fail anywhere; the error that leaves
is then about the model. What the user's own functions raise is left alone, as is a mistake of ours on a valid model.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from typing import cast

import onnx

from onnxsmith.errors import InvalidModelError, OnnxsmithError
from onnxsmith.errors.boundary import boundary_with
from onnxsmith.graphs import soundness
from onnxsmith.graphs.model import Model, ModelLike, model_of


def _faulty_model(error: Exception, given: Iterable[object]) -> InvalidModelError | None:
    """The error for the first of the models that is not valid."""
    for each in given:
        model = _model(each)
        found = model and soundness.fault_of(model.proto if model.is_proto_only else model.ir, error)
        if found is not None:
            return found
    return None


def _model(given: Hashable) -> Model | None:
    if isinstance(given, Model):
        return given
    if not isinstance(given, str | os.PathLike | bytes | onnx.ModelProto):
        return None
    try:  # a text may be something else than the path of a model
        return model_of(cast("ModelLike", given), "load")
    except OnnxsmithError:
        return None


#: For functions that take models.
model_boundary = boundary_with(_faulty_model)
