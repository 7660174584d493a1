"""ONNX functions in a graph: making one of a body, calling it, carrying along all it needs, and other forms of one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import onnx

from onnxsmith.core.recording import FunctionHead, RecordedFunction
from onnxsmith.core.value import Value
from onnxsmith.errors import FunctionError
from onnxsmith.graphs.copying import with_graph
from onnxsmith.graphs.ir_maker import function_to_ir, model_to_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.names import snake_case
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.records import AnyFunction, FunctionRecord, ModelRecord, NodeRecord
from onnxsmith.graphs.value import wrap
from onnxsmith.schema.definition import AttributeType
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import caller_place
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from onnxsmith.graphs.builder import GraphTarget

#: What separates the name of a function from what tells its forms apart, which values are not called by.
FORM_SEPARATOR = "__"
#: What the name of a function begins with that says the gradient of another one, and that nothing calls.
BACKWARD_OF = "backward_of_"
#: What the name of a function begins with that says what another one computes in use, outside of training, and that
#: nothing calls. Both have the same inputs and outputs, and stand in one domain.
IN_USE_OF = "in_use_of_"
#: The domain of such functions.
TRAINING_DOMAIN = "this.training"
#: The version under which a function's domain is imported where nobody names another one.
FUNCTION_DOMAIN_VERSION = 1


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """A finished ONNX function with the functions that it calls."""

    function: AnyFunction
    called: Mapping[ir.OperatorIdentifier, AnyFunction]
    #: What it and the functions that it calls use.
    opsets: OpsetVersions
    #: Names and tensors of its last inputs, which every call passes: a function has no initializers of its own.
    weights: tuple[tuple[str, ir.TensorProtocol], ...] = ()
    #: The element types of the values inside, which a function does not declare.
    dtypes: frozenset[DType] = frozenset()
    #: The version of its domain, which the models that call it import.
    domain_version: int = FUNCTION_DOMAIN_VERSION

    @property
    def attribute_names(self) -> Collection[str]:
        """The attributes it takes."""
        return self.function.attributes.keys()

    @property
    def output_count(self) -> int:
        """How many outputs it has."""
        return len(self.function.outputs)


def body_of(function: RecordedFunction) -> FunctionBody:
    """A function as the one of a graph that it is."""
    assert isinstance(function, FunctionBody)  # a graph is given those that graphs made
    return function


def finish_function(scope: GraphTarget, outputs: Sequence[Value], head: FunctionHead) -> FunctionBody:
    """The function of a body that is recorded."""
    graph = scope.finish(outputs, head.name)
    graph.doc_string = head.doc_string
    attributes = {each.name: each for each in head.attributes}
    function = FunctionRecord(head.domain, head.name, head.overload, graph, attributes)
    program = scope.program
    weights = tuple((value.name, tensor) for value, tensor in program.hidden_inputs)
    return FunctionBody(
        function,
        dict(program.functions),
        program.opsets,
        weights,
        frozenset(program.dtypes),
        head.domain_version,
    )


def call_function(
    scope: GraphTarget,
    body: FunctionBody,
    inputs: Sequence[Value | None],
    attributes: Mapping[str, Any],
    outputs: Sequence[Known],
) -> tuple[Value, ...]:
    """A node that calls a function, which the program then holds."""
    function = body.function
    # A function stands behind those that it calls: the reference evaluator reads a model from top to bottom.
    for identifier, each in (*body.called.items(), (function.identifier(), function)):
        held = scope.program.functions.setdefault(identifier, each)
        if held is not each:
            raise FunctionError(
                f"two different functions are called {identifier[1]!r} in domain {identifier[0]!r}",
                help="give one of them another name, domain or overload",
            )
    if not scope.program.is_exact:
        scope.program.opsets.include(body.opsets)
    scope.program.opsets.use_domain(function.domain, body.domain_version)
    scope.program.dtypes.update(body.dtypes)
    place = caller_place()
    wish = snake_case(function.name.partition(FORM_SEPARATOR)[0] or function.name)
    results = [scope.new_value(wish, known) for known in outputs]
    given = [None if each is None else scope.own(each) for each in inputs]
    if body.weights:
        given += [None] * (len(function.inputs) - len(body.weights) - len(given))
        given += [scope.program.tensor(tensor, name) for name, tensor in body.weights]
    while given and given[-1] is None:  # ONNX leaves out what is not given at the end
        given.pop()
    node = NodeRecord(
        function.domain,
        function.name,
        scope.program.node_names.unique(wish),
        given,
        [
            (name, AttributeType(int(function.attributes[name].type)), value)
            for name, value in attributes.items()
        ],
        results,
        place,
        function.overload,
    )
    scope.nodes.append(node)
    return tuple(wrap(value, known, scope, place) for value, known in zip(results, outputs, strict=True))


def self_contained(body: FunctionBody) -> ir.Function:
    """The function with its weights inside, as constants: for who takes it away from the model that would hold them."""
    function = function_to_ir(body.function)
    if not body.weights:
        return function
    graph = function.graph.clone()
    count = len(graph.inputs) - len(body.weights)
    constants: list[ir.Node] = []
    for value, (name, tensor) in zip(list(graph.inputs)[count:], body.weights, strict=True):
        constant = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)], name=f"{name}_constant")
        constant.outputs[0].name = value.name
        ir.convenience.replace_all_uses_with(value, constant.outputs[0])
        constants.append(constant)
    del graph.inputs[count:]
    graph.insert_before(graph[0], constants)  # it uses its weights, so there is a first node
    graph.opset_imports.update(function.opset_imports)
    return with_graph(function, graph)


# -- Functions in other forms than graphs record them in: as a file has them, as onnx-ir, or dissolved into
# calls --

#: A function that somebody else made.
GivenFunction: TypeAlias = "onnx.FunctionProto | ir.Function"


def as_function(given: GivenFunction | FunctionBody) -> ir.Function:
    """A function that a model can carry; one of a graph has its weights inside."""
    if isinstance(given, FunctionBody):
        return self_contained(given)
    return ir.serde.deserialize_function(given) if isinstance(given, onnx.FunctionProto) else given


def as_proto(body: FunctionBody) -> onnx.FunctionProto:
    """A function of a graph as a file has it, with its weights inside."""
    return ir.serde.serialize_function(self_contained(body))


def dissolved(model: ModelRecord) -> ir.Model:
    """A model with the nodes of functions in the places of their calls."""
    import onnx_ir.passes.common as passes  # heavy: only where functions are inlined

    return passes.InlinePass()(model_to_ir(model)).model
