"""The graph target: each operator call becomes a node, which is recorded once.

One `GraphTarget` per graph or subgraph; what they share is in their `Program`. It checks that values belong where
they are used, and nothing else: binding, promotion and inference came before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from onnxsmith.core.captures import ON_CAPTURE
from onnxsmith.core.forms import forms_cache
from onnxsmith.core.operator import Operators, standard_operators
from onnxsmith.core.operator_protocols import AnyOperator
from onnxsmith.core.recording import FunctionHead, OpsetChoice, RecordedBody, RecordedFunction
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import ACTIVE, OperatorCall
from onnxsmith.core.value import Operand, Value
from onnxsmith.errors import InputTypeError
from onnxsmith.graphs.function import FunctionBody, body_of, call_function, finish_function
from onnxsmith.graphs.identity import array_key
from onnxsmith.graphs.ir_types import as_content
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.names import snake_case
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.program import Program, is_harmless, known_of_array, name_of
from onnxsmith.graphs.records import (
    AttributeRecord,
    Body,
    FunctionRecord,
    GraphRecord,
    NodeRecord,
    ValueRecord,
    declare_outputs,
    declared,
    element_dtype,
    named_dimensions,
)
from onnxsmith.graphs.value import (
    Made,
    SymbolicTensor,
    made_value,
    used_after_its_graph,
    used_in_another_graph,
    wrap,
)
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.attributes import attribute_type_of
from onnxsmith.schema.definition import AttributeType, OperatorDef
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Place, caller_place
from onnxsmith.types.value_types import AnyValueType, SequenceType, TensorType

#: The key of a function's own notes, which are in no file, that says that it came with a model that is called.
FROM_MODEL_KEY = "onnxsmith.from_model"


class GraphTarget:
    """A graph being built."""

    needs_inference: ClassVar[bool] = True

    def __init__(self, program: Program, parent: GraphTarget | None = None) -> None:
        self.program = program
        self.parent = parent
        # Asked at every call.
        self.is_exact = program.is_exact
        self.mixes_dtypes = program.mixes_dtypes
        self.is_lenient = program.is_lenient
        #: Whether it is the body of a function, whose inputs and outputs have no types; its subgraphs' have.
        self.is_function = parent is None and program.kind == "function"
        self.nodes: list[NodeRecord] = []
        self.inputs: list[ValueRecord] = []
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.is_finished = False
        self.caller: Place | None = None
        #: Whether all calls in it may be made where nobody needs them; nobody asks that of an outermost graph.
        self.is_harmless = parent is not None
        #: Whether it reads a tensor of a graph around it whose element type is not known.
        self.reads_open_type = False
        #: The graph that took over the nodes of this draft.
        self.absorbed_by: GraphTarget | None = None
        self._operators: Operators | None = None
        # Constants of a function body, which has no initializers: content -> the node's output.
        self._constants: dict[Hashable, SymbolicTensor] = {}

    # -- the target protocol ---------------------------------------------------------------------------

    @property
    def recording(self) -> GraphTarget:
        return self

    @property
    def opset(self) -> OpsetChoice:
        return self.program.opsets.choice

    @property
    def operators(self) -> Operators:
        version = self.program.opsets.version("")
        if self._operators is None or self._operators.version != version:
            self._operators = standard_operators(version)
        return self._operators

    def constant(self, array: np.ndarray[Any, Any]) -> SymbolicTensor:
        if self.program.kind == "function":
            return self._constant_node(array)
        value, known = self.program.initializer(array)
        return SymbolicTensor(value, known, self.root, None)

    def stored(self, value: Stored) -> SymbolicTensor:
        weight = cast(Weight, value)
        if self.program.kind == "function":
            return self._constant_tensor(weight.tensor, weight.known, weight.name)
        return SymbolicTensor(self.program.weight(weight), weight.known, self.root, None)

    def sequence(self, elements: Sequence[Any]) -> Any:
        if not elements:
            raise InputTypeError(
                "an empty list has no element type", help="write op.SequenceEmpty(dtype=FLOAT)"
            )
        return self.operators.SequenceConstruct(*elements)

    def emit(self, call: OperatorCall) -> tuple[Any, ...]:
        op, version, inputs, attributes, _, outputs = call
        if self.is_finished:
            raise used_after_its_graph(inputs)
        if self.is_harmless:
            self.is_harmless = is_harmless(op, inputs, outputs)
        # Most inputs were made in this very graph; a call for each would take as long as the rest of the list.
        taken = [
            each.record
            if type(each) is SymbolicTensor and each.made_in is self
            else None
            if each is None
            else self.own(each)
            for each in inputs
        ]
        program = self.program
        place = self.caller or caller_place()
        program.opsets.use(op, version, place)
        wish = snake_case(op.name)
        results: list[ValueRecord] = []
        made: list[Made] = []
        for known in outputs:
            value = self.new_value(wish, known)
            results.append(value)
            is_tensor = isinstance(known.type, TensorType)
            made.append((SymbolicTensor if is_tensor else wrap)(value, known, self, place))
        self.nodes.append(
            NodeRecord(
                op.domain,
                op.name,
                program.node_names.unique(wish),
                taken,
                recorded_attributes(op, attributes) if attributes else (),
                results,
                place,
            )
        )
        return tuple(made)

    def learn(
        self, operator: AnyOperator, args: tuple[Any, ...], kwargs: dict[str, Any], call: OperatorCall
    ) -> None:
        """A graph is made once; there is nothing to remember."""

    # -- recording -------------------------------------------------------------------------------------

    @property
    def root(self) -> GraphTarget:
        """The outermost graph."""
        here = self
        while here.parent is not None:
            here = here.parent
        return here

    @property
    def shared(self) -> dict[Hashable, Any]:
        return self.program.shared

    @property
    def dimensions(self) -> Iterator[str]:
        for value in self.root.inputs:
            yield from named_dimensions(value)

    def input(
        self, name: str, kind: AnyValueType, place: Place | None = None, *, is_declared: bool = True
    ) -> Made:
        """A new input of this graph."""
        value = ValueRecord(self.program.names.unique(name))
        value.variable = name
        if isinstance(kind, SequenceType) and not self.program.is_exact:
            kind = kind.with_open_elements
        if is_declared and not self.is_function:
            value.type = declared(kind)
        self.inputs.append(value)
        return wrap(value, forms_cache.known(kind), self, place)

    def subgraph(self) -> GraphTarget:
        """A graph inside this one, which sees its values."""
        return GraphTarget(self.program, self)

    @property
    def is_empty(self) -> bool:
        """True if it has no node."""
        return not self.nodes

    def draft(self) -> GraphTarget:
        """Nodes for this graph that are not certain yet: `keep` adds them, `discard` forgets them."""
        result = self.subgraph()
        result.depth = self.depth
        return result

    def keep(self) -> None:
        """Give the nodes of this draft to its graph; the values are that graph's from now on."""
        graph = self.parent
        assert graph is not None  # whoever has a draft has it from a graph
        graph.nodes += self.nodes
        graph._constants |= self._constants  # the same class
        graph.is_harmless = graph.is_harmless and self.is_harmless
        self.absorbed_by = graph

    @property
    def home(self) -> GraphTarget:
        """The graph that the values made here belong to."""
        return self if self.absorbed_by is None else self.absorbed_by.home

    def finish(self, outputs: Sequence[Any], name: str) -> GraphRecord:
        """The graph, with these values as its outputs; nothing can be added afterwards."""
        graph_outputs = [self.own(each) for each in outputs]
        if not self.is_function and not self.program.is_exact:
            for value, each in zip(graph_outputs, outputs, strict=True):
                if value.type is None and isinstance(each, Value):
                    value.type = declared(each.known.type)
        for value in graph_outputs:
            value.is_output = True
        self.is_finished = True
        is_root_model = self.parent is None and self.program.kind == "model"
        imports = self.program.opsets.imports()
        if is_root_model:
            self.program.functions.update(self.program.opsets.fitted_functions())
            # The operators of models that are called mean the same in the versions that the whole model imports.
            for function in self.program.functions.values():
                imports.setdefault(function.domain, 1)
                if not isinstance(function, FunctionRecord) and FROM_MODEL_KEY in function.meta:
                    held = function.opset_imports
                    held.update({domain: imports[domain] for domain in held if domain in imports})
        return GraphRecord(
            name,
            [*self.inputs, *(value for value, _ in self.program.hidden_inputs if self.is_function)],
            graph_outputs,
            self.nodes,
            self.program.initializers if is_root_model else [],
            imports,
        )

    def checkpoint(self) -> Callable[[], None]:
        return self.program.checkpoint()

    def owns(self, value: Value) -> bool:
        return made_value(value).scope is self

    def sees(self, value: Value) -> bool:
        scope = made_value(value).scope
        here: GraphTarget | None = self
        while here is not None:
            if scope is here.home:
                return True
            here = here.parent
        return False

    def reaches(self, value: Value) -> bool:
        """True if the value can be used here, also where it becomes an input for that."""
        captures = self.program.captures
        return self.sees(value) or (captures is not None and captures.reaches(value))

    def is_given(self, value: Value) -> bool:
        return made_value(value).record.producer is None

    def outputs_of(self, values: Sequence[Value]) -> list[Value]:
        """Values as outputs; an input, a value from elsewhere, or one that comes twice gets an Identity."""
        outputs: list[Value] = []
        seen: set[ValueRecord] = set()
        for value in values:
            made = made_value(value)
            if made.record.producer is None or made.scope is not self or made.record in seen:
                value = self.operators.Identity(value)
                made = made_value(value)
            seen.add(made.record)
            outputs.append(value)
        return outputs

    def refined(self, value: Value, kind: AnyValueType) -> Value:
        made = made_value(value)
        if made.scope is not self:
            pass  # what holds in a branch need not hold around it
        elif isinstance(kind, TensorType) and kind.dtype is None:
            old = made.record.type
            if isinstance(old, TensorType):
                made.record.type = TensorType(old.dtype, kind.shape)
        else:
            made.record.type = declared(kind)
        return wrap(made.record, Known(kind), made.scope, made.place)

    def finish_body(
        self,
        values: Sequence[Operand | None],
        title: str,
        declared: Sequence[AnyValueType | None] | None = None,
    ) -> Body:
        """The subgraph as a body. A value from outside, an input, or one returned twice gets a node of its own."""
        token = ACTIVE.set(self)
        try:
            outputs: list[Value] = []
            seen: set[ValueRecord] = set()
            for value in values:
                lifted = self.lift(value)
                made = made_value(lifted)
                # ONNX has no name for an output of a graph that is made around it.
                is_own = made.scope is self
                if not self.program.is_exact:
                    is_own = is_own and made.record.producer is not None and made.record not in seen
                if not is_own:
                    lifted = self.operators.Identity(lifted)
                    made = made_value(lifted)
                outputs.append(lifted)
                seen.add(made.record)
        finally:
            ACTIVE.reset(token)
        graph = self.finish(outputs, self.program.node_names.unique(title))
        known = tuple(each.known for each in outputs)
        outputs_known = known if declared is None else declare_outputs(graph, known, declared)
        return Body(graph, outputs_known, self.reads_open_type)

    def function(
        self, opset: OpsetChoice, *, is_exact: bool, is_lenient: bool, mixes_dtypes: bool = False
    ) -> GraphTarget:
        versions = OpsetVersions(opset.version, is_fixed=opset.is_fixed, is_named=opset.is_named)
        program = Program(
            "function",
            versions,
            self.program.shared,
            is_exact=is_exact,
            is_lenient=is_lenient,
            mixes_dtypes=mixes_dtypes,
        )
        return GraphTarget(program)

    def finish_function(self, outputs: Sequence[Value], head: FunctionHead) -> FunctionBody:
        return finish_function(self, outputs, head)

    def call_function(
        self,
        function: RecordedFunction,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[Known],
    ) -> tuple[Value, ...]:
        """A node that calls a function, which the program then holds."""
        self.is_harmless = False
        return call_function(self, body_of(function), inputs, attributes, outputs)

    def discard(self) -> None:
        """Forget the nodes."""
        self.nodes.clear()
        self.is_finished = True

    def suggest_name(self, value: Value, wish: str) -> None:
        """Call a value as the user's variable is called, unless a variable named it before."""
        made = value if type(value) is SymbolicTensor else made_value(value)
        record = made.record
        if record.variable is not None or record.producer is None:
            return
        scope = made.made_in if made.made_in.absorbed_by is None else made.scope
        if scope is not self:
            return
        names = self.program.names
        names.release(record.name)
        record.name = names.unique(wish)
        record.variable = wish

    def hand_name_on(self, value: Value, to: Value, suffix: str) -> None:
        """Call what stands for a value in the outputs as the value is called, which gets a suffix."""
        old, new = made_value(value).record, made_value(to).record
        names = self.program.names
        names.release(new.name)
        new.name, new.variable = old.name, old.variable
        old.name = names.unique(f"{old.name}_{suffix}")

    def name_results(
        self, outputs: Sequence[Value], wishes: Sequence[str], bodies: Sequence[tuple[RecordedBody, str]]
    ) -> None:
        """Call outputs of control flow as the user's variables; what the bodies called so gets a suffix."""
        for output, wish in zip(outputs, wishes, strict=False):
            for body, suffix in bodies:
                assert isinstance(body, Body)  # what this class made
                for inner in body.graph.outputs:
                    if inner.name == wish:
                        inner.name = self.program.names.unique(f"{wish}_{suffix}")
                        self.program.names.release(wish)
            self.suggest_name(output, wish)

    def lift(self, value: Operand | None) -> Value:
        """Anything a user may return or pass, as a value of this graph."""
        if isinstance(value, Value):
            return value if value.is_symbolic else self.constant(np.asarray(value))
        if isinstance(value, Stored):
            return self.stored(value)
        if isinstance(value, list):
            return self.sequence(cast("list[Any]", value))
        return self.constant(np.asarray(value))

    def new_value(self, wish: str, known: Known) -> ValueRecord:
        """A value for a node's output, with what is known of it."""
        program = self.program
        value = ValueRecord(program.names.unique(wish))
        kind = known.type
        dtype = kind.dtype if isinstance(kind, TensorType) else element_dtype(kind)
        if dtype is not None:
            program.dtypes.add(dtype)
            # A function has no types inside. ONNX Runtime, when it inlines one, renames the values of a subgraph but
            # not what is declared of them, and then takes that for the types of others.
            if program.kind != "function":
                value.type = kind
        return value

    def own(self, value: Value) -> ValueRecord:
        """The record behind a value, if it can be seen from this graph."""
        made = value if type(value) is SymbolicTensor else made_value(value)
        scope = made.made_in if made.made_in.absorbed_by is None else made.scope
        here: GraphTarget | None = self
        while here is not None:
            if here is scope:
                if here is not self:
                    kind = made.known.type
                    if (kind.dtype if isinstance(kind, TensorType) else element_dtype(kind)) is None:
                        self._note_open_type(here)
                return made.record
            here = here.parent
        found = self._captured(made)
        if found is None:
            raise used_in_another_graph(made)
        return found

    def _note_open_type(self, scope: GraphTarget) -> None:
        """Note that this graph, and those between it and the given one, read a value of unknown element type."""
        here: GraphTarget | None = self
        while here is not None and here is not scope:
            here.reads_open_type = True
            here = here.parent

    def _captured(self, made: Made) -> ValueRecord | None:
        """The input that stands for a value of a graph around the function that is recorded here."""
        captures = self.program.captures
        if captures is None:
            return None
        return captures.taken(
            made,
            made.record,
            lambda: self.root.input(made.name, made.known.type, made.place).record,
        )

    def _constant_node(self, array: np.ndarray[Any, Any]) -> SymbolicTensor:
        key = array_key(array) if array.nbytes <= 1024 and array.dtype != object else None
        if key is not None:
            here: GraphTarget | None = self
            while here is not None:
                if key in here._constants:  # the same class: an enclosing graph's constants are visible here
                    return here._constants[key]
                here = here.parent
        called = (name_of(array) if array.size > 1 else None) or "const"
        if key is not None:
            array = array.copy()  # which the user may change afterwards
        elif (told := ON_CAPTURE.get()) is not None:
            told(array)
        tensor = self._constant_tensor(as_content(array), known_of_array(array), called)
        if key is not None:
            self._constants[key] = tensor
        return tensor

    def _constant_tensor(
        self, content: np.ndarray[Any, Any] | ir.TensorProtocol, known: Known, called: str
    ) -> SymbolicTensor:
        operator = self.operators.Constant
        self.program.opsets.use(operator.definition, None)
        result = self.new_value(called, known)
        node_name = self.program.node_names.unique(called)
        value = content if isinstance(content, np.ndarray) else Weight(called, content)
        attributes = (("value", AttributeType.TENSOR, value),)
        self.nodes.append(NodeRecord("", "Constant", node_name, (), attributes, (result,), None))
        return SymbolicTensor(result, known, self, None)


def recorded_attributes(op: OperatorDef, attributes: Mapping[str, Any]) -> list[AttributeRecord]:
    """Attributes in normal form with their types."""
    formal = op.attributes
    return [
        (name, formal[name].type if name in formal else attribute_type_of(value), value)
        for name, value in attributes.items()
    ]
