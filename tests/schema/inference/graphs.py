"""Inference over whole graphs, for tests: node by node, with subgraphs, as the pipeline would call it.

Not a test itself.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from onnxsmith.schema import registry
from onnxsmith.schema.attributes import read_attribute
from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.schema.inference import Known, infer
from onnxsmith.schema.inference.protobuf import read_type
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    OptionalType,
    SequenceType,
    Shape,
    TensorType,
)

_GRAPH = onnx.AttributeProto.GRAPH


@functools.cache
def node_cases() -> Sequence[Any]:
    """Every node case of the installed onnx; built in memory, in about five seconds."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return node.collect_testcases(None)


def opset_versions(model: onnx.ModelProto) -> dict[str, int]:
    """The opset version of each domain of a model."""
    versions = {each.domain: each.version for each in model.opset_import}
    versions.setdefault("", registry.latest_version(""))
    return versions


def infer_graph(
    graph: onnx.GraphProto | onnx.FunctionProto, versions: Mapping[str, int], values: dict[str, Known]
) -> list[Known]:
    """What is known of a graph's outputs, given what is known of its inputs and of outer values."""
    values = dict(values)
    if isinstance(graph, onnx.GraphProto):
        for tensor in graph.initializer:
            values[tensor.name] = constant(numpy_helper.to_array(tensor))
    for node in graph.node:
        for name, known in zip(node.output, infer_node(node, versions, values), strict=True):
            if name:
                values[name] = known
    names = [each if isinstance(each, str) else each.name for each in graph.output]
    return [values[name] for name in names]


def infer_node(
    node: onnx.NodeProto, versions: Mapping[str, int], values: dict[str, Known]
) -> tuple[Known, ...]:
    """What is known of the outputs of one node."""
    version = versions[node.domain]
    op = registry.lookup(node.domain, node.op_type, version)
    inputs = [values[name] if name else None for name in node.input]
    attributes: dict[str, Any] = {}
    bodies: dict[str, tuple[Known, ...]] = {}
    for each in node.attribute:
        if each.ref_attr_name:
            attributes[each.name] = AttributeReference(each.ref_attr_name, AttributeType(each.type))
        elif each.type == _GRAPH:
            if not _is_never_taken(node, each.name, inputs):
                bodies[each.name] = tuple(infer_graph(each.g, versions, _inside(node, each.g, values)))
        else:
            value = onnx.helper.get_attribute_value(each)
            attributes[each.name] = read_attribute(op, op.attributes[each.name], value)
    if len(bodies) == 1 and node.op_type == "If":
        bodies = dict.fromkeys(("then_branch", "else_branch"), next(iter(bodies.values())))
    return infer(op, version, inputs, attributes, len(node.output), bodies)


def _is_never_taken(node: onnx.NodeProto, branch: str, inputs: list[Known | None]) -> bool:
    """Whether a branch is dead because the condition is known; what stands in it need not be possible."""
    data = inputs[0].data if node.op_type == "If" and inputs[0] is not None else None
    return isinstance(data, np.ndarray) and branch != ("then_branch" if data.item() else "else_branch")


def _inside(node: onnx.NodeProto, body: onnx.GraphProto, values: dict[str, Known]) -> dict[str, Known]:
    """What is known inside a body: its inputs by their declared types, else by the element types of what they carry."""
    inner = dict(values)
    for position, formal in enumerate(body.input):
        declared = read_type(formal.type)
        if declared == UNKNOWN_TENSOR and node.op_type == "Loop" and 2 <= position < len(node.input):
            carried = values[node.input[position]].type
            declared = TensorType(carried.dtype, None) if isinstance(carried, TensorType) else carried
        inner[formal.name] = Known(declared)
    return inner


def constant(array: np.ndarray) -> Known:
    """A constant."""
    return Known(TensorType(DType.from_numpy(array.dtype), array.shape), array)


def value_known(value: Any, type_proto: onnx.TypeProto) -> Known:
    """What is known of an input that is a constant; sequences and optionals by their declared type."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if isinstance(value, np.ndarray | np.generic):
        return constant(np.asarray(value))
    return Known(read_type(type_proto))


def disagreement(known: AnyValueType, value: Any) -> str | None:
    """How a value contradicts what was inferred of it; None when it does not."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if isinstance(known, OptionalType):
        return None if value is None else disagreement(known.element, value)
    if isinstance(known, SequenceType):
        if not isinstance(value, list):
            return f"{known!r} for a {type(value).__name__}"
        return next((why for each in value if (why := disagreement(known.element, each))), None)
    if not isinstance(known, TensorType):
        return None
    if known == UNKNOWN_TENSOR:
        return None
    if not isinstance(value, np.ndarray | np.generic):
        return f"{known!r} for a {type(value).__name__}"
    if known.dtype is not None and known.dtype is not DType.from_numpy(value.dtype):
        return f"{known!r} for {value.dtype}"
    return None if agrees(known.shape, value.shape) else f"{known!r} for shape {value.shape}"


def agrees(shape: Shape | None, actual: tuple[int, ...]) -> bool:
    """Whether known dimensions are the actual ones; names are not compared."""
    if shape is None:
        return True
    return len(shape) == len(actual) and all(
        not isinstance(each, int) or each == size for each, size in zip(shape, actual, strict=True)
    )


def is_complete(known: AnyValueType) -> bool:
    """Whether nothing is left open."""
    if isinstance(known, SequenceType | OptionalType):
        return is_complete(known.element)
    if isinstance(known, TensorType):
        return known.dtype is not None and known.shape is not None and None not in known.shape
    return True
