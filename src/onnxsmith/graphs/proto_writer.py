"""The one writer: from records to protobuf, without onnx-ir in between.

It sets the fields that onnx-ir's serializer sets for the same model; a test compares the two. Types and the texts of
places are made once. Bytes written by hand would save one microsecond of the three that a node takes; protobuf's own
messages are easier to trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import numpy as np
import onnx

from onnxsmith.graphs import files
from onnxsmith.graphs.attributes import typed_attribute
from onnxsmith.graphs.ir_maker import formal_attribute
from onnxsmith.graphs.ir_types import has_plain_bytes, proto_of_type, write_array
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.records import (
    AttributeRecord,
    Body,
    FunctionRecord,
    GraphRecord,
    ModelRecord,
    NodeRecord,
    ValueRecord,
)
from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.source import PlaceTexts
from onnxsmith.types.value_types import AnyValueType

#: Before this IR version a function cannot declare the types of its values.
_FUNCTION_TYPES_IR_VERSION = 10

#: A repeated field of pairs of strings.
_Pairs: TypeAlias = Any


#: What is written in the place of the tensors of initializers.
StandIns: TypeAlias = "Mapping[ValueRecord, ir.TensorProtocol]"
_NONE: StandIns = MappingProxyType({})


def model_to_proto(record: ModelRecord, stand_ins: StandIns = _NONE) -> onnx.ModelProto | None:
    """The proto of a recorded model, weights included; None for what only onnx-ir's serializer can say.

    A model that is called brings functions of onnx-ir's. And strings may be no text, or numbers too large: who writes
    those by way of onnx-ir knows what to do, or what to say.
    """
    if not all(isinstance(each, FunctionRecord) for each in record.functions):
        return None
    try:
        return _Writer(stand_ins).model(record)
    except (TypeError, ValueError, AttributeError, NotImplementedError, ir.serde.SerdeError):
        return None


class _Writer:
    """Writes one model."""

    def __init__(self, stand_ins: StandIns) -> None:
        self._stand_ins = stand_ins
        # By id, since hashing a type costs as much as writing it; the records hold the types.
        self._by_id: dict[int, onnx.TypeProto] = {}
        self._types: dict[AnyValueType, onnx.TypeProto] = {}
        self._sources = PlaceTexts()

    def model(self, record: ModelRecord) -> onnx.ModelProto:
        proto = onnx.ModelProto()
        proto.ir_version = record.ir_version
        if record.producer_name:
            proto.producer_name = record.producer_name
        if record.producer_version:
            proto.producer_version = record.producer_version
        if record.doc_string:
            proto.doc_string = record.doc_string
        for domain, version in record.opset_imports.items():
            proto.opset_import.add(domain=domain, version=version)
        _write_pairs(proto.metadata_props, record.metadata_props)
        self._graph(record.graph, proto.graph)
        for function in record.functions:
            assert isinstance(function, FunctionRecord)  # no others come here
            self._function(function, proto)
        return proto

    def _graph(self, record: GraphRecord, proto: onnx.GraphProto) -> None:
        if record.name:
            proto.name = record.name
        if record.doc_string:
            proto.doc_string = record.doc_string
        for each in record.inputs:
            self._value(each, proto.input.add())
        given = {each.name for each in record.inputs}
        for each in record.initializers:
            if each.type is not None and each.name not in given:
                self._value(each, proto.value_info.add())
            if each.content is not None:
                tensor = proto.initializer.add()
                stand_in = self._stand_ins.get(each)
                if stand_in is not None:
                    ir.serde.serialize_tensor_into(tensor, stand_in)
                elif isinstance(each.content, np.ndarray):
                    write_array(each.content, tensor)
                else:
                    ir.serde.serialize_tensor_into(tensor, _inside(each.content))
                tensor.name = each.name
        nodes, types = proto.node, proto.value_info
        for node in record.nodes:
            self._node(node, nodes.add())
            for each in node.outputs:
                if each.type is not None and not each.is_output:
                    self._value(each, types.add())
        for each in record.outputs:
            self._value(each, proto.output.add())

    def _node(self, record: NodeRecord, proto: onnx.NodeProto) -> None:
        proto.op_type = record.op_type
        if record.domain:
            proto.domain = record.domain
        if record.name:
            proto.name = record.name
        if record.overload:
            proto.overload = record.overload
        if record.metadata is not None:
            _write_pairs(proto.metadata_props, record.metadata)
        elif record.place is not None:
            pair = proto.metadata_props.add()
            pair.key = SOURCE_KEY
            pair.value = self._sources.of(record.place)
        proto.input.extend(["" if each is None else each.name for each in record.inputs])
        proto.output.extend([each.name for each in record.outputs])
        for attribute in record.attributes:
            self._attribute(attribute, proto.attribute.add())

    def _value(self, record: ValueRecord, proto: onnx.ValueInfoProto, name: str = "") -> None:
        proto.name = name or record.name
        kind = record.type
        if kind is None:
            return
        found = self._by_id.get(id(kind))
        if found is None:
            found = self._types.get(kind)
            if found is None:
                found = self._types[kind] = proto_of_type(kind)
            self._by_id[id(kind)] = found
        proto.type.CopyFrom(found)

    def _attribute(self, record: AttributeRecord, proto: onnx.AttributeProto) -> None:
        name, kind, content = record
        value = cast(Any, content)
        if isinstance(content, AttributeReference):
            proto.ref_attr_name = content.name
        elif kind is AttributeType.INT:
            proto.i = value
        elif kind is AttributeType.FLOAT:
            proto.f = value
        elif kind is AttributeType.STRING:
            proto.s = value if isinstance(value, bytes) else value.encode()
        elif kind is AttributeType.INTS:
            proto.ints.extend(value)
        elif kind is AttributeType.FLOATS:
            proto.floats.extend(value)
        elif isinstance(content, Body):
            self._graph(content.graph, proto.g)
        elif isinstance(content, tuple) and content and all(isinstance(each, Body) for each in content):
            for each in value:
                self._graph(each.graph, proto.graphs.add())
        elif kind is AttributeType.TENSOR and isinstance(content, np.ndarray) and has_plain_bytes(content):
            write_array(content, proto.t)
        else:
            ir.serde.serialize_attribute_into(proto, _embedded(typed_attribute(kind, name, content)))
            return
        proto.name = name
        proto.type = cast(Any, int(kind))

    def _function(self, record: FunctionRecord, model: onnx.ModelProto) -> None:
        proto = model.functions.add()
        graph = record.graph
        if record.domain:
            proto.domain = record.domain
        if record.name:
            proto.name = record.name
        if record.overload:
            proto.overload = record.overload
        if graph.doc_string:
            proto.doc_string = graph.doc_string
        for domain, version in graph.opset_imports.items():
            proto.opset_import.add(domain=domain, version=version)
        proto.input.extend([each.name for each in graph.inputs])
        for formal in record.attributes.values():
            if formal.default is None:
                proto.attribute.append(formal.name)
            else:
                ir.serde.serialize_attribute_into(proto.attribute_proto.add(), formal_attribute(formal))
        proto.output.extend([each.name for each in graph.outputs])
        for node in graph.nodes:
            self._node(node, proto.node.add())
        # A function's values are declared only where an annotation says what it returns.
        made = [each for node in graph.nodes for each in node.outputs]
        typed = [each for each in (*graph.inputs, *made) if each.type is not None]
        for each in typed:
            if model.ir_version >= _FUNCTION_TYPES_IR_VERSION:
                self._value(each, proto.value_info.add())
            else:  # onnx-ir's convention for older versions
                name = f"{record.domain}::{record.name}/{each.name}"
                self._value(each, model.graph.value_info.add(), name)


def _write_pairs(proto: _Pairs, pairs: Mapping[str, str]) -> None:
    for key in sorted(pairs):
        proto.add(key=key, value=pairs[key])


def _inside(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    """A tensor as the model holds it itself, and no file beside it."""
    return files.loaded(tensor) if isinstance(tensor, ir.ExternalTensor) else tensor


def _embedded(attribute: ir.Attr) -> ir.Attr:
    if attribute.type == ir.AttributeType.TENSOR:
        return ir.AttrTensor(attribute.name, _inside(attribute.as_tensor()))
    if attribute.type == ir.AttributeType.TENSORS:
        return ir.AttrTensors(attribute.name, [_inside(each) for each in attribute.as_tensors()])
    return attribute
