"""`model_boundary`: marks the public functions of models, so that a model that is not valid is told to be that.

Our code is written for models that keep ONNX's rules. On one that does not it may fail anywhere; the error that leaves
is then about the model. What the user's own functions raise is left alone, as is a mistake of ours on a valid model.
"""

from __future__ import annotations

from collections.abc import Iterable

from onnxsmith.errors import InvalidModelError
from onnxsmith.errors.boundary import boundary_with
from onnxsmith.graphs import soundness
from onnxsmith.graphs.model import Model


def _faulty_model(error: Exception, given: Iterable[object]) -> InvalidModelError | None:
    """The error for the first of the models that is not valid."""
    for each in given:
        if isinstance(each, Model):
            found = soundness.fault_of(each.proto if each.is_proto_only else each.ir, error)
            if found is not None:
                return found
    return None


#: For functions that take models.
model_boundary = boundary_with(_faulty_model)
