"""The graph that a PyTorch program is translated into: nodes know which part of the model they come from."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onnxsmith.algorithms.operators import PortableOperators, portable_operators
from onnxsmith.core.recording import OpsetChoice, RecordedFunction
from onnxsmith.core.target import ACTIVE, OperatorCall, Target
from onnxsmith.core.value import Array, Value
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.identity import number_of_call
from onnxsmith.graphs.names import snake_case
from onnxsmith.graphs.origins import SOURCE_KEY, written
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import NodeRecord, ValueRecord
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import STATEMENT, Span
from onnxsmith.torch.module_calls import Calls
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: The key of node metadata that holds the node of torch's graph. The path of the `nn.Module` is in the node's name.
NODE_KEY = "onnxsmith.fx_node"


@dataclass(slots=True)
class Origin:
    """The node of torch's graph that is being translated."""

    name: str = ""
    #: The path of the `nn.Module`, and a slash; empty at the top.
    scope: str = ""
    #: The line of the model's source, as metadata has it.
    source: str = ""
    #: The calls of modules that it is in, the outermost first.
    modules: Calls = ()
    #: The initializers that a module in training writes to: in the next step they have other values.
    state: set[ValueRecord] = field(default_factory=set[ValueRecord])


class TorchTarget(GraphTarget):
    """A graph target whose operators are portable and whose nodes are named after torch's."""

    def __init__(
        self,
        program: Program,
        parent: TorchTarget | None = None,
        *,
        origin: Origin,
        has_metadata: bool,
        keeps_modules: bool = False,
        keeps_weights: bool = False,
        around: TorchTarget | None = None,
    ) -> None:
        super().__init__(program, parent)
        #: The graph that a backward formula is recorded in: the body of the formula reads its values.
        self.around = around
        self._records_formulas = False
        self.origin = origin
        #: Whether what is computed of weights stays computed, because they are going to be trained.
        self.keeps_weights = keeps_weights
        self.has_metadata = has_metadata
        #: Sizes and the like that were computed: what computes them -> the results.
        self._made: dict[Hashable, tuple[Value, ...]] = {}
        #: The calls of modules that each node of the outermost graph is in, where that is asked for.
        self.modules: dict[NodeRecord, Calls] | None = {} if keeps_modules else None

    @property
    def operators(self) -> PortableOperators:
        return portable_operators(self.program.opsets.version(""))

    def subgraph(self) -> TorchTarget:
        return TorchTarget(
            self.program,
            self,
            origin=self.origin,
            has_metadata=self.has_metadata,
            keeps_weights=self.keeps_weights,
            around=self.around,
        )

    @property
    def outermost(self) -> GraphTarget:
        """The graph of the whole model, which has the weights."""
        return self.root if self.around is None else self.around.outermost

    @contextlib.contextmanager
    def recording_formulas(self) -> Generator[None]:
        """Record functions, from here on, as parts of this program: translations are called in them."""
        held, self._records_formulas = self._records_formulas, True
        try:
            yield
        finally:
            self._records_formulas = held

    def function(
        self, opset: OpsetChoice, *, is_exact: bool, is_lenient: bool, mixes_dtypes: bool = False
    ) -> GraphTarget:
        made = super().function(opset, is_exact=is_exact, is_lenient=is_lenient, mixes_dtypes=mixes_dtypes)
        if not self._records_formulas:
            return made
        return TorchTarget(
            made.program,
            origin=self.origin,
            has_metadata=self.has_metadata,
            keeps_weights=self.keeps_weights,
            around=self,
        )

    def place(self) -> Span | None:
        """The line of the model; what stands on the stack is a translation."""
        return STATEMENT.get()

    def _equal(self, key: Hashable) -> tuple[Value, ...] | None:
        """The results of an equal call, here or in a graph around."""
        here: GraphTarget | None = self
        while isinstance(here, TorchTarget):
            found = here._made.get(key)
            if found is not None:
                return found
            here = here.parent
        return None

    def emit(self, call: OperatorCall) -> tuple[Any, ...]:
        known = None
        if self.keeps_weights and any(_is_weight(each, self.origin.state) for each in call.inputs):
            call = call._replace(outputs=[Known(each.type) for each in call.outputs])
        else:
            known = _without_node(call)
        if known is not None:
            return (known,) if isinstance(known, SymbolicTensor) else tuple(map(self.constant, known))
        key = _key(call)
        if key is not None:
            found = self._equal(key)
            if found is not None:
                return found
        results = super().emit(call)
        if key is not None:
            self._made[key] = results
        self._note(self.nodes[-1], snake_case(call.op.name))
        return results

    def call_function(
        self,
        function: RecordedFunction,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[Known],
    ) -> tuple[Value, ...]:
        results = super().call_function(function, inputs, attributes, outputs)
        node = self.nodes[-1]
        self._note(node, node.name)
        return results

    def _note(self, node: NodeRecord, name: str) -> None:
        """Write down which node of torch's graph a node was made for, and which module it is part of."""
        origin = self.origin
        if self.modules is not None:
            self.modules[node] = origin.modules
        metadata: dict[str, str] = {}
        node.metadata = metadata
        if self.has_metadata:
            if origin.scope:
                node.name = self.program.node_names.unique(origin.scope + name)
            if origin.source:
                span = STATEMENT.get()
                metadata[SOURCE_KEY] = origin.source if span is None else written(origin.source, span)
            if origin.name:
                metadata[NODE_KEY] = origin.name


