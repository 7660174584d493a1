"""The weights of a fitted estimator that training may change, as initializers with names: `mlpregressor.coefs_0`.

Functions have no initializers: such a weight is an input of the step's function, which every call passes on. So all
methods of an estimator share one weight, and passes find it in the main graph. What a scaler or an encoder has found
is no such weight, and stays a constant.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.algorithms.named import unused
from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.ir_types import array_to_ir
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.numpy import Array
from onnxsmith.schema.inference.known import Known
from onnxsmith.sklearn.values import Fitted, array_of
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: An array that fitting has found, or one number.
Numbers: TypeAlias = "np.ndarray[Any, Any] | np.floating[Any]"
#: The attributes that hold weights, in whichever class.
WEIGHTS = ("coef_", "intercept_", "coefs_", "intercepts_")
#: Under which a model that is made remembers the weights of it.
_SHARED = "sklearn weights"
#: Under which an estimator whose weights are arrays of a graph keeps the one that it stands for.
_ORIGINAL = "_onnxsmith_original"


@dataclass(slots=True)
class Weights:
    """The weights of one model."""

    #: By the id of the array, which the entry keeps: the array, the tensor and the name.
    tensors: dict[int, tuple[Numbers, ir.TensorProtocol, str]] = field(
        default_factory=dict[int, "tuple[Numbers, ir.TensorProtocol, str]"]
    )
    #: By the id of the estimator, which the entry keeps: the estimator, and what its weights are called by.
    owners: dict[int, tuple[Fitted, str]] = field(default_factory=dict[int, tuple[Fitted, str]])
    taken: set[str] = field(default_factory=set[str])

    def owner(self, estimator: Fitted, path: str) -> str:
        """The first part of the names: the step's name, or that of the class."""
        found = self.owners.get(id(estimator))
        if found is None:
            name = unused(path or type(estimator).__name__.strip("_").lower(), self.taken)
            found = self.owners[id(estimator)] = (estimator, name)
        return found[1]

    def tensor(self, array: Numbers, name: str) -> tuple[ir.TensorProtocol, str]:
        """The tensor of an array, one however often it is used, and its name."""
        found = self.tensors.get(id(array))
        if found is None:
            made = array_to_ir(np.array(array))
            found = self.tensors[id(array)] = (array, made, name)
        return found[1], found[2]


def weights_of_model() -> Weights:
    """The weights of the model that is being made."""
    return current_graph().shared.setdefault(_SHARED, Weights())


def weight_names() -> list[str]:
    """The names of the weights in the model that is being made, in the order of their use."""
    graph = current_graph()
    assert isinstance(graph, GraphTarget)  # what records models
    tensors = {id(tensor) for _, tensor, _ in weights_of_model().tensors.values()}
    return [each.name for each in graph.program.initializers if id(each.content) in tensors]


def original(estimator: Fitted) -> Fitted:
    """The estimator that one whose weights are arrays of a graph stands for; others stand for themselves."""
    return vars(estimator).get(_ORIGINAL, estimator) if hasattr(estimator, "__dict__") else estimator


def with_weights(estimator: Fitted, path: str) -> Fitted | None:
    """The estimator with arrays of the graph for its weights, which its own code then reads; None where it has none."""
    held = vars(estimator) if hasattr(estimator, "__dict__") else {}
    found = {name: held[name] for name in WEIGHTS if _is_weight(held.get(name))}
    if not found:
        return None
    made = copy.copy(estimator)
    for name, value in found.items():
        vars(made)[name] = _named(estimator, name, value, path)
    vars(made)[_ORIGINAL] = estimator
    return made


def weight(estimator: Fitted, name: str, path: str) -> Array | list[Array] | float:
    """A weight of an estimator as an array of the graph; what is none, such as an intercept of 0, is given as it is."""
    value = getattr(estimator, name)
    return _named(estimator, name, value, path) if _is_weight(value) else value


def _is_weight(value: UserValue) -> bool:
    if isinstance(value, list):
        elements = cast("list[Any]", value)
        return bool(elements) and all(_is_weight(each) and np.ndim(each) for each in elements)
    if not isinstance(value, np.ndarray | np.floating):
        return False  # a matrix that is sparse, or a Python number, which fitting did not find
    kind = cast("np.dtype[Any]", cast(Any, value).dtype)
    return kind.kind == "f" and kind.itemsize in (2, 4, 8)


def _named(estimator: Fitted, name: str, value: Numbers | list[Numbers], path: str) -> Array | list[Array]:
    known = weights_of_model()
    prefix = f"{known.owner(estimator, path)}.{name}"
    if isinstance(value, list):
        elements = cast("Sequence[Numbers]", value)
        return [_array(known, each, f"{prefix}{number}") for number, each in enumerate(elements)]
    return _array(known, value, prefix)


def _array(known: Weights, value: Numbers, name: str) -> Array:
    tensor, name = known.tensor(value, name)
    graph = current_graph()
    assert isinstance(graph, GraphTarget)  # what records models
    record = graph.program.tensor(tensor, name)
    kind = TensorType(DType(int(tensor.dtype)), np.shape(value))
    return array_of(SymbolicTensor(record, Known(kind), graph.root, None))
