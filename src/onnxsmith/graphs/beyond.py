"""Models with what onnx-ir has no place for: sparse tensors and maps.

`hide` puts stand-ins in their places, so that the rest can be an onnx-ir model; `show` puts them back into its proto.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import onnx

from onnxsmith.graphs import external_data, files, raw, soundness
from onnxsmith.graphs.ir_types import proto_of_type
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.scopes import all_graphs, graphs_of_proto
from onnxsmith.types.value_types import AnyValueType

#: Where the stand-in of a sparse tensor says that its data lies; no file is ever called so.
_MARK = "\0sparse:"


@dataclass(slots=True)
class Hidden:
    """The objects that stand-ins stand for."""

    sparse: list[onnx.SparseTensorProto] = field(default_factory=list[onnx.SparseTensorProto])
    #: The types of inputs and outputs, by name.
    types: dict[str, AnyValueType] = field(default_factory=dict[str, AnyValueType])


def from_proto(
    proto: onnx.ModelProto, called: str, folder: Path | None = None
) -> tuple[ir.Model, dict[str, AnyValueType]]:
    """A model as onnx-ir holds it, with its sparse tensors, and the types that onnx-ir does not know.

    `folder` is where its external data lies; a model that comes without one may have none.
    """
    with files.reading(called):
        return _read(proto, called, folder)


def _read(
    proto: onnx.ModelProto, called: str, folder: Path | None
) -> tuple[ir.Model, dict[str, AnyValueType]]:
    if not raw.is_beyond_onnx_ir(proto):
        model = soundness.check_ir(files.from_proto(proto, called), called)
        return files.stand_alone(model, called) if folder is None else files.attach(model, folder), {}
    soundness.check_proto(proto, called)
    copy = copied(proto)
    external_data.embed(raw.tensors_of(copy), folder, called)
    hidden = Hidden()
    for graph in graphs_of_proto(copy):
        _hide(graph, hidden)
    model = files.from_proto(copy, called)
    _show_in_ir(model, hidden)
    return model, hidden.types


def _hide(graph: onnx.GraphProto | onnx.FunctionProto, hidden: Hidden) -> None:
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.SPARSE_TENSOR:
                kept = copied(attribute.sparse_tensor)
                attribute.ClearField("sparse_tensor")
                attribute.type = onnx.AttributeProto.TENSOR
                attribute.t.CopyFrom(_stand_in(kept, hidden))
    if not isinstance(graph, onnx.GraphProto):
        return
    for sparse in graph.sparse_initializer:
        kept = copied(sparse)
        graph.initializer.append(_stand_in(kept, hidden))
    graph.ClearField("sparse_initializer")
    for value in (*graph.input, *graph.output):
        if raw.has_map(value.type):
            hidden.types[value.name] = raw.read_type(value.type)
            value.ClearField("type")
    known = [value for value in graph.value_info if not raw.has_map(value.type)]
    if len(known) < len(graph.value_info):
        graph.ClearField("value_info")
        graph.value_info.extend(known)


def _stand_in(sparse: onnx.SparseTensorProto, hidden: Hidden) -> onnx.TensorProto:
    result = onnx.TensorProto(name=sparse.values.name, data_type=sparse.values.data_type, dims=sparse.dims)
    result.data_location = onnx.TensorProto.EXTERNAL
    result.external_data.add(key="location", value=f"{_MARK}{len(hidden.sparse)}")
    hidden.sparse.append(sparse)
    return result


def _show_in_ir(model: ir.Model, hidden: Hidden) -> None:
    from onnxsmith.graphs.sparse_tensor import SparseTensor  # with onnx-ir, which is heavy

    for graph in all_graphs(model):
        for value in graph.initializers.values():
            sparse = _marked(value.const_value, hidden)
            if sparse is not None:
                value.const_value = SparseTensor(sparse)
        for node in graph:
            for attribute in list(node.attributes.values()):
                sparse = _marked(None if attribute.is_ref() else attribute.value, hidden)
                if sparse is not None:
                    node.attributes[attribute.name] = ir.Attr(
                        attribute.name,
                        ir.AttributeType.SPARSE_TENSOR,
                        sparse,
                        doc_string=attribute.doc_string,
                    )


def _marked(tensor: object, hidden: Hidden) -> onnx.SparseTensorProto | None:
    if not isinstance(tensor, ir.ExternalTensor):
        return None
    location = str(cast(Any, tensor).location)
    return hidden.sparse[int(location.removeprefix(_MARK))] if location.startswith(_MARK) else None


def needs_proto(model: ir.Model, types: dict[str, AnyValueType]) -> bool:
    """True if a model holds what only a proto can say."""
    from onnxsmith.graphs.sparse_tensor import SparseTensor  # with onnx-ir, which is heavy

    if types:
        return True
    graphs = all_graphs(model)
    return any(
        isinstance(value.const_value, SparseTensor)
        for graph in graphs
        for value in graph.initializers.values()
    ) or any(
        attribute.type == ir.AttributeType.SPARSE_TENSOR
        for graph in graphs
        for node in graph
        for attribute in node.attributes.values()
    )


def to_proto(model: ir.Model, types: dict[str, AnyValueType]) -> onnx.ModelProto:
    """The proto of a model with sparse tensors and maps."""
    from onnxsmith.graphs.sparse_tensor import SparseTensor  # with onnx-ir, which is heavy

    hidden = Hidden(types=types)
    for graph in all_graphs(model):
        for value in graph.initializers.values():
            if isinstance(value.const_value, SparseTensor):
                value.const_value = _ir_stand_in(value.const_value.proto, hidden, value.name or "")
        for node in graph:
            for attribute in list(node.attributes.values()):
                if attribute.type == ir.AttributeType.SPARSE_TENSOR and not attribute.is_ref():
                    stand_in = _ir_stand_in(cast(onnx.SparseTensorProto, attribute.value), hidden, "")
                    node.attributes[attribute.name] = ir.Attr(
                        attribute.name,
                        ir.AttributeType.TENSOR,
                        stand_in,
                        doc_string=attribute.doc_string,
                    )
    proto = files.to_proto(model)
    for graph in graphs_of_proto(proto):
        _show(graph, hidden)
    for value in (*proto.graph.input, *proto.graph.output):
        if value.name in types:
            value.type.CopyFrom(proto_of_type(types[value.name]))
    return proto


def _ir_stand_in(sparse: onnx.SparseTensorProto, hidden: Hidden, name: str) -> ir.TensorProtocol:
    from onnxsmith.graphs.file_reference import Reference  # with onnx-ir, which is heavy

    result = _stand_in(sparse, hidden)
    return Reference(
        result.external_data[0].value,
        None,
        None,
        ir.DataType(sparse.values.data_type),
        shape=ir.Shape(list(sparse.dims)),
        name=name,
    )


def _show(graph: onnx.GraphProto | onnx.FunctionProto, hidden: Hidden) -> None:
    for node in graph.node:
        for attribute in node.attribute:
            sparse = _marked_proto(attribute.t, hidden) if attribute.HasField("t") else None
            if sparse is not None:
                attribute.ClearField("t")
                attribute.type = onnx.AttributeProto.SPARSE_TENSOR
                attribute.sparse_tensor.CopyFrom(sparse)
    if not isinstance(graph, onnx.GraphProto):
        return
    dense: list[onnx.TensorProto] = []
    for tensor in graph.initializer:
        sparse = _marked_proto(tensor, hidden)
        if sparse is None:
            dense.append(tensor)
            continue
        kept = graph.sparse_initializer.add()
        kept.CopyFrom(sparse)
        kept.values.name = tensor.name
    if len(dense) < len(graph.initializer):
        graph.ClearField("initializer")
        graph.initializer.extend(dense)
        names = {each.values.name for each in graph.sparse_initializer}
        known = [value for value in graph.value_info if value.name not in names]
        graph.ClearField("value_info")
        graph.value_info.extend(known)


def _marked_proto(tensor: onnx.TensorProto, hidden: Hidden) -> onnx.SparseTensorProto | None:
    for entry in tensor.external_data:
        if entry.key == "location" and entry.value.startswith(_MARK):
            return hidden.sparse[int(entry.value.removeprefix(_MARK))]
    return None
