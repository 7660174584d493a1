"""`SessionModel`, and how one is made of a model: which weights stay in the graph, and where the others lie.

What lies between a model and a session (facts about a runtime, say) rewrites the graph and never touches the weights.
The model is read and not changed, so that threads may do this with one model at the same time. No weight is copied
here that lies in memory or in a file as ONNX lays it out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray

from onnxsmith.graphs import files, stamps
from onnxsmith.graphs.holding import held
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.proto_writer import model_to_proto
from onnxsmith.graphs.records import AttributeRecord, Body, FunctionRecord, ModelRecord, ValueRecord
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.schema.definition import AttributeReference, AttributeType

#: What the graph says instead of a file's name for a weight that is handed over. It is never opened.
HANDED_OVER = "handed over apart from the graph"

#: Elements as ONNX lays them out, in row-major order and packed where they are smaller than a byte.
Content: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class FilePart:
    """Where in a file a weight lies; the path is absolute and free of links."""

    path: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class SessionWeight:
    """The content of one weight: `read` gives it from where it lies, and `part` says so if that is a file."""

    read: Callable[[], Content]
    part: FilePart | None = None


@dataclass(frozen=True, slots=True)
class SessionModel:
    """A graph, and the content of those initializers of it that have none.

    `weights` may hold more names than the graph has initializers: whoever rewrites the graph may drop some.
    """

    proto: onnx.ModelProto
    weights: Mapping[str, SessionWeight] = field(default_factory=dict[str, SessionWeight])

    def apart(self) -> list[tuple[onnx.TensorProto, SessionWeight]]:
        """The initializers of the graph whose content lies apart."""
        return [
            (each, self.weights[each.name])
            for each in self.proto.graph.initializer
            if each.data_location == onnx.TensorProto.EXTERNAL and each.name in self.weights
        ]

    def whole(self) -> onnx.ModelProto:
        """A copy with all weights inside, for who cannot take them apart."""
        copy = copied(self.proto)
        for tensor, weight in SessionModel(copy, self.weights).apart():
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            tensor.raw_data = weight.read().tobytes()
        return copy


#: Smaller weights stay in the graph: apart from it they would cost more than a copy.
_SMALL_BYTES = 1024
#: Integers up to this size stay in the graph where they may be sizes or axes: inference of shapes reads those, and
#: reads nothing that lies apart.
_SIZES_BYTES = 1 << 16
_SIZES = frozenset({onnx.TensorProto.INT64, onnx.TensorProto.INT32})
#: No runtime takes these as values of its own.
_STAYING = frozenset({onnx.TensorProto.STRING, onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128})


def session_model(model: ir.Model) -> SessionModel:
    """The graph of a model with its large weights apart. Those of nested graphs stay: no runtime takes them apart."""
    with held(model):
        return _apart(model)


def recorded_session_model(model: ModelRecord) -> SessionModel | None:
    """The same for a model as it was recorded; None where it has parts of other models, which nobody has looked at."""
    graphs = [model.graph, *(each.graph for each in model.functions if isinstance(each, FunctionRecord))]
    nodes = (node for graph in graphs for node in graph.all_nodes() if node.attributes)
    if any(_is_foreign(each) for node in nodes for each in node.attributes):
        return None
    weights: dict[str, SessionWeight] = {}
    stand_ins: dict[ValueRecord, ir.TensorProtocol] = {}
    for value in model.graph.initializers:
        if isinstance(value.content, np.ndarray) and value.content.nbytes < _SMALL_BYTES:
            continue
        tensor = value.tensor
        if tensor is not None and _goes_apart(tensor):
            weights[value.name] = SessionWeight(lambda tensor=tensor: content_of(tensor), _part_of(tensor))
            stand_ins[value] = _stand_in(tensor, value.name)
    proto = model_to_proto(model, stand_ins)
    if proto is None:
        return None
    # A runtime has no use for what is written for people.
    proto.ClearField("doc_string")
    proto.graph.ClearField("doc_string")
    return SessionModel(proto, weights)


def _is_foreign(attribute: AttributeRecord) -> bool:
    """True if an attribute is a graph that the user brought, whose own attributes no call has checked."""
    _, kind, content = attribute
    if kind not in (AttributeType.GRAPH, AttributeType.GRAPHS):
        return False
    parts = content if isinstance(content, tuple) else (content,)
    return not all(isinstance(each, Body | AttributeReference) for each in parts)


def _apart(model: ir.Model) -> SessionModel:
    weights: dict[str, SessionWeight] = {}
    graph = model.graph
    initializers: list[ir.Value] = []
    for name, value in graph.initializers.items():
        tensor = value.const_value
        if tensor is not None and _goes_apart(tensor):
            weights[name] = SessionWeight(lambda tensor=tensor: content_of(tensor), _part_of(tensor))
            tensor = _stand_in(tensor, name)
        elif isinstance(tensor, ir.ExternalTensor):
            tensor = files.loaded(tensor)
        else:
            initializers.append(value)
            continue
        initializers.append(ir.Value(name=name, type=value.type, shape=value.shape, const_value=tensor))
    view = ir.GraphView(
        graph.inputs,
        graph.outputs,
        nodes=graph,  # pyright: ignore[reportArgumentType]  # any iterable of nodes does
        initializers=initializers,
        opset_imports=graph.opset_imports,
        name=graph.name,
        metadata_props=graph.metadata_props,
    )
    told = ir.Model(
        view,  # pyright: ignore[reportArgumentType]  # what is serialized asks for no more than a view has
        ir_version=model.ir_version,
        producer_name=model.producer_name,
        domain=model.domain,
        functions=list(model.functions.values()),
        metadata_props=model.metadata_props,
    )
    with files.nothing_beside(model, nested_only=True):
        return SessionModel(files.serialized(told), weights)


def _goes_apart(tensor: ir.TensorProtocol) -> bool:
    if tensor.dtype in _STAYING or tensor.nbytes < _SMALL_BYTES:
        return False
    may_be_sizes = tensor.dtype in _SIZES and len(tensor.shape) <= 1
    return not (may_be_sizes and tensor.nbytes <= _SIZES_BYTES)


def _stand_in(tensor: ir.TensorProtocol, name: str) -> ir.ExternalTensor:
    from onnxsmith.graphs.file_reference import Reference  # with onnx-ir, which is heavy

    return Reference(HANDED_OVER, None, None, tensor.dtype, shape=ir.Shape(dimensions_of(tensor)), name=name)


def _part_of(tensor: ir.TensorProtocol) -> FilePart | None:
    """Where a tensor lies in a file, as long as that is still the file it was found in."""
    if not isinstance(tensor, ir.ExternalTensor):
        return None
    path = os.path.realpath(tensor.path)
    known = stamps.marked(tensor)
    # One that has been mapped keeps the file it was mapped from, even when another one takes its place.
    is_same = tensor.raw is None if known is None else stamps.stamp(path) == known
    return FilePart(path, tensor.offset or 0, tensor.nbytes) if is_same else None


def content_of(tensor: ir.TensorProtocol) -> Content:
    """The bytes of a tensor as ONNX lays them out: its own memory where they lie there so."""
    if tensor.dtype.bitwidth >= 8:
        array = np.asarray(tensor.numpy())
        if array.nbytes == tensor.nbytes and array.dtype.isnative and array.flags.c_contiguous:
            return array.reshape(-1).view(np.uint8)
    return np.frombuffer(tensor.tobytes(), np.uint8)
