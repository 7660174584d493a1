"""A finished model called where a graph is being made: a function of that graph's program, and a node that calls it.

The model's weights, its `Constant`s among them, become inputs of the function. So the outer model holds them as
initializers, one for each tensor however often the model is called, and they refer to the tensors of the called model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onnxsmith.core.target import RecordingTarget
from onnxsmith.core.value import Value
from onnxsmith.graphs.builder import FROM_MODEL_KEY
from onnxsmith.graphs.copying import call_by, with_graph
from onnxsmith.graphs.function import FUNCTION_DOMAIN_VERSION, FunctionBody
from onnxsmith.graphs.graph_inference import Uses, infer_model, sizes_of
from onnxsmith.graphs.ir_types import CONSTANT_NUMBERS, array_to_ir, type_from_ir, type_to_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.named_functions import kept_names, named_functions
from onnxsmith.graphs.names import Names
from onnxsmith.graphs.opsets import ModelOperators, OpsetVersions
from onnxsmith.graphs.records import AnyFunction
from onnxsmith.graphs.rewriting.scopes import graphs_of, own_values, required_inputs, roots_of
from onnxsmith.graphs.version_converter import version_converter
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.equivalent_versions import Use
from onnxsmith.schema.inference.broadcasting import Different, merge_types
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, Dimension, TensorType

#: The domain of functions that were models.
DOMAIN = "this.models"
#: Under which what was made of models stands in what a program shares.
_SHARED = "called models"

#: How the attributes of a `Constant` are arrays.
_CONSTANT_DTYPES = {**CONSTANT_NUMBERS, "value_string": np.object_, "value_strings": np.object_}


def call_model(scope: RecordingTarget, model: ir.Model, inputs: Sequence[Value]) -> tuple[Value, ...]:
    """The outputs of a model, called on values of a graph being made.

    Raises what a call of one of its operators raises where the model cannot run on values of these types.
    """
    known = [each.known for each in inputs]
    sizes = sizes_of(model, [each.type for each in known])
    inferred, uses = infer_model(model, known, sizes)
    outputs = _named(scope, model, inferred)
    called = _called_models(scope).called(scope, model, uses)
    called.types.append([each.type for each in known])
    return scope.call_function(called.body, inputs, {}, outputs)


# -- what comes out ------------------------------------------------------------------------------------------


def _named(scope: RecordingTarget, model: ir.Model, outputs: Sequence[Known]) -> list[Known]:
    """The outputs with the names that the model gives sizes only it knows; at each call they are others."""
    called = _called_models(scope)
    called.dimensions.reserve(scope.dimensions)
    given: dict[str, str] = {}
    result: list[Known] = []
    for known, value in zip(outputs, model.graph.outputs, strict=True):
        declared = type_from_ir(value.type, value.shape)
        kind = known.type
        shapes = (getattr(kind, "shape", None), getattr(declared, "shape", None))
        if not isinstance(kind, TensorType) or shapes[0] is None or shapes[1] is None:
            result.append(known)
            continue
        shape: list[Dimension] = list(shapes[0])
        for axis, name in enumerate(shapes[1][: len(shape)]):
            if shape[axis] is None and isinstance(name, str) and name.isidentifier():
                shape[axis] = given.setdefault(name, "") or called.dimensions.unique(name)
                given[name] = str(shape[axis])
        result.append(Known(TensorType(kind.dtype, tuple(shape)), known.data))
    return result


# -- what the program holds ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Called:
    """A model that is called: its function, the names of those that it has itself, and the types that it is given."""

    model: ir.Model
    name: str
    #: Domain and name of each.
    function_names: Mapping[ir.OperatorIdentifier, tuple[str, str]]
    types: list[Sequence[AnyValueType]] = field(default_factory=list[Sequence[AnyValueType]])
    made: FunctionBody | None = None

    @property
    def body(self) -> FunctionBody:
        """The function, with all that it needs."""
        assert self.made is not None  # it is made before anybody is given it
        return self.made

    def functions(
        self, model: ir.Model, kept: Sequence[tuple[str, ir.TensorProtocol]] | None = None
    ) -> tuple[ir.Function, dict[ir.OperatorIdentifier, ir.Function], list[tuple[str, ir.TensorProtocol]]]:
        """The function of the model, or of the same in other versions; those that it has itself; and its weights.

        `kept` are the weights that calls pass already, where there are some.
        """
        graph = model.graph.clone()
        weights = _take_weights(graph, kept)
        _make_outputs_own(graph)
        own = _own_functions(model, self.function_names)
        graph.opset_imports.update(model.opset_imports)
        for part in (graph, *(each.graph for each in own.values())):
            _forget_types(part)
            _redirect_calls(part, own)
        function = ir.Function(DOMAIN, self.name, graph=graph, attributes=[])
        function.meta[FROM_MODEL_KEY] = True
        return function, own, weights

    def refit(self, versions: Mapping[str, int]) -> Mapping[ir.OperatorIdentifier, ir.Function]:
        """The same functions in other versions, for the calls that there are."""
        model = version_converter()(self._typed(), versions)
        function, own, _ = self.functions(model, self.body.weights)
        return {each.identifier(): each for each in (*own.values(), function)}

    def _typed(self) -> ir.Model:
        """The model with the types for its inputs that all calls agree on, which may be more than it declares."""
        model = self.model.clone()
        required = required_inputs(model.graph)
        for position, value in enumerate(required):
            merged: AnyValueType | None = None
            for given in self.types:
                try:
                    merged = given[position] if merged is None else merge_types(merged, given[position])
                except Different:
                    break
            else:
                kind, shape = (None, None) if merged is None else type_to_ir(merged)
                value.type, value.shape = kind or value.type, shape or value.shape
        return model


@dataclass(slots=True)
class _CalledModels:
    """The functions and names made of the models that one model calls, its functions included."""

    #: By the id of the model, which is kept beside.
    held: dict[int, _Called] = field(default_factory=dict[int, _Called])
    names: Names = field(default_factory=Names)
    dimensions: Names = field(default_factory=Names)

    def called(self, scope: RecordingTarget, model: ir.Model, uses: Uses) -> _Called:
        """A model with its function, which is made at its first call."""
        held = self.held.get(id(model))
        if held is None:
            held = self.held[id(model)] = self._make(scope, model, uses)
        return held

    def _make(self, scope: RecordingTarget, model: ir.Model, uses: Uses) -> _Called:
        name = self.names.unique(re.sub(r"\W+", "_", model.graph.name or "model").strip("_") or "model")
        # None has the name of another whatever its domain: where functions call each other, ONNX Runtime 1.20 makes
        # names of values of those alone.
        kept = kept_names(scope, model.functions)
        names = {
            identifier: identifier[:2]
            if identifier in kept
            else (f"{DOMAIN}.{name}", self.names.unique(identifier[1]))
            for identifier in model.functions
        }
        called = _Called(model, name, names)
        function, own, weights = called.functions(model)
        operators = _operators(model, uses)
        opsets = OpsetVersions(model.opset_imports.get("", 1), is_named=False)
        domains = {"", *(each.domain for each in operators)}
        imports = {each: version for each, version in model.opset_imports.items() if each in domains}
        opsets.use_model(ModelOperators(model.graph.name or "model", imports, operators, called.refit))
        # One of a name that both models have is the same one.
        held = named_functions(scope)
        functions: dict[ir.OperatorIdentifier, AnyFunction] = {
            each.identifier(): held.setdefault(identifier, each) if identifier in kept else each
            for identifier, each in own.items()
        }
        dtypes = frozenset(_dtypes(model))
        called.made = FunctionBody(function, functions, opsets, tuple(weights), dtypes)
        return called


def _own_functions(
    model: ir.Model, names: Mapping[ir.OperatorIdentifier, tuple[str, str]]
) -> dict[ir.OperatorIdentifier, ir.Function]:
    """The model's functions, by the names that they have in it, under those of the program.

    Most are others, in a domain of their own: the program may have functions of those names, or come to have some.
    """
    result: dict[ir.OperatorIdentifier, ir.Function] = {}
    for identifier, function in model.functions.items():
        graph = function.graph.clone()
        graph.opset_imports.update(function.opset_imports)
        # An overload gets a name of its own: ONNX Runtime finds none in a function.
        copy = with_graph(function, graph, (*names[identifier], ""))
        copy.meta[FROM_MODEL_KEY] = True
        result[identifier] = copy
    return result


def _called_models(scope: RecordingTarget) -> _CalledModels:
    return scope.shared.setdefault(_SHARED, _CalledModels())


# -- from a graph to the body of a function ------------------------------------------------------------------


def _take_weights(
    graph: ir.Graph, kept: Sequence[tuple[str, ir.TensorProtocol]] | None = None
) -> list[tuple[str, ir.TensorProtocol]]:
    """Make every initializer and constant, those of subgraphs too, an input of the graph; give their tensors.

    Where there are calls already, the inputs are those that they pass, and what else there is are constants.
    """
    parts = list(graphs_of(graph))
    values = dict.fromkeys(value for part in parts for value in own_values(part))
    borne = Counter(each.name for each in values)
    names = Names()
    names.reserve(name or "" for name in borne)
    by_tensor = {id(tensor): ir.Value(name=names.unique(name)) for name, tensor in kept or ()}
    weights: list[tuple[str, ir.TensorProtocol]] = list(kept or ())
    for part in parts:
        found: list[tuple[ir.Value, ir.TensorProtocol, ir.Node | None]] = []
        for name, value in list(part.initializers.items()):
            assert value.const_value is not None  # an initializer has a value
            found.append((value, value.const_value, None))
            del part.initializers[name]
            if value in part.inputs:
                part.inputs.remove(value)
        found += [(node.outputs[0], tensor, node) for node, tensor in _constants(part)]
        for value, tensor, node in found:
            weight = by_tensor.get(id(tensor))
            if weight is None and kept is not None:
                if node is None:
                    _put_constant(part, value, tensor)
                continue
            if weight is None:
                own = value.name or "const"
                name = own if borne[value.name] == 1 and value.name else names.unique(own)
                weight = by_tensor[id(tensor)] = ir.Value(name=name)
                weights.append((name, tensor))
            ir.convenience.replace_all_uses_with(value, weight, replace_graph_outputs=True)
            if node is not None:
                part.remove(node, safe=True)
    graph.inputs.extend(by_tensor.values())
    return weights


def _put_constant(graph: ir.Graph, value: ir.Value, tensor: ir.TensorProtocol) -> None:
    """A node in the place of an initializer."""
    node = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)], name=f"{value.name}_constant")
    node.outputs[0].name = value.name
    ir.convenience.replace_all_uses_with(value, node.outputs[0], replace_graph_outputs=True)
    graph.insert_before(graph[0], node)  # something reads it, so there is a first node


def _constants(graph: ir.Graph) -> Iterator[tuple[ir.Node, ir.TensorProtocol]]:
    for node in graph:
        if node.domain == "" and node.op_type == "Constant" and len(node.attributes) == 1:
            attribute = next(iter(node.attributes.values()))
            if attribute.is_ref():
                continue
            if attribute.type == ir.AttributeType.TENSOR:
                yield node, attribute.as_tensor()
            elif attribute.name in _CONSTANT_DTYPES:
                value: Any = attribute.value
                yield node, array_to_ir(np.asarray(value, _CONSTANT_DTYPES[attribute.name]))


def _make_outputs_own(graph: ir.Graph) -> None:
    """Give every output that is no node's, or comes twice, a node of its own: functions and bodies need that."""
    for part in graphs_of(graph):
        seen: set[ir.Value] = set()
        for position, value in enumerate(list(part.outputs)):
            producer = value.producer()
            if producer is None or producer.graph is not part or value in seen:
                node = ir.Node("", "Identity", [value], name=f"{value.name}_output_{position}")
                node.outputs[0].name = f"{value.name}_output_{position}"
                node.outputs[0].type, node.outputs[0].shape = value.type, value.shape
                part.append(node)
                part.outputs[position] = node.outputs[0]
            seen.add(value)


