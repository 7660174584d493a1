"""The graph that a gradient is recorded in: nodes say which node of the given model they are made for.

What is on the stack while it is recorded is a rule of ours, so that no place is looked for there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx_ir as ir

from onnxsmith.core.recording import OpsetChoice, RecordedFunction
from onnxsmith.core.target import OperatorCall
from onnxsmith.core.value import Value
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.ir_version import lowest_ir_version
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.origins import SOURCE_KEY, SOURCES_KEY
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import GraphRecord, ModelRecord, ValueRecord
from onnxsmith.graphs.value import Made, made_value, wrap
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.inference.known import Known
from onnxsmith.tracing.trace import PRODUCER
from onnxsmith.types.value_types import AnyValueType

#: Metadata of a node that computes a part of a gradient: the name of the node that it is the gradient of.
GRADIENT_OF = "onnxsmith.gradient_of"
#: The domain of functions that say how they are differentiated.
DOMAIN = "onnxsmith.grad"


class Origin:
    """The node of the given model that nodes are being made for: one for a graph and all graphs inside it."""

    __slots__ = ("_backward", "_forward", "_node")

    def __init__(self) -> None:
        self._node: ir.Node | None = None
        self._forward: Mapping[str, str] = {}
        self._backward: Mapping[str, str] | None = None

    def set(self, node: ir.Node | None, *, is_backward: bool) -> None:
        """From now on nodes are made for this one: it again, or a part of its gradient."""
        self._node = node
        self._forward = {} if node is None else node.metadata_props
        self._backward = {} if node is None and is_backward else None
        if node is not None and is_backward:
            places = {key: self._forward[key] for key in (SOURCE_KEY, SOURCES_KEY) if key in self._forward}
            self._backward = {**places, GRADIENT_OF: node.name or node.op_type}

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata of a node that is made now."""
        return self._forward if self._backward is None else self._backward


class GradientTarget(GraphTarget):
    """A graph target whose nodes carry the metadata of the nodes that they stand for."""

    def __init__(self, program: Program, parent: GradientTarget | None = None) -> None:
        super().__init__(program, parent)
        self.origin: Origin = Origin() if parent is None else parent.origin

    def subgraph(self) -> GradientTarget:
        return GradientTarget(self.program, self)

    def function(
        self, opset: OpsetChoice, *, is_exact: bool, is_lenient: bool, mixes_dtypes: bool = False
    ) -> GradientTarget:
        made = super().function(opset, is_exact=is_exact, is_lenient=is_lenient, mixes_dtypes=mixes_dtypes)
        return GradientTarget(made.program)

    def refined(self, value: Value, kind: AnyValueType) -> Value:
        if self.program.kind != "function":
            return super().refined(value, kind)
        made = made_value(value)  # a function declares no types inside
        return wrap(self.own(value), Known(kind), self, made.place)

    def place(self) -> None:
        return None

    def emit(self, call: OperatorCall) -> tuple[Any, ...]:
        results = super().emit(call)
        self.nodes[-1].metadata = self.origin.metadata
        return results

    def call_function(
        self,
        function: RecordedFunction,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[Known],
    ) -> tuple[Value, ...]:
        results = super().call_function(function, inputs, attributes, outputs)
        self.nodes[-1].metadata = self.origin.metadata
        return results


class BackwardTarget(GradientTarget):
    """The way back of a function, as a function: what it reads of the way forward it is given.

    Rules are called on values of the way forward. Where a node here reads one, it becomes an input; a constant becomes
    a constant here.
    """

    def __init__(
        self, program: Program, forward: GradientTarget, parent: BackwardTarget | None = None
    ) -> None:
        super().__init__(program, parent)
        self._forward = forward
        self._outermost: BackwardTarget = self if parent is None else parent._outermost
        #: The values of the way forward that are read, by their records, with what each is here.
        self.taken: dict[ValueRecord, tuple[Value, ValueRecord]] = {} if parent is None else parent.taken
        self._again: dict[ValueRecord, ValueRecord] = {} if parent is None else parent._again

    def subgraph(self) -> BackwardTarget:
        return BackwardTarget(self.program, self._forward, self)

    def sees(self, value: Value) -> bool:
        return made_value(value).scope is self._forward or super().sees(value)

    def own(self, value: Value) -> ValueRecord:
        made = made_value(value)
        if made.scope is not self._forward:
            return super().own(value)
        known = self.taken.get(made.record)
        here = self._again.get(made.record) if known is None else known[1]
        return self._outermost._take(made) if here is None else here

    def _take(self, value: Made) -> ValueRecord:
        record = value.record
        tensor = _constant(record)
        if tensor is not None:
            here = self._constant_tensor(tensor.tensor, value.known, record.name).record
            self._again[record] = here
            return here
        here = made_value(self.input(record.name, value.known.type)).record
        self.taken[record] = value, here
        return here


def _constant(record: ValueRecord) -> Weight | None:
    """The content of a constant of a function."""
    node = record.producer
    if node is None or node.op_type != "Constant" or node.domain:
        return None
    content = node.attributes[0][2] if node.attributes else None
    return content if isinstance(content, Weight) else None


def new_target(version: int) -> GradientTarget:
    """An empty model of an opset version."""
    return GradientTarget(Program("model", OpsetVersions(version, is_fixed=True)))


def record_of(target: GraphTarget, graph: GraphRecord, given: ir.Model) -> ModelRecord:
    """The model that a graph is all of, with what another one says of itself."""
    record = ModelRecord(graph, list(target.program.functions.values()), PRODUCER)
    record.ir_version = max(lowest_ir_version(record, target.program.dtypes), 8)
    record.doc_string = given.doc_string
    record.metadata_props = dict(given.metadata_props)
    return record
