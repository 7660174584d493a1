"""Classical models, domain `ai.onnx.ml`: those that onnx itself infers nothing for."""

from __future__ import annotations

from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.rules.elementwise import same_as_input
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension

_DOMAIN = "ai.onnx.ml"


@rule("Scaler", "Normalizer", domain=_DOMAIN)
def scaled(call: Call) -> Result:
    return (tensor(DType.FLOAT, call.shape(0)),)


@rule("Imputer", domain=_DOMAIN)
def imputed(call: Call) -> Result:
    return same_as_input(call)


def _rows(call: Call) -> Dimension:
    """How many samples an input holds; a vector is one."""
    shape = call.shape(0)
    if shape is None:
        return None
    if len(shape) > 2:
        raise call.shape_error(f"needs a matrix of one sample per row, not {call.described(0)}", 0)
    return shape[0] if len(shape) == 2 else 1


@rule("LinearRegressor", domain=_DOMAIN)
def linear_regressor(call: Call) -> Result:
    return (tensor(DType.FLOAT, (_rows(call), call.integer("targets", 1))),)


@rule("SVMRegressor", domain=_DOMAIN)
def svm_regressor(call: Call) -> Result:
    return (tensor(DType.FLOAT, (_rows(call), 1)),)


@rule("TreeEnsembleRegressor", domain=_DOMAIN)
def tree_ensemble_regressor(call: Call) -> Result:
    return (tensor(DType.FLOAT, (_rows(call), call.integer("n_targets", 1))),)


@rule("TreeEnsembleClassifier", domain=_DOMAIN)
def tree_ensemble_classifier(call: Call) -> Result:
    words, numbers = call.attribute("classlabels_strings"), call.attribute("classlabels_int64s")
    rows, labels = _rows(call), words or numbers
    label = DType.STRING if words else DType.INT64
    return tensor(label, (rows,)), tensor(DType.FLOAT, (rows, len(labels) if labels else None))