def _forget_types(graph: ir.Graph) -> None:
    """Functions declare no types inside: ONNX Runtime takes those of a subgraph for others when it inlines one."""
    for value in (*graph.inputs, *graph.outputs):
        value.type = value.shape = None
    for part in graphs_of(graph):
        declared = set(part.outputs) if part is not graph else set[ir.Value]()
        for node in part:
            for value in node.outputs:
                if value not in declared:
                    value.type = value.shape = None


def _redirect_calls(graph: ir.Graph, functions: Mapping[ir.OperatorIdentifier, ir.Function]) -> None:
    """Let nodes call these functions, which had other names."""
    names = {old: function.identifier() for old, function in functions.items()}
    for domain, _, _ in call_by(names, graph.all_nodes()):
        graph.opset_imports[domain] = FUNCTION_DOMAIN_VERSION


# -- what the model needs ------------------------------------------------------------------------------------


def _operators(model: ir.Model, uses: Uses) -> dict[OperatorDef, Collection[Use]]:
    """The operators of the model and its functions, as the versions that each imports define them."""
    used: dict[OperatorDef, Collection[Use]] = {}
    parts = [(model.graph, model.opset_imports)]
    parts += [(each.graph, each.opset_imports) for each in model.functions.values()]
    for graph, imports in parts:
        is_model = graph is model.graph
        for domain, name in dict.fromkeys((node.domain, node.op_type) for node in graph.all_nodes()):
            if is_model and (domain, name) == ("", "Constant"):
                continue  # a weight, which is no node of the function
            version = imports.get(domain)
            definition = None if version is None else registry.find(domain, name, version)
            if definition is not None:
                used[definition] = uses.get(definition, ())
    return used


def _dtypes(model: ir.Model) -> Iterator[DType]:
    for graph in roots_of(model):
        for node in graph.all_nodes():
            for value in node.outputs:
                kind: AnyValueType = type_from_ir(value.type, value.shape)
                if isinstance(kind, TensorType) and kind.dtype is not None:
                    yield kind.dtype
