"""The graph target: each operator call becomes a node of an onnx-ir graph.

One `GraphTarget` per graph or subgraph; what they share is in their `Program`. It checks that values belong where
they are used, and nothing else: binding, promotion and inference came before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.core.captures import ON_CAPTURE
from onnxsmith.core.operator import Operators
from onnxsmith.core.operator_protocols import AnyOperator
from onnxsmith.core.recording import FunctionHead, OpsetChoice, RecordedBody, RecordedFunction
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Operand, Value
from onnxsmith.errors import InputTypeError
from onnxsmith.graphs.attributes import attribute_to_ir
from onnxsmith.graphs.body import Body, declare_outputs, disconnect_all
from onnxsmith.graphs.function import FunctionBody, body_of, call_function, finish_function
from onnxsmith.graphs.ir_types import array_to_ir, shape_to_ir, tensor_type_to_ir, type_to_ir
from onnxsmith.graphs.names import snake_case
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.origins import origin_metadata
from onnxsmith.graphs.program import Program, known_of_array
from onnxsmith.graphs.value import (
    SymbolicSequence,
    SymbolicTensor,
    made_value,
    used_after_its_graph,
    used_in_another_graph,
    wrap,
)
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Span, caller_span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: The key of a value's own notes under which onnx-ir keeps how it is quantised.
QUANTIZATION_KEY = "quant_parameter_tensor_names"
#: The key of a value's own notes, which are in no file, that holds the variable that the user gave it.
VARIABLE_KEY = "onnxsmith.variable"
#: The key of a function's own notes, which are in no file, that says that it came with a model that is called.
FROM_MODEL_KEY = "onnxsmith.from_model"


class GraphTarget:
    """A graph being built."""

    needs_inference: ClassVar[bool] = True

    def __init__(self, program: Program, parent: GraphTarget | None = None) -> None:
        self.program = program
        self.parent = parent
        self.nodes: list[ir.Node] = []
        self.inputs: list[ir.Value] = []
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.is_finished = False
        #: The graph that took over the nodes of this draft.
        self.absorbed_by: GraphTarget | None = None
        self._operators: Operators | None = None
        # Constants of a function body, which has no initializers: content -> the node's output.
        self._constants: dict[tuple[Any, ...], SymbolicTensor] = {}

    # -- the target protocol ---------------------------------------------------------------------------

    @property
    def is_exact(self) -> bool:
        return self.program.is_exact

    @property
    def recording(self) -> GraphTarget:
        return self

    @property
    def operators(self) -> Operators:
        version = self.program.opsets.version("")
        if self._operators is None or self._operators.version != version:
            self._operators = Operators(version)
        return self._operators

    def constant(self, array: np.ndarray[Any, Any]) -> SymbolicTensor:
        if self.program.kind == "function":
            return self._constant_node(array)
        value, known = self.program.initializer(array)
        return SymbolicTensor(value, known, self.root, None)

    def stored(self, value: Stored) -> SymbolicTensor:
        weight = cast(Weight, value)
        if self.program.kind == "function":
            return self._constant_tensor(weight.tensor, weight.known)
        return SymbolicTensor(self.program.weight(weight), weight.known, self.root, None)

    def sequence(self, elements: Sequence[Any]) -> Any:
        if not elements:
            raise InputTypeError(
                "an empty list has no element type", help="write op.SequenceEmpty(dtype=FLOAT)"
            )
        return self.operators.SequenceConstruct(*elements)

    def run_bodies(
        self, op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        return None

    def emit(
        self,
        op: OperatorDef,
        version: int | None,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        output_count: int,
        outputs: Sequence[Known],
    ) -> tuple[Any, ...]:
        if self.is_finished:
            raise used_after_its_graph(inputs)
        ir_inputs = [None if each is None else self.own(each) for each in inputs]
        self.program.opsets.use(op, version)
        span = caller_span()
        wish = snake_case(op.name)
        results = [self.new_value(wish, known) for known in outputs]
        self.append(
            ir.Node(
                op.domain,
                op.name,
                ir_inputs,
                [attribute_to_ir(op, name, value) for name, value in attributes.items()],
                outputs=results,
                name=self.program.node_names.unique(wish),
                metadata_props=origin_metadata(span),
            )
        )
        return tuple([wrap(value, known, self, span) for value, known in zip(results, outputs, strict=True)])

    def learn(
        self,
        operator: AnyOperator,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        lifted: Sequence[Any],
        attributes: Mapping[str, Any],
        output_count: int,
    ) -> None:
        """A graph is made once; there is nothing to remember."""

    # -- recording -------------------------------------------------------------------------------------

    @property
    def is_function(self) -> bool:
        """Whether it is the body of a function, whose inputs and outputs have no types; its subgraphs' have."""
        return self.parent is None and self.program.kind == "function"

    @property
    def root(self) -> GraphTarget:
        """The outermost graph."""
        return self if self.parent is None else self.parent.root

    @property
    def shared(self) -> dict[Hashable, Any]:
        return self.program.shared

    @property
    def dimensions(self) -> Iterator[str]:
        for value in self.root.inputs:
            yield from (str(each.value) for each in value.shape or () if isinstance(each, ir.SymbolicDim))

    def input(
        self, name: str, kind: AnyValueType, span: Span | None = None, *, is_declared: bool = True
    ) -> SymbolicTensor | SymbolicSequence:
        """A new input of this graph."""
        value = ir.Value(name=self.program.names.unique(name))
        value.meta[VARIABLE_KEY] = name
        if is_declared and not self.is_function:
            value.type, value.shape = type_to_ir(kind)
        self.inputs.append(value)
        return wrap(value, Known(kind), self, span)

    def subgraph(self) -> GraphTarget:
        """A graph inside this one, which sees its values."""
        return GraphTarget(self.program, self)

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
        self.absorbed_by = graph

    @property
    def home(self) -> GraphTarget:
        """The graph that the values made here belong to."""
        return self if self.absorbed_by is None else self.absorbed_by.home

    def finish(self, outputs: Sequence[Any], name: str) -> ir.Graph:
        """The graph, with these values as its outputs; nothing can be added afterwards."""
        graph_outputs = [self.own(each) for each in outputs]
        if not self.is_function and not self.program.is_exact:
            for value, each in zip(graph_outputs, outputs, strict=True):
                if value.type is None and isinstance(each, Value):
                    value.type, value.shape = type_to_ir(each.known.type)
        self.is_finished = True
        is_root_model = self.parent is None and self.program.kind == "model"
        imports = self.program.opsets.imports()
        if self.parent is None:
            self.program.opsets.check_models()
        if is_root_model:
            # Their operators mean the same in the versions that the whole model imports: that was checked.
            for function in self.program.functions.values():
                imports.setdefault(function.domain, 1)
                if FROM_MODEL_KEY in function.meta:
                    held = function.opset_imports
                    held.update({domain: imports[domain] for domain in held if domain in imports})
        return ir.Graph(
            [*self.inputs, *(value for value, _ in self.program.hidden_inputs if self.is_function)],
            graph_outputs,
            nodes=self.nodes,
            initializers=self.program.initializers if is_root_model else (),
            opset_imports=imports,
            name=name,
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

    def is_given(self, value: Value) -> bool:
        return made_value(value).ir_value.producer() is None

    def outputs_of(self, values: Sequence[Value]) -> list[Value]:
        """Values as outputs; an input, a value from elsewhere, or one that comes twice gets an Identity."""
        outputs: list[Value] = []
        seen: set[ir.Value] = set()
        for value in values:
            made = made_value(value)
            if made.ir_value.producer() is None or made.scope is not self or made.ir_value in seen:
                value = self.operators.Identity(value)
                made = made_value(value)
            seen.add(made.ir_value)
            outputs.append(value)
        return outputs

    def refined(self, value: Value, kind: AnyValueType) -> Value:
        made = made_value(value)
        if isinstance(kind, TensorType) and kind.dtype is None:
            made.ir_value.shape = shape_to_ir(kind.shape)
        else:
            made.ir_value.type, made.ir_value.shape = type_to_ir(kind)
        return wrap(made.ir_value, Known(kind), self, made.span)

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
            seen: set[ir.Value] = set()
            for value in values:
                lifted = self.lift(value)
                made = made_value(lifted)
                is_outside, is_input = made.scope is not self, made.ir_value.producer() is None
                if self.program.is_exact:
                    is_own = not is_outside or not is_input or made.ir_value.const_value is not None
                else:
                    is_own = not is_outside and not is_input and made.ir_value not in seen
                outputs.append(lifted if is_own else self.operators.Identity(lifted))
                seen.add(made_value(outputs[-1]).ir_value)
        finally:
            ACTIVE.reset(token)
        graph = self.finish(outputs, self.program.node_names.unique(title))
        known = tuple(each.known for each in outputs)
        return Body(graph, known if declared is None else declare_outputs(graph, known, declared))

    def function(self, opset: OpsetChoice, *, is_exact: bool) -> GraphTarget:
        versions = OpsetVersions(opset.version, is_fixed=opset.is_fixed, is_named=opset.is_named)
        return GraphTarget(Program("function", versions, self.program.shared, is_exact=is_exact))

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
        return call_function(self, body_of(function), inputs, attributes, outputs)

    def discard(self) -> None:
        """Forget the nodes: what they used is not used by them any more."""
        disconnect_all(self.nodes)
        self.nodes.clear()
        self.is_finished = True

    def suggest_name(self, value: Value, wish: str) -> None:
        """Call a value as the user's variable is called, unless a variable named it before."""
        made = made_value(value)
        ir_value = made.ir_value
        old = ir_value.name or ""
        if made.scope is not self or old in self.program.named or ir_value.producer() is None:
            return
        self.program.names.release(old)
        ir_value.name = self.program.names.unique(wish)
        ir_value.meta[VARIABLE_KEY] = wish
        self.program.named.add(ir_value.name)

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

    def append(self, node: ir.Node) -> None:
        """Add a node at the end."""
        self.nodes.append(node)

    def new_value(self, wish: str, known: Known) -> ir.Value:
        """A value for a node's output, with what is known of it."""
        kind = known.type
        value = ir.Value(name=self.program.names.unique(wish))
        if self.program.kind == "function":
            if isinstance(kind, TensorType) and kind.dtype is not None:
                self.program.dtypes.add(kind.dtype)
            # A function has no types inside. ONNX Runtime, when it inlines one, renames the values of a subgraph but
            # not what is declared of them, and then takes that for the types of others.
            return value
        if isinstance(kind, TensorType):
            if kind.dtype is not None:  # a shape without an element type has no place in a model
                self.program.dtypes.add(kind.dtype)
                value.type = tensor_type_to_ir(kind.dtype)
                value.shape = shape_to_ir(kind.shape)
        else:
            value.type, value.shape = type_to_ir(kind)
            self.program.dtypes.update(() if value.dtype is None else [DType(int(value.dtype))])
        return value

    def own(self, value: Value) -> ir.Value:
        """The onnx-ir value behind a Python one, if it can be seen from this graph."""
        made = made_value(value)
        scope = made.scope
        here: GraphTarget | None = self
        while here is not None:
            if here is scope:
                return made.ir_value
            here = here.parent
        raise used_in_another_graph(made)

    def _constant_node(self, array: np.ndarray[Any, Any]) -> SymbolicTensor:
        key = (
            (array.dtype, array.shape, array.tobytes())
            if array.nbytes <= 1024 and array.dtype != object
            else None
        )
        if key is not None:
            here: GraphTarget | None = self
            while here is not None:
                if key in here._constants:  # the same class: an enclosing graph's constants are visible here
                    return here._constants[key]
                here = here.parent
        if key is not None:
            array = array.copy()  # which the user may change afterwards
        elif (told := ON_CAPTURE.get()) is not None:
            told(array)
        tensor = self._constant_tensor(array_to_ir(array), known_of_array(array))
        if key is not None:
            self._constants[key] = tensor
        return tensor

    def _constant_tensor(self, tensor: ir.TensorProtocol, known: Known) -> SymbolicTensor:
        operator = self.operators.Constant
        self.program.opsets.use(operator.definition, None)
        result = self.new_value("const", known)
        attribute = ir.Attr("value", ir.AttributeType.TENSOR, tensor)
        self.append(
            ir.Node(
                "",
                "Constant",
                [],
                [attribute],
                outputs=[result],
                name=self.program.node_names.unique("const"),
            )
        )
        return SymbolicTensor(result, known, self, None)
