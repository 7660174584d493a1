"""Make the model of one node: inputs of given types with open shapes, attributes as protos, outputs by count.

Makes protos only; who runs them is not known here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsmith.graphs.identity import values_key
from onnxsmith.runtime import versions
from onnxsmith.schema import registry
from onnxsmith.schema.definition import AttributeType, OperatorDef
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, MapType, OptionalType, SequenceType, TensorType

#: What a caller says of an input: its element type, its type where it is no tensor, or None for a hole.
InputType: TypeAlias = DType | AnyValueType | None
#: Inputs of these need no late IR version.
_PLAIN: frozenset[InputType] = frozenset(
    [None, *(dtype for dtype in DType if dtype.ir_version <= versions.BASE_IR_VERSION)]
)


@dataclass(frozen=True, slots=True)
class Call:
    """One way to call an operator: everything but the values.

    `captured` are the outer values that the bodies of graph attributes use, by name; `opset_version` is the
    version that those bodies were written for, and None when there are none. `ranks` are the numbers of dimensions
    of inputs and captured values, for the few operators that runtimes only accept when they know them.
    """

    op: OperatorDef
    input_types: tuple[InputType, ...]
    attributes: Mapping[str, Any]
    output_count: int
    captured: Mapping[str, InputType] = field(default_factory=dict[str, InputType])
    opset_version: int | None = None
    ranks: tuple[int | None, ...] | None = None

    @property
    def input_names(self) -> list[str]:
        """Names of the node's inputs, empty for holes."""
        return ["" if each is None else f"input_{k}" for k, each in enumerate(self.input_types)]

    @property
    def output_names(self) -> list[str]:
        return [f"output_{k}" for k in range(self.output_count)]

    @property
    def feed_names(self) -> list[str]:
        """Names of the values that a runner is given, in order: inputs, then what bodies capture."""
        return [*self.input_names, *self.captured]


def type_proto(value_type: DType | AnyValueType, rank: int | None = None) -> onnx.TypeProto:
    """The proto of a type, without sizes; a tensor may have a known rank."""
    shape = None if rank is None else [None] * rank
    match value_type:
        case DType():
            return helper.make_tensor_type_proto(int(value_type), shape)
        case TensorType(dtype=dtype):
            return helper.make_tensor_type_proto(0 if dtype is None else int(dtype), shape)
        case SequenceType(element=element):
            return helper.make_sequence_type_proto(type_proto(element))
        case OptionalType(element=element):
            return helper.make_optional_type_proto(type_proto(element))
        case MapType(key=key, value=value):
            return helper.make_map_type_proto(int(key), type_proto(value))


def make_model(call: Call, *, is_late: bool = False) -> onnx.ModelProto:
    """The model of one node; `is_late` in the latest opset that defines it so, and not in the one that brought it."""
    # Everything is made where it stays: protos that are put into others are copied, bodies and tensors with them.
    model = onnx.ModelProto(producer_name="onnxsmith")
    graph = model.graph
    graph.name = call.op.name
    inputs, outputs = call.input_names, call.output_names
    _add_node(graph, call, inputs, outputs)
    ranks = call.ranks or (None,) * (len(call.input_types) + len(call.captured))
    types = (*call.input_types, *call.captured.values())
    for name, kind, rank in zip((*inputs, *call.captured), types, ranks, strict=True):
        if isinstance(kind, DType) and rank is None:
            graph.input.add(name=name).type.tensor_type.elem_type = int(kind)
        elif kind is not None:
            graph.input.add(name=name).type.CopyFrom(type_proto(kind, rank))
    # Runtimes infer the types of outputs; stating them would repeat inference here.
    for name in outputs:
        graph.output.add(name=name)
    if call.opset_version is None:
        version = _latest_same(call.op) if is_late else call.op.since_version
        model.opset_import.add(domain=call.op.domain, version=version)
    else:
        # The bodies decide the version of the standard domain; the node's own domain may be another.
        if call.op.domain:
            model.opset_import.add(domain=call.op.domain, version=call.op.since_version)
        model.opset_import.add(domain="", version=call.opset_version)
        versions.lower_opsets(model)
    # Looking into the model takes a tenth of a first call, and most have nothing to be found.
    is_plain = not call.attributes and _PLAIN.issuperset(types)
    model.ir_version = versions.BASE_IR_VERSION if is_plain else versions.lowest_ir_version(model)
    return model


