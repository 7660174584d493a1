"""From records to onnx-ir: for who looks at a model or changes it. Weights are referred to, not copied.

The way to a file does not lead through here: `proto_writer` has it.
"""

from __future__ import annotations

from typing import Any, cast

from onnxsmith.core.recording import FormalAttribute
from onnxsmith.graphs.attributes import typed_attribute
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.notes import VARIABLE_KEY, WEIGHT_KEY
from onnxsmith.graphs.origins import origin_metadata
from onnxsmith.graphs.records import (
    AnyFunction,
    AttributeRecord,
    Body,
    FunctionRecord,
    GraphRecord,
    ModelRecord,
    NodeRecord,
    ValueRecord,
)
from onnxsmith.source import span_at


class IrMaker:
    """Makes the onnx-ir of records, each once."""

    def __init__(self) -> None:
        self.nodes: dict[NodeRecord, ir.Node] = {}
        self._values: dict[ValueRecord, ir.Value] = {}

    def model(self, record: ModelRecord) -> ir.Model:
        """A model."""
        result = ir.Model(
            self.graph(record.graph),
            ir_version=record.ir_version,
            producer_name=record.producer_name,
            producer_version=record.producer_version or None,
            doc_string=record.doc_string,
            functions=[function_to_ir(each) for each in record.functions],
        )
        result.metadata_props.update(record.metadata_props)
        return result

    def graph(self, record: GraphRecord) -> ir.Graph:
        """A graph; the values that it sees outside are those that were made before."""
        value = self._value
        return ir.Graph(
            [value(each) for each in record.inputs],
            [value(each) for each in record.outputs],
            nodes=[self._node(each) for each in record.nodes],
            initializers=[value(each) for each in record.initializers],
            opset_imports=dict(record.opset_imports),
            name=record.name,
            doc_string=record.doc_string,
        )

    def _node(self, record: NodeRecord) -> ir.Node:
        value = self._value
        metadata = record.metadata
        result = ir.Node(
            record.domain,
            record.op_type,
            [None if each is None else value(each) for each in record.inputs],
            [self._attribute(each) for each in record.attributes],
            overload=record.overload,
            outputs=[value(each) for each in record.outputs],
            name=record.name,
            metadata_props=origin_metadata(span_at(record.place)) if metadata is None else dict(metadata),
        )
        self.nodes[record] = result
        return result

    def _value(self, record: ValueRecord) -> ir.Value:
        result = self._values.get(record)
        if result is None:
            kind, shape = (None, None) if record.type is None else type_to_ir(record.type)
            result = ir.Value(name=record.name, type=kind, shape=shape, const_value=record.tensor)
            if record.variable is not None:
                result.meta[VARIABLE_KEY] = record.variable
            if record.weight is not None:
                result.meta[WEIGHT_KEY] = record.weight
            self._values[record] = result
        return result

    def _attribute(self, record: AttributeRecord) -> ir.Attr:
        name, kind, content = record
        if isinstance(content, Body):
            return ir.AttrGraph(name, self.graph(content.graph))
        if isinstance(content, tuple) and any(isinstance(each, Body) for each in content):
            graphs = [self.graph(each.graph) if isinstance(each, Body) else each for each in content]
            return typed_attribute(kind, name, tuple(cast("list[ir.Graph]", graphs)))
        return typed_attribute(kind, name, content)


def model_to_ir(record: ModelRecord) -> ir.Model:
    """The onnx-ir model of a recorded one."""
    return IrMaker().model(record)


def function_to_ir(function: AnyFunction) -> ir.Function:
    """The onnx-ir function of a recorded one; one that is onnx-ir's stays what it is."""
    if not isinstance(function, FunctionRecord):
        return function
    return ir.Function(
        function.domain,
        function.name,
        function.overload,
        graph=IrMaker().graph(function.graph),
        attributes=[formal_attribute(each) for each in function.attributes.values()],
    )


def formal_attribute(attribute: FormalAttribute) -> ir.Attr:
    """An attribute that a function takes."""
    value: Any = attribute.default
    if value is None:
        return ir.Attr(attribute.name, ir.AttributeType(int(attribute.type)), None)
    if isinstance(value, list):
        value = tuple(cast("list[Any]", value))
    return typed_attribute(attribute.type, attribute.name, int(value) if isinstance(value, bool) else value)
