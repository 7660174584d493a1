"""Parts that onnx-ir has no place for: maps and sparse weights. Says if a model has them, and reads its types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, cast

import onnx

from onnxsmith.errors import InvalidModelError
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.scopes import graphs_of_proto
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    Dimension,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
)


def is_beyond_onnx_ir(proto: onnx.ModelProto) -> bool:
    """True if a model would lose something in onnx-ir."""
    return any(_is_beyond(each) for each in graphs_of_proto(proto))


def _is_beyond(graph: onnx.GraphProto | onnx.FunctionProto) -> bool:
    if isinstance(graph, onnx.GraphProto) and (
        graph.sparse_initializer
        or any(has_map(each.type) for each in (*graph.input, *graph.output, *graph.value_info))
    ):
        return True
    return any(
        attribute.type in (onnx.AttributeProto.SPARSE_TENSOR, onnx.AttributeProto.SPARSE_TENSORS)
        for node in graph.node
        for attribute in node.attribute
    )


def tensors_of(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Every tensor in a model: weights, attributes, and the parts of those that are sparse."""
    for graph in graphs_of_proto(proto):
        if isinstance(graph, onnx.GraphProto):
            yield from graph.initializer
            yield from (part for each in graph.sparse_initializer for part in (each.values, each.indices))
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t
                yield from attribute.tensors
                sparse = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
                for each in (*sparse, *attribute.sparse_tensors):
                    yield from (each.values, each.indices)


def sparse_tensors_of(proto: onnx.ModelProto) -> Iterator[onnx.SparseTensorProto]:
    """Every sparse tensor in a model: weights and attributes."""
    for graph in graphs_of_proto(proto):
        if isinstance(graph, onnx.GraphProto):
            yield from graph.sparse_initializer
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("sparse_tensor"):
                    yield attribute.sparse_tensor
                yield from attribute.sparse_tensors


def initializer_names(proto: onnx.ModelProto) -> set[str]:
    """The names of a model's weights, those of sparse ones too."""
    graph = proto.graph
    names = {each.name for each in graph.initializer}
    return names | {each.values.name for each in graph.sparse_initializer}


def without_initializers(proto: onnx.ModelProto, names: Collection[str]) -> onnx.ModelProto:
    """A copy of a model without some of its weights."""
    copy = copied(proto)
    del copy.graph.initializer[:], copy.graph.sparse_initializer[:]
    copy.graph.initializer.extend(each for each in proto.graph.initializer if each.name not in names)
    copy.graph.sparse_initializer.extend(
        each for each in proto.graph.sparse_initializer if each.values.name not in names
    )
    return copy


_DTYPES = frozenset(int(each) for each in DType)


def has_map(proto: onnx.TypeProto) -> bool:
    """True if a type is, or contains, one that onnx-ir does not know."""
    match proto.WhichOneof("value"):
        case "map_type" | "sparse_tensor_type":
            return True
        case "sequence_type":
            return has_map(proto.sequence_type.elem_type)
        case "optional_type":
            return has_map(proto.optional_type.elem_type)
        case _:
            return False


def read_type(proto: onnx.TypeProto) -> AnyValueType:
    """The type that a proto describes."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            return _read_tensor(proto.tensor_type)
        case "sequence_type":
            return SequenceType(read_type(proto.sequence_type.elem_type))
        case "optional_type":
            return OptionalType(cast(Any, read_type(proto.optional_type.elem_type)))
        case "map_type":
            key, value = proto.map_type.key_type, read_type(proto.map_type.value_type)
            if key not in _DTYPES:
                raise InvalidModelError(
                    f"the model is not valid: a map has no type of its keys (key_type {key})"
                )
            return MapType(DType(key), cast(TensorType, value))
        case _:
            return UNKNOWN_TENSOR


def _read_tensor(proto: onnx.TypeProto.Tensor) -> TensorType:
    dtype = DType(proto.elem_type) if proto.elem_type else None
    if not proto.HasField("shape"):
        return TensorType(dtype, None)
    return TensorType(dtype, tuple(_read_dimension(each) for each in proto.shape.dim))


def _read_dimension(proto: onnx.TensorShapeProto.Dimension) -> Dimension:
    if proto.WhichOneof("value") == "dim_value":
        return proto.dim_value if proto.dim_value >= 0 else None
    return proto.dim_param or None


def texts_of(proto: onnx.ModelProto) -> Iterator[str | bytes]:
    """The names in a model; where one is no text, the bytes."""
    yield from (proto.producer_name, proto.producer_version, proto.domain, proto.doc_string)
    yield from (each.domain for each in proto.opset_import)
    yield from _pairs(proto.metadata_props)
    for graph in graphs_of_proto(proto):
        yield from (graph.name, graph.doc_string)
        yield from _pairs(graph.metadata_props)
        if isinstance(graph, onnx.GraphProto):
            for value in (*graph.input, *graph.output, *graph.value_info):
                yield from (value.name, value.doc_string)
                yield from _pairs(value.metadata_props)
                yield from (each.dim_param for each in value.type.tensor_type.shape.dim)
            for tensor in graph.initializer:
                yield from (tensor.name, tensor.doc_string)
        else:
            yield from (graph.domain, graph.overload, *graph.input, *graph.output, *graph.attribute)
            yield from (each.domain for each in graph.opset_import)
            yield from (each.name for each in graph.attribute_proto)
        for node in graph.node:
            yield from (node.name, node.op_type, node.domain, node.overload, node.doc_string)
            yield from node.input
            yield from node.output
            yield from _pairs(node.metadata_props)
            for attribute in node.attribute:
                yield from (attribute.name, attribute.ref_attr_name, attribute.doc_string)


def _pairs(entries: Iterable[onnx.StringStringEntryProto]) -> Iterator[str | bytes]:
    for each in entries:
        yield from (each.key, each.value)
