"""Faults in single nodes, and twins of models: what the bar of `compare` is measured with."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

from onnxsmith import Model, convert_version
from onnxsmith.errors import RuntimeSupportWarning

#: Operators that take what the other takes, and give values of the same type and shape.
SWAPS = {
    "Relu": "Sigmoid",
    "LeakyRelu": "Elu",
    "Sigmoid": "Tanh",
    "Tanh": "Sigmoid",
    "Add": "Sub",
    "Sub": "Add",
    "Mul": "Add",
    "Div": "Mul",
    "Exp": "Abs",
    "Abs": "Neg",
    "Neg": "Abs",
    "Sqrt": "Exp",
    "Erf": "Tanh",
    "Sin": "Cos",
    "Cos": "Sin",
    "Softmax": "LogSoftmax",
    "ReduceMean": "ReduceMax",
    "ReduceSum": "ReduceMean",
    "ReduceMax": "ReduceMin",
    "MaxPool": "AveragePool",
    "GlobalAveragePool": "GlobalMaxPool",
    "Softplus": "Softsign",
    "HardSwish": "Relu",
    "Elu": "Selu",
    "Log": "Exp",
}
#: Attributes, and what they become.
ATTRIBUTES: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("LeakyRelu", "alpha"): lambda value: value + 0.4,
    ("Elu", "alpha"): lambda value: value + 0.5,
    ("Gemm", "alpha"): lambda value: value + 0.5,
    ("Softmax", "axis"): lambda value: 0,
    ("Scaler", "offset"): lambda value: [each + 0.3 for each in value],
    ("Normalizer", "norm"): lambda value: b"L1",
    ("LinearRegressor", "intercepts"): lambda value: [each + 0.5 for each in value],
    ("Transpose", "perm"): lambda value: value,
}


class Fault(NamedTuple):
    """A model with a fault, and where it is."""

    model: Model
    address: str
    kind: str


def graphs_of(proto: onnx.ModelProto) -> Iterator[tuple[str, Any]]:
    """Every graph and function, with what the addresses of its nodes begin with."""
    waiting: list[tuple[str, Any]] = [("", proto.graph)]
    waiting += [
        (f"{each.domain}::{each.name}" + (f":{each.overload}" if each.overload else "") + "/", each)
        for each in proto.functions
    ]
    while waiting:
        prefix, graph = waiting.pop(0)
        yield prefix, graph
        for number, node in enumerate(graph.node):
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    waiting.append((f"{prefix}{number}.{attribute.name}.", attribute.g))


def weights_by_name(proto: onnx.ModelProto) -> dict[str, onnx.TensorProto]:
    found: dict[str, onnx.TensorProto] = {}
    for _, graph in graphs_of(proto):
        for node in graph.node:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
                found[node.output[0]] = node.attribute[0].t
        if isinstance(graph, onnx.GraphProto):
            found.update({each.name: each for each in graph.initializer})
    return found


def faults(model: Model, draw: random.Random) -> Iterator[Fault]:
    """Faults in nodes of a model, in a drawn order."""
    called = {(each.domain, each.name) for each in model.proto.functions}
    places = [
        (prefix, number, node.op_type)
        for prefix, graph in graphs_of(model.proto)
        for number, node in enumerate(graph.node)
        if node.op_type not in ("Constant", "If", "Loop") and (node.domain, node.op_type) not in called
    ]
    draw.shuffle(places)
    for prefix, number, _ in places:
        kinds = ["weight", "operator", "attribute"]
        draw.shuffle(kinds)
        for kind in kinds:
            proto = model.proto
            graph = next(each for start, each in graphs_of(proto) if start == prefix)
            if planted(proto, graph, graph.node[number], kind, draw):
                yield Fault(Model.from_proto(proto), f"{prefix}{number}", kind)
                break


def planted(proto: onnx.ModelProto, graph: Any, node: onnx.NodeProto, kind: str, draw: random.Random) -> bool:
    if kind == "operator":
        if node.op_type not in SWAPS or node.domain:
            return False
        if node.op_type in ("LeakyRelu", "MaxPool", "Elu"):
            kept = [each for each in node.attribute if each.name in ("kernel_shape", "strides", "pads")]
            del node.attribute[:]
            node.attribute.extend(kept)
        node.op_type = SWAPS[node.op_type]
        return True
    if kind == "attribute":
        for (op_type, name), change in ATTRIBUTES.items():
            if node.op_type != op_type:
                continue
            held = next(
                (each for each in node.attribute if each.name == name and not each.ref_attr_name), None
            )
            if held is None and (op_type, name) != ("Gemm", "alpha"):
                continue
            before = 1.0 if held is None else onnx.helper.get_attribute_value(held)
            if held is not None:
                node.attribute.remove(held)
            if op_type == "Softmax" and before == 0:
                return False
            if op_type == "Transpose":
                return False
            node.attribute.append(onnx.helper.make_attribute(name, change(before)))
            return True
        return False
    weights = weights_by_name(proto)
    held = [name for name in node.input if name in weights and _is_numeric(weights[name])]
    if not held or not isinstance(graph, onnx.GraphProto) or graph is not proto.graph:
        return False
    name = draw.choice(held)
    array = numpy_helper.to_array(weights[name]).copy()
    flat = array.reshape(-1)
    for position in draw.sample(range(flat.size), min(flat.size, 1 + flat.size // 8)):
        flat[position] = flat[position] * 1.5 + (1 if flat.dtype.kind in "iu" else 0.3)
    changed = numpy_helper.from_array(array, f"{name}_changed")
    graph.initializer.append(changed)
    node.input[list(node.input).index(name)] = changed.name
    return True


def _is_numeric(tensor: onnx.TensorProto) -> bool:
    return tensor.data_type in (1, 3, 10, 11)


def has_effect(model: Model, fault: Fault, inputs: dict[str, Any]) -> bool:
    """Whether a fault is seen in the outputs."""
    try:
        wanted, found = model.run(inputs), fault.model.run(inputs)
    except Exception:  # a fault that stops the model is none that compare is asked to find
        return False
    left, right = (np.asarray(each, np.float64) for each in (wanted, found))
    if left.shape != right.shape or not np.isfinite(right).all():
        return False
    return float(np.linalg.norm(left - right)) > 5e-2 * float(np.linalg.norm(left))


# ---- twins ----


def renamed(model: Model) -> Model:
    """The same with other names for everything, some of them taken from elsewhere in the model."""
    proto = model.proto
    for _, graph in graphs_of(proto):
        for number, node in enumerate(graph.node):
            node.name = f"n{number}"
            del node.metadata_props[:]
    given = Model.from_proto(proto)
    names = [value.name for node in given.nodes.graph.ir for value in node.outputs if value.name]
    outputs = {port.name for port in given.outputs}
    inner = [name for name in names if name not in outputs]
    return given.rename(dict(zip(inner, inner[1:] + inner[:1], strict=True))) if len(inner) > 1 else given


def optimised(model: Model) -> Model:
    return Model.from_proto(model.optimize().proto)


def converted(model: Model) -> Model:
    lower = 15 if "com.microsoft" not in model.opset_imports else 18
    return convert_version(model, lower)


def exported(model: Model, folder: Path) -> Model:
    """As ONNX Runtime writes it after its own basic optimisations."""
    with warnings.catch_warnings():
        # Read here alone, and what is written is run as our models run.
        warnings.simplefilter("ignore", RuntimeSupportWarning)
        model.save(folder / "given.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folder / "written.onnx")
    options.log_severity_level = 4
    onnxruntime.InferenceSession(str(folder / "given.onnx"), options)
    return Model.load(folder / "written.onnx")