def _add_node(graph: onnx.GraphProto, call: Call, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    given = list(inputs)
    while given and not given[-1]:
        given.pop()
    node = graph.node.add(op_type=call.op.name, domain=call.op.domain, input=given, output=outputs)
    for name, value in call.attributes.items():
        known = call.op.attributes.get(name)
        if known is None:
            node.attribute.append(_guessed_attribute(name, value))
        else:
            _fill_attribute(node.attribute.add(name=name, type=known.type.name), value, known.type)
    if call.op.name == "Scan" and call.ranks is not None:
        _rank_states(node, call.ranks)


@functools.lru_cache(maxsize=1024)
def _latest_same(op: OperatorDef) -> int:
    """The latest opset version, of those that runtimes know, in which the operator is defined as it is here.

    In a late opset there are more operators to meet a runtime's mistakes with.
    """
    if op.domain or not op.is_known:
        return op.since_version
    first, end = registry.valid_range(op)
    latest = default_opset_version()
    return max(first, latest if end is None else min(latest, end - 1))


def _rank_states(scan: onnx.NodeProto, ranks: Sequence[int | None]) -> None:
    """Say in a Scan's body that each state it hands on has as many dimensions as the initial state."""
    attributes = {attribute.name: attribute for attribute in scan.attribute}
    body = attributes["body"].g
    states = len(body.input) - attributes["num_scan_inputs"].i
    skipped = len(scan.input) - len(body.input)  # Scan-8 has sequence lengths before the states
    for output, rank in zip(body.output[:states], ranks[skipped:], strict=False):
        tensor = output.type.tensor_type
        if rank is not None and not tensor.HasField("shape"):
            tensor.shape.dim.extend(onnx.TensorShapeProto.Dimension() for _ in range(rank))


_FIELDS = {
    AttributeType.FLOATS: "floats",
    AttributeType.INTS: "ints",
    AttributeType.STRINGS: "strings",
    AttributeType.TENSORS: "tensors",
    AttributeType.GRAPHS: "graphs",
    AttributeType.SPARSE_TENSORS: "sparse_tensors",
    AttributeType.TYPE_PROTOS: "type_protos",
}


def _guessed_attribute(name: str, value: Any) -> onnx.AttributeProto:
    """An attribute of the type that its value suggests, where there is no schema."""
    if isinstance(value, np.ndarray):
        return helper.make_attribute(name, tensor_proto(value))
    return helper.make_attribute(
        name, list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value
    )


def _fill_attribute(attribute: onnx.AttributeProto, value: Any, kind: AttributeType) -> None:
    """Put in a value of the type that the schema gives."""
    match kind:
        case AttributeType.FLOAT:
            attribute.f = value
        case AttributeType.INT:
            attribute.i = int(value)
        case AttributeType.STRING:
            attribute.s = _encoded(value)
        case AttributeType.TENSOR:
            attribute.t.CopyFrom(tensor_proto(value))
        case AttributeType.GRAPH:
            attribute.g.CopyFrom(value)
        case AttributeType.SPARSE_TENSOR:
            attribute.sparse_tensor.CopyFrom(value)
        case AttributeType.TYPE_PROTO:
            attribute.tp.CopyFrom(value if isinstance(value, onnx.TypeProto) else type_proto(value))
        case AttributeType.STRINGS:
            attribute.strings.extend(_encoded(each) for each in value)
        case AttributeType.TENSORS:
            attribute.tensors.extend(tensor_proto(each) for each in value)
        case _:
            getattr(attribute, _FIELDS[kind]).extend(value)


def _encoded(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def tensor_proto(value: Any) -> onnx.TensorProto:
    """A tensor attribute's proto from an array, or as it is."""
    if isinstance(value, onnx.TensorProto):
        return value
    return numpy_helper.from_array(np.asarray(value))


def dense_array(sparse: onnx.SparseTensorProto) -> np.ndarray[Any, Any]:
    """A sparse tensor as a dense array; runtimes know few forms of sparse ones."""
    values = numpy_helper.to_array(sparse.values)
    indices = numpy_helper.to_array(sparse.indices)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    if indices.ndim == 2:  # coordinates, one row per value
        dense[tuple(indices.T)] = values
    else:
        dense.reshape(-1)[indices] = values
    return dense


def cache_key(call: Call) -> tuple[Any, ...]:
    """The key that tells one runner from another."""
    return (
        call.op,
        call.input_types,
        values_key(call.attributes) if call.attributes else (),
        call.output_count,
        tuple(call.captured.items()),
        call.opset_version,
    )
