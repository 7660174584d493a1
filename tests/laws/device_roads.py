"""The roads that a case can take with its values on a device: calls, jit, models and sessions.

Each takes a case and gives the values of the outputs as numpy's arrays; it raises what the road raises. Values that
go in on the device must come out there, and those that go in as arrays of numpy must come out as such.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

import onnxsmith
from onnxsmith.runtime import using
from onnxsmith.runtime.device_arrays import OrtArray
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType
from tests.backend.node_cases import attribute_value, free_names
from tests.chosen_device import DEVICE, on_device
from tests.laws import contexts
from tests.laws.case import Case, Value
from tests.laws.contexts import Inexpressible
from tests.laws.outcome import difference
from tests.laws.programs import Program, names_an_input
from tests.laws.roads import Contradiction, Road, eager, in_float64, reference


class Placed:
    """The inputs of a case on the device; text and containers stay where they are."""

    def __init__(self, inputs: tuple[Value, ...] | list[Value]) -> None:
        self._given = tuple(inputs)
        self.values = [_placed(each) for each in self._given]
        if not any(isinstance(each, EagerTensor) for each in self.values):
            raise Inexpressible("no input that a device holds")

    def back(self, results: Any) -> tuple[Any, ...]:
        """The results as arrays of numpy; they are on the device, and no input has been written to."""
        values = results if isinstance(results, tuple) else (results,)
        found = tuple(_back(each) for each in values)
        for given, placed in zip(self._given, self.values, strict=True):
            if isinstance(placed, EagerTensor) and difference(placed.numpy(), given) is not None:
                raise Contradiction("an input on the device has other values afterwards")
        return found


def _placed(value: Value) -> Value:
    dtype = DType.from_numpy(value.dtype) if isinstance(value, np.ndarray) else None
    if dtype is None or dtype.kind in ("string", "complex"):
        return value
    return on_device(value)


def _back(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, EagerTensor):
        raise Contradiction(f"a result is {type(value).__name__}, and tensors were given")
    if value.device != str(DEVICE):
        raise Contradiction(f"a result is on {value.device}")
    return value.numpy()


def _only_arrays(results: Any) -> tuple[Any, ...]:
    values = results if isinstance(results, tuple) else (results,)
    for each in values:
        if isinstance(each, EagerTensor | OrtArray):
            raise Contradiction("a result is a tensor, and arrays of numpy were given")
    return values


def calls(case: Case) -> tuple[Any, ...]:
    """Operator by operator, as `opset21.Add(a, b)`."""
    graph = case.graph
    placed = Placed(case.inputs)
    values: dict[str, Any] = {"": None}
    values.update((info.name, value) for info, value in zip(graph.input, placed.values, strict=True))
    values.update((each.name, onnx.numpy_helper.to_array(each)) for each in graph.initializer)
    if any(info.type.WhichOneof("value") == "optional_type" for info in graph.input):
        raise Inexpressible("a value does not show that it is an optional")
    for node in graph.node:
        op = registry.find(node.domain, node.op_type, case.version(node.domain))
        if op is None:
            raise Inexpressible("no definition")
        attributes = {each.name: attribute_value(each) for each in node.attribute}
        bodies = [each for each in attributes.values() if isinstance(each, onnx.GraphProto)]
        if any(map(free_names, bodies)) or (bodies and op.domain) or names_an_input(case, node):
            raise Inexpressible("what only a model can say")
        version = case.version("") if bodies else op.since_version
        operator = getattr(onnxsmith.Opset(node.domain, version), op.name)
        results = operator(
            *(values[name] for name in node.input), **attributes, outputs=max(1, len(node.output))
        )
        results = results if isinstance(results, tuple) else (results,)
        values.update((name, value) for name, value in zip(node.output, results, strict=True) if name)
    return placed.back(tuple(values[info.name] for info in graph.output))


def jitted(case: Case) -> tuple[Any, ...]:
    """The calls as a script, run as one model."""
    if not all(isinstance(each, np.ndarray) for each in case.inputs):
        raise Inexpressible("a script's types are annotated for what is no tensor")
    if any(info.type.WhichOneof("value") == "optional_type" for info in case.graph.input):
        raise Inexpressible("a value does not show that it is an optional")
    placed = Placed(case.inputs)
    return placed.back(onnxsmith.jit(Program(case).plain())(*placed.values))


def _of_model(context: str) -> Road:
    def run(case: Case) -> tuple[Any, ...]:
        proto, inputs = contexts.CONTEXTS[context](case)
        placed = Placed(inputs)
        model = onnxsmith.Model.from_proto(proto).to_device(str(DEVICE))
        values = placed.back(model(*placed.values))
        return values if context != "loop" else contexts.each_trip(values)[-1]

    run.__doc__ = f"A foreign model with the nodes, whose inputs are on the device: {context}."
    return run


def model_of_arrays(case: Case) -> tuple[Any, ...]:
    """A foreign model on the device, given arrays of numpy."""
    proto, inputs = contexts.CONTEXTS["alone"](case)
    with using(device=str(DEVICE)):
        return _only_arrays(onnxsmith.Model.from_proto(proto).to_device(str(DEVICE))(*inputs))


def session(case: Case) -> tuple[Any, ...]:
    """A session of the model, called twice with values on the device."""
    proto, inputs = contexts.CONTEXTS["alone"](case)
    placed = Placed(inputs)
    opened = onnxsmith.Model.from_proto(proto).session(device=str(DEVICE))
    first = opened(*placed.values)
    opened(*placed.values)  # the next call writes to no result
    del opened
    return placed.back(first)


def session_of_arrays(case: Case) -> tuple[Any, ...]:
    """A session of the model, given arrays of numpy."""
    proto, inputs = contexts.CONTEXTS["alone"](case)
    opened = onnxsmith.Model.from_proto(proto).session(device=str(DEVICE))
    return _only_arrays(opened(*inputs))


#: The road that the others are compared with: calls on arrays of numpy.
NUMPY = "numpy"
ROADS: dict[str, Road] = {
    "calls": calls,
    "jit": jitted,
    "model": _of_model("alone"),
    "model if": _of_model("if"),
    "model loop": _of_model("loop"),
    "model of arrays": model_of_arrays,
    "session": session,
    "session of arrays": session_of_arrays,
}
WITNESSES: dict[str, Road] = {NUMPY: eager, "float64": in_float64, "reference": reference}
