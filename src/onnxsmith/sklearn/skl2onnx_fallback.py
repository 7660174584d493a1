"""The last road: what skl2onnx makes of an estimator, where it is installed, called as a model inside ours.

It is taken for what neither a converter of ours nor a recording covers; converters that a user has registered with
skl2onnx are among those. What it gives is brought into the form of our own results, and compared like them.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, cast

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.graphs.model import Model
from onnxsmith.numpy import Array
from onnxsmith.sklearn.table import NotCovered
from onnxsmith.sklearn.values import Fitted, Given, Part, array_of
from onnxsmith.types.dtypes import DType

#: Which output of a model of skl2onnx's has what a method gives.
_PLACES = {"predict": 0, "transform": 0, "predict_proba": 1, "decision_function": 1}
#: What skl2onnx calls types of inputs.
_TYPES = {
    DType.BOOL: "BooleanTensorType",
    DType.DOUBLE: "DoubleTensorType",
    DType.FLOAT: "FloatTensorType",
    DType.INT32: "Int32TensorType",
    DType.INT64: "Int64TensorType",
    DType.STRING: "StringTensorType",
}


def by_skl2onnx(estimator: Fitted, method: str, x: Given) -> Part:
    """The result of a method by skl2onnx; raises `NotCovered`, without a reason where it is not installed."""
    try:
        # Heavy, and needed only here.
        library: Any = importlib.import_module("skl2onnx")
        types: Any = importlib.import_module("skl2onnx.common.data_types")
    except ImportError:
        raise NotCovered("") from None
    if method not in _PLACES:
        raise NotCovered(f"it has no {method}")
    if not isinstance(x, Array | Tensor):
        raise NotCovered("it is given columns, and takes one matrix")
    tensor = x.tensor if isinstance(x, Array) else x
    shape: Sequence[Any] = [None, *(each if isinstance(each, int) else None for each in list(x.shape)[1:])]
    kind = None if tensor.dtype is None else _TYPES.get(tensor.dtype)
    if kind is None:
        raise NotCovered(f"it takes no {tensor.dtype}")
    options = {"zipmap": False} if hasattr(estimator, "classes_") else {}
    if method == "decision_function":
        options["raw_scores"] = True
    version = min(current_graph().operators.version, int(library.__max_supported_opset__))
    try:
        proto = library.convert_sklearn(
            estimator,
            initial_types=[("X", getattr(types, kind)(shape))],
            options={id(estimator): options} if options else None,
            target_opset=version,
        )
    except Exception as error:  # it refuses in ways of its own
        said = str(error).strip().splitlines() or [""]
        raise NotCovered(f"{type(error).__name__}: {said[0]}") from None
    return _result(Model.from_proto(proto)(tensor), method)


def _result(made: Any, method: str) -> Part:
    every = list(cast("tuple[Any, ...]", made)) if isinstance(made, tuple) else [made]
    place = _PLACES[method]
    if place >= len(every) or not isinstance(every[place], Tensor):
        raise NotCovered(f"it gives no tensor for {method}")
    found: Tensor = every[place]
    if found.dtype is DType.STRING:
        return found
    array = array_of(found)
    # It gives a column for numbers that are one for each row.
    return array.reshape((-1,)) if method == "predict" and array.ndim == 2 and array.shape[1] == 1 else array