def active_target() -> Target | None:
    """The target that records operators at the moment."""
    return ACTIVE.get()


def current_target() -> TorchTarget:
    """The graph that is being translated into."""
    active = ACTIVE.get()
    assert isinstance(active, TorchTarget)  # whoever translates has set it
    return active


#: Operators that give their first operand back when the other is this number.
_NEUTRAL: dict[str, bool | int] = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1, "And": True, "Or": False}
_EITHER_WAY = frozenset({"Add", "Mul", "And", "Or"})
#: What sizes and masks are computed in. Numbers with fractions are seldom computed twice, and cost a look each.
_SHARED_DTYPES = frozenset({DType.INT64, DType.BOOL})


def _is_weight(value: Value | None, state: Collection[ValueRecord]) -> bool:
    """True if a value is a weight of the module that a gradient may be asked for, or state that changes."""
    if not isinstance(value, SymbolicTensor) or value.record.weight is None:
        return False
    is_real = value.dtype is not None and value.dtype.kind in ("float", "complex")
    return is_real or value.record in state


def _without_node(call: OperatorCall) -> SymbolicTensor | list[Array] | None:
    """The value of a call that needs no node: arrays where all is known, or an operand that nothing changes."""
    op, inputs, outputs = call.op, call.inputs, call.outputs
    if op.domain or op.name == "Identity":  # an Identity is there to be a value of its own
        return None
    arrays = [each for each in map(_content, outputs) if each is not None]
    if len(arrays) == len(outputs):
        return arrays
    neutral = _NEUTRAL.get(op.name)
    if neutral is None or len(inputs) != 2:
        return None
    for value, other in ((inputs[0], inputs[1]), (inputs[1], inputs[0])):
        if isinstance(value, SymbolicTensor) and _is_scalar(other, neutral):
            return value
        if op.name not in _EITHER_WAY:
            break
    return None


def _content(known: Known) -> Array | None:
    """The whole content of a value, where it is known and of the value's type."""
    data, kind = known.data, known.type
    if isinstance(data, int) or (isinstance(data, tuple) and all(type(each) is int for each in data)):
        data = np.array(data, np.int64)
    if not isinstance(data, np.ndarray) or not isinstance(kind, TensorType) or kind.dtype is None:
        return None
    array: Array = data
    return array if array.dtype == kind.dtype.numpy and array.shape == kind.shape else None


def _is_scalar(value: Value | None, number: int) -> bool:
    if not isinstance(value, SymbolicTensor):
        return False
    array = _content(value.known)
    return array is not None and array.shape == () and array.dtype != object and bool(array == number)


def _key(call: OperatorCall) -> Hashable | None:
    """The key of a call, for calls that are worth sharing."""
    op, _, inputs, attributes, output_count, outputs = call
    for each in outputs:
        kind = each.type
        if not isinstance(kind, TensorType) or kind.dtype not in _SHARED_DTYPES:
            return None
    if op.domain or op.name == "Identity":
        return None
    values: list[ValueRecord | None] = []
    for each in inputs:
        if each is None:
            values.append(None)
        elif isinstance(each, SymbolicTensor):
            values.append(each.record)
        else:
            return None
    if any(not isinstance(each, int | float | str | tuple | list) for each in attributes.values()):
        return None
    return number_of_call(op.name, values, attributes, output_count)
