"""The findings of inference on a model, the model's own types beyond them, and a check that its nodes can work.

Reads a model and changes nothing. The model that is decompiled and the one that is rebuilt are looked at in the same
way. What inference finds in the one, it finds in the other, and only the rest must be written down.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

import onnx_ir as ir

from onnxsmith.decompiling.order import in_order
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.graph_inference import Functions, State, Walk
from onnxsmith.graphs.ir_types import dimensions_of, type_from_ir
from onnxsmith.graphs.rewriting.scopes import graphs_of
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.broadcasting import contradict, is_nothing
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.schema.inference.signature import outputs_by_signature
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    AnyValueType,
    Dimension,
    OptionalType,
    SequenceType,
    TensorType,
)


class Findings:
    """The facts that are known of the values of a model."""

    def __init__(self) -> None:
        #: Whether inference has nothing to object to.
        self.is_sound = True
        #: The type of each value that a node makes, from inference and the model together.
        self.types: dict[ir.Value, AnyValueType] = {}
        #: The values of which inference alone knows less.
        self.beyond: set[ir.Value] = set()


def look_at(model: ir.Model) -> Findings:
    """Look through a model and its functions, these for inputs of any type."""
    findings = Findings()
    state = State()  # one for all, so that all of it together has an end
    _look(model.graph, model.functions, model.opset_imports, findings, state)
    for function in model.functions.values():
        _look(function.graph, model.functions, function.opset_imports, findings, state)
    return findings


def _look(
    graph: ir.Graph, functions: Functions, imports: Mapping[str, int], findings: Findings, state: State
) -> None:
    walk = _Look(functions, imports, {}, {}, state)
    walk.findings, walk.inferred = findings, {}
    for value in graph.inputs:
        walk.known[value] = Known(type_from_ir(value.type, value.shape))
    walk.graph(graph)
    for value in graph.outputs:
        kind = type_from_ir(value.type, value.shape)
        inferred = walk.inferred.get(value)
        if inferred is not None and contradict(inferred, kind):
            findings.is_sound = False


class _Look(Walk):
    """Goes on where a node cannot work, and believes what the model says of a value where inference says less."""

    findings: Findings
    #: What inference alone knows.
    inferred: dict[ir.Value, AnyValueType]

    def graph(self, graph: ir.Graph) -> list[Known]:
        for value in graph.initializers.values():
            if value.const_value is not None:
                self.known[value] = _known_of(value.const_value)
        for node in in_order(graph):
            self.node(node)
        return [self.of(value) for value in graph.outputs]

    def node(self, node: ir.Node) -> None:
        self.state.nodes -= 1
        inputs = [None if each is None else self.of(each) for each in node.inputs]
        try:
            outputs = self.outputs(node, inputs)
        except OnnxsmithError:
            self.findings.is_sound = False
            outputs = _by_signature(self.definition(node), inputs, len(node.outputs))
        for value, known in zip(node.outputs, outputs, strict=False):
            self.inferred[value] = known.type
            self.known[value] = self.completed(known, value)

    def completed(self, known: Known, value: ir.Value) -> Known:
        declared = type_from_ir(value.type, value.shape)
        kind = joined(known.type, declared)
        self.findings.types[value] = kind
        if kind == known.type:
            self.findings.beyond.discard(value)  # a body is looked at more than once
            return known
        self.findings.beyond.add(value)
        return Known(kind, known.data)


def _known_of(tensor: ir.TensorProtocol) -> Known:
    # What cannot be read is told by who needs it.
    with contextlib.suppress(OnnxsmithError, OSError, TypeError, ValueError):
        return Weight(tensor.name or "", tensor).known
    return Known(TensorType(DType(int(tensor.dtype)), dimensions_of(tensor)))


def _by_signature(op: OperatorDef | None, inputs: Sequence[Known | None], count: int) -> Sequence[Known]:
    return [NOTHING] * count if op is None else outputs_by_signature(op, inputs, count)


def joined(inferred: AnyValueType, declared: AnyValueType) -> AnyValueType:
    """The inferred type of a value, with its declared type where that says more; contradictions are left out."""
    if is_nothing(inferred):
        return declared
    if isinstance(inferred, TensorType) and isinstance(declared, TensorType):
        if contradict(inferred, declared):
            return inferred
        shape = declared.shape if inferred.shape is None else inferred.shape
        if inferred.shape is not None and declared.shape is not None:
            shape = tuple(_dimension(a, b) for a, b in zip(inferred.shape, declared.shape, strict=True))
        return TensorType(inferred.dtype or declared.dtype, shape)
    if isinstance(inferred, SequenceType) and isinstance(declared, SequenceType):
        return SequenceType(joined(inferred.element, declared.element))
    if isinstance(inferred, OptionalType) and isinstance(declared, OptionalType):
        element = joined(inferred.element, declared.element)
        return OptionalType(element) if isinstance(element, TensorType | SequenceType) else inferred
    return inferred


def has_element_type(kind: AnyValueType) -> bool:
    """True if a type says what its elements are: another cannot be written."""
    while isinstance(kind, SequenceType | OptionalType):
        kind = kind.element
    return isinstance(kind, TensorType) and kind.dtype is not None


def has_value_types(graph: ir.Graph) -> bool:
    """True if a model says what the values inside a graph are; its outputs do not count."""
    return any(
        value.type is not None and not value.is_graph_output()
        for each in graphs_of(graph)
        for node in each
        for value in node.outputs
    )


def _dimension(inferred: Dimension, declared: Dimension) -> Dimension:
    """A size is more than a name, and the name that the model has is the one to keep."""
    return inferred if declared is None or isinstance(inferred, int) else declared
