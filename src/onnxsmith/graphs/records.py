"""The records of a graph target: each value and node once, with our own types and the place in the user's code.

Plain data without rules: `proto_writer` makes protobuf of it, `ir_maker` onnx-ir. A node costs a few small objects
here, and its place in the source is worked out only on request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import onnx

from onnxsmith.core.recording import FormalAttribute, RecordedBody
from onnxsmith.core.stored import Stored
from onnxsmith.core.value import Array
from onnxsmith.graphs.ir_types import array_to_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Place
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType, MapType, TensorType, ValueType

_Graph: TypeAlias = "RecordedBody | ir.Graph | onnx.GraphProto"
_Kind: TypeAlias = "ValueType | onnx.TypeProto"
_Content: TypeAlias = "int | float | str | bytes | Array | Stored | _Graph | _Kind | onnx.SparseTensorProto"
#: The value of an attribute in normal form, as `schema.attributes` reads it.
AttributeContent: TypeAlias = "AttributeReference | _Content | tuple[_Content, ...]"


class ValueRecord:
    """A value of a graph: an input, an initializer, or what a node gives."""

    __slots__ = ("content", "is_output", "name", "producer", "type", "variable", "weight")

    def __init__(self, name: str, kind: AnyValueType | None = None) -> None:
        self.name = name
        #: The type that the model declares for it; None where it declares none.
        self.type: AnyValueType | None = kind
        self.producer: NodeRecord | None = None
        #: The content of an initializer.
        self.content: Array | ir.TensorProtocol | None = None
        #: Whether it is an output of its graph or of one inside.
        self.is_output = False
        #: The variable that the user gave it.
        self.variable: str | None = None
        #: The name of the weight that it was made of.
        self.weight: str | None = None

    @property
    def tensor(self) -> ir.TensorProtocol | None:
        """The content of an initializer as onnx-ir has it, which is loaded for it: most models are written without."""
        if isinstance(self.content, np.ndarray):
            self.content = array_to_ir(self.content, self.name)
        return self.content

    def __repr__(self) -> str:
        return f"<value {self.name}>"


#: One attribute of a node: its name, its type, and its value in normal form.
AttributeRecord: TypeAlias = tuple[str, AttributeType, AttributeContent]


class NodeRecord:
    """A node: a call of an operator or of a function."""

    __slots__ = (
        "attributes", "domain", "inputs", "metadata", "name", "op_type", "outputs", "overload", "place"
    )  # fmt: skip

    def __init__(
        self,
        domain: str,
        op_type: str,
        name: str,
        inputs: Sequence[ValueRecord | None],
        attributes: Sequence[AttributeRecord],
        outputs: Sequence[ValueRecord],
        place: Place | None,
        overload: str = "",
    ) -> None:
        self.domain = domain
        self.op_type = op_type
        self.name = name
        self.inputs = inputs
        self.attributes = attributes
        self.outputs = outputs
        self.place = place
        self.overload = overload
        #: What its metadata says instead of its place.
        self.metadata: Mapping[str, str] | None = None
        for each in outputs:
            each.producer = self

    def graphs(self) -> Iterator[GraphRecord]:
        """The graphs inside it that were recorded."""
        for _, _, content in self.attributes:
            for each in content if isinstance(content, tuple) else (content,):
                if isinstance(each, Body):
                    yield each.graph

    def __repr__(self) -> str:
        return f"<node {self.name}: {self.op_type}>"


@dataclass(slots=True, eq=False)
class GraphRecord:
    """A finished graph, or the body of a function."""

    name: str
    inputs: list[ValueRecord]
    outputs: list[ValueRecord]
    nodes: list[NodeRecord]
    initializers: list[ValueRecord]
    opset_imports: dict[str, int]
    doc_string: str | None = None

    def all_nodes(self) -> Iterator[NodeRecord]:
        """The nodes of the graph, each followed by those of the graphs inside it."""
        for node in self.nodes:
            yield node
            if node.attributes:
                for graph in node.graphs():
                    yield from graph.all_nodes()


@dataclass(frozen=True, slots=True)
class Body(RecordedBody):
    """A finished subgraph, which a control-flow operator gets as its body, and what is known of its outputs."""

    graph: GraphRecord
    outputs: tuple[Known, ...]
    reads_open_type: bool = False

    def add_unused_input(self, kind: AnyValueType) -> None:
        """Add an input at the end that no node reads."""
        name = f"{self.graph.name}_unused_{len(self.graph.inputs) - 1}"
        self.graph.inputs.append(ValueRecord(name, declared(kind)))

    def discard(self) -> None:
        """Forget the body: nothing holds on to what its nodes used."""


@dataclass(slots=True, eq=False)
class FunctionRecord:
    """A finished function."""

    domain: str
    name: str
    overload: str
    graph: GraphRecord
    attributes: dict[str, FormalAttribute]

    def identifier(self) -> ir.OperatorIdentifier:
        """The identifier that is unique among the functions of a model."""
        return (self.domain, self.name, self.overload)

    @property
    def inputs(self) -> list[ValueRecord]:
        """Its parameters that are tensors."""
        return self.graph.inputs

    @property
    def outputs(self) -> list[ValueRecord]:
        """Its outputs."""
        return self.graph.outputs

    @property
    def opset_imports(self) -> dict[str, int]:
        """The versions of the opsets that it uses."""
        return self.graph.opset_imports


#: A function that was recorded, or one of a finished model that is called.
AnyFunction: TypeAlias = "FunctionRecord | ir.Function"


@dataclass(slots=True, eq=False)
class ModelRecord:
    """A finished model."""

    graph: GraphRecord
    functions: list[AnyFunction]
    producer_name: str
    producer_version: str = ""
    ir_version: int = 10
    doc_string: str | None = None
    metadata_props: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def opset_imports(self) -> dict[str, int]:
        """The versions of the opsets that it uses."""
        return self.graph.opset_imports


def declared(kind: AnyValueType) -> AnyValueType | None:
    """A type as a graph declares it: none where the element type is open, and none for maps, which onnx-ir has not."""
    return None if element_dtype(kind) is None else kind


def element_dtype(kind: AnyValueType) -> DType | None:
    """The element type of a tensor, or of those in a sequence or optional; None where it is open, and for maps."""
    tensor = kind if isinstance(kind, TensorType) else tensor_inside(kind)
    return None if tensor is None else tensor.dtype


def tensor_inside(kind: AnyValueType) -> TensorType | None:
    """The tensor that a sequence or optional is made of; a tensor itself; None for maps."""
    while not isinstance(kind, TensorType):
        if isinstance(kind, MapType):
            return None
        kind = kind.element
    return kind


def named_dimensions(value: ValueRecord) -> Iterator[str]:
    """The names of the dimensions that a value declares."""
    tensor = None if value.type is None else tensor_inside(value.type)
    if tensor is not None:
        yield from (each for each in tensor.shape or () if isinstance(each, str))


# -- The types that an exact body declares for its outputs: those that the user wrote, and no others --


def declare_outputs(
    graph: GraphRecord, known: Sequence[Known], types: Sequence[AnyValueType | None]
) -> tuple[Known, ...]:
    """Let the outputs of an exact body have the types that it declares, and no others; give what is known of them."""
    own = set(graph.nodes)
    for value, kind in zip(graph.outputs, types, strict=True):
        if kind is not None:
            value.type = declared(kind)
        elif value.producer in own:
            value.type = None
    return tuple(
        Known(kind) if kind is not None and each.type == UNKNOWN_TENSOR else each
        for kind, each in zip(types, known, strict=True)
    )
