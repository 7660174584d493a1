"""The graph of a plain model file, over its proto: types as the file declares them, and else inferred.

Plain means that nothing has to be put right: names are given once, before they are read; no node has a body; no weight
lies in another file. A graph that is not plain raises `NotPlain`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import onnx

from onnxsmith.costs import CostlyGraph
from onnxsmith.graphs import raw
from onnxsmith.schema.inference.broadcasting import is_complete, is_nothing
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType, Dimension, TensorType

#: More nodes than this are not for a quick look.
_MOST_NODES = 5000
#: Up to this many elements inference knows what a weight holds: shapes are computed from small arrays.
_DATA_ELEMENTS = 64


class NotPlain(Exception):
    """The file needs more than a quick look."""


class PlainValue:
    """A value by its name."""

    __slots__ = ("_graph", "name")

    def __init__(self, graph: PlainGraph, name: str) -> None:
        self._graph = graph
        self.name = name

    @property
    def type(self) -> AnyValueType:
        """Its type: declared in full, or else inferred."""
        return self._graph.type_of(self.name)


class PlainNode:
    """A node of a plain file."""

    __slots__ = ("_graph", "attributes", "domain", "op_type", "proto")

    #: A plain node has no bodies, and calls no function.
    bodies: Sequence[CostlyGraph] = ()
    function: CostlyGraph | None = None

    def __init__(self, graph: PlainGraph, proto: onnx.NodeProto) -> None:
        self._graph = graph
        self.proto = proto
        self.op_type = proto.op_type
        self.domain = proto.domain
        self.attributes: Mapping[str, Any] = {each.name: _attribute(each) for each in proto.attribute}
        if len(self.attributes) < len(proto.attribute) or proto.overload or proto.domain == "ai.onnx":
            raise NotPlain

    @property
    def operator(self) -> str:
        """The operator with its domain; without one for ONNX's own."""
        return f"{self.domain}::{self.op_type}" if self.domain else self.op_type

    @property
    def inputs(self) -> list[PlainValue | None]:
        """Its inputs; None for one that is left out."""
        return [PlainValue(self._graph, each) if each else None for each in self.proto.input]

    @property
    def outputs(self) -> list[PlainValue]:
        """Its outputs."""
        return [PlainValue(self._graph, each) for each in self.proto.output]


class PlainGraph:
    """The graph of a plain file."""

    def __init__(
        self, model: onnx.ModelProto, infer: Callable[[PlainGraph], Mapping[str, AnyValueType]]
    ) -> None:
        proto = model.graph
        #: Gives the types of all values; asked where the file does not declare them.
        self._infer = infer
        if len(proto.node) > _MOST_NODES:
            raise NotPlain
        self.name = proto.name
        self.opset_imports = {each.domain: each.version for each in model.opset_import}
        if len(self.opset_imports) < len(model.opset_import) or "ai.onnx" in self.opset_imports:
            raise NotPlain
        self.inputs = _names([each.name for each in proto.input])
        self.outputs = _names([each.name for each in proto.output])
        self.initializers = {each.name: each for each in proto.initializer}
        _names([each.name for each in proto.initializer])
        #: The types that the file declares; a weight has its own.
        self.declared = {each.name: _declared(each) for each in (*proto.input, *proto.output)}
        for each in proto.value_info:
            if each.name in self.declared:
                raise NotPlain  # which of the two counts is for others to say
            self.declared[each.name] = _declared(each)
        self.nodes = [PlainNode(self, each) for each in proto.node]
        self._check_order()
        #: Weights by name: initializers, and the tensors of constants.
        self.weights = dict(self.initializers)
        for node in self.nodes:
            if node.operator == "Constant" and isinstance(node.attributes.get("value"), onnx.TensorProto):
                (name,) = node.proto.output
                self.weights[name] = node.attributes["value"]
        for each in self.weights.values():
            _check_tensor(each)
        self._inferred: Mapping[str, AnyValueType] | None = None

    def _check_order(self) -> None:
        known = {*self.inputs, *self.initializers}
        if not known.isdisjoint(self.outputs):
            raise NotPlain
        for node in self.nodes:
            given = [each for each in node.proto.output if each]
            if not known.issuperset(filter(None, node.proto.input)) or not known.isdisjoint(given):
                raise NotPlain
            known.update(_names(given))
        if not known.issuperset(self.outputs) or not known.issuperset(self.declared):
            raise NotPlain

    def type_of(self, name: str) -> AnyValueType:
        """The type of a value: declared in full, or else inferred."""
        tensor = self.initializers.get(name)
        kind = self.declared.get(name)
        if kind is None:
            kind = UNKNOWN_TENSOR if tensor is None else _type_of_tensor(tensor)
        if is_complete(kind):
            return kind
        if self._inferred is None:
            self._inferred = self._infer(self)
        found = self._inferred.get(name)
        return kind if found is None or is_nothing(found) else found


def known_data(tensor: onnx.TensorProto) -> tuple[AnyValueType, Any]:
    """The type of a weight, and its content where that is small."""
    kind = _type_of_tensor(tensor)
    elements = 1
    for each in tensor.dims:
        elements *= each
    is_small = elements <= _DATA_ELEMENTS and tensor.data_type != onnx.TensorProto.STRING
    return kind, onnx.numpy_helper.to_array(tensor) if is_small else None


def _names(names: list[str]) -> list[str]:
    if not all(names) or len(set(names)) < len(names):
        raise NotPlain
    return names


def _declared(info: onnx.ValueInfoProto) -> AnyValueType:
    if not info.type.WhichOneof("value") or info.metadata_props:
        raise NotPlain
    return raw.read_type(info.type)


def _type_of_tensor(tensor: onnx.TensorProto) -> TensorType:
    return TensorType(DType(tensor.data_type), cast("tuple[Dimension, ...]", tuple(tensor.dims)))


def _check_tensor(tensor: onnx.TensorProto) -> None:
    if (
        tensor.data_location == onnx.TensorProto.EXTERNAL
        or tensor.external_data
        or tensor.HasField("segment")
    ):
        raise NotPlain
    if not tensor.data_type or any(each < 0 for each in tensor.dims):
        raise NotPlain


def _attribute(proto: onnx.AttributeProto) -> Any:
    """The value of an attribute; tensors stay protos."""
    if proto.ref_attr_name or not proto.name:
        raise NotPlain
    match proto.type:
        case onnx.AttributeProto.INT:
            return proto.i
        case onnx.AttributeProto.FLOAT:
            return proto.f
        case onnx.AttributeProto.STRING:
            return proto.s.decode()
        case onnx.AttributeProto.INTS:
            return tuple(proto.ints)
        case onnx.AttributeProto.FLOATS:
            return tuple(proto.floats)
        case onnx.AttributeProto.STRINGS:
            return tuple(each.decode() for each in proto.strings)
        case onnx.AttributeProto.TENSOR:
            _check_tensor(proto.t)
            return proto.t
        case _:
            raise NotPlain
