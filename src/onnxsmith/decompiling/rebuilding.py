"""`rebuild`: the model of a decompiled script, with all that the code itself does not say put back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
import onnx_ir as ir

from onnxsmith.decompiling.node_names import name_by_rule
from onnxsmith.decompiling.order import all_graphs
from onnxsmith.errors import CallError, boundary
from onnxsmith.graphs import beyond
from onnxsmith.graphs.builder import QUANTIZATION_KEY, SOURCE_KEY, VARIABLE_KEY
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.program import WEIGHT_KEY
from onnxsmith.graphs.weights import Weights
from onnxsmith.scripting.export import generic_function
from onnxsmith.scripting.function import ScriptFunction
from onnxsmith.types.annotations import read_value_type
from onnxsmith.types.value_types import AnyValueType, MapType, OptionalType, SequenceType

#: The key of a value's own notes that holds what the tables call it.
_KEY = "onnxsmith.key"


@boundary
def rebuild(
    script: Any,
    *,
    ir_version: int | None = None,
    opset_imports: Mapping[str, int] | None = None,
    producer_name: str = "",
    producer_version: str = "",
    domain: str = "",
    model_version: int = 0,
    doc_string: str = "",
    model_metadata: Mapping[str, str] | None = None,
    value_types: bool = False,
    sources: bool = False,
    all_weights: Weights | None = None,
    functions: Sequence[tuple[Any, Mapping[str, Any]]] = (),
    **details: Any,
) -> Model:
    """The model of a script, as the tables beside it say: what a decompiled module ends with.

    Names are by variable, and hold as long as the variable does: edit the code, and what is left keeps its names. A
    new variable names its value itself. The tables are `values`, `nodes` (names of nodes, where `node_rule` gives
    others), `literals` and `constants` (names of what stands in the code as a literal: `y[1]` is input 1 of the node
    that makes `y`), `weights`, `graphs`, `local`, `docs`, `metadata`, `attributes`, `parameters` and `inputs`.
    """
    if not isinstance(script, ScriptFunction):
        raise CallError(f"rebuild takes a script, not {type(script).__name__}")
    for _, tables in ((script, details), *functions):
        _describe_weights(tables.get("docs", {}), all_weights)
    made = script.to_model(producer_name=producer_name, ir_version=ir_version).ir
    called = dict(made.functions)
    made.functions.clear()
    for function, _ in functions:  # in the order of the model
        held = generic_function(function)
        made.functions[held.identifier()] = called.pop(held.identifier(), held)
    made.functions.update(called)
    for function, tables in functions:
        key = (function.domain, function.onnx_name, function.overload)
        _restore_function(made.functions[key], tables, sources)
    restorer = _Restorer(made.graph, details, sources, all_weights)
    restorer.run()
    restorer.connect(_finder(made.graph))
    _rename_arguments(made, functions)
    _describe_initializers(made.graph, details)
    _restore_inputs(made.graph, details.get("inputs", ()))
    made.producer_version = producer_version or None
    made.producer_name = producer_name or None
    made.domain = domain or None
    made.model_version = model_version or None
    made.doc_string = doc_string or None
    made.metadata_props.update(model_metadata or {})
    if opset_imports is not None:
        made.opset_imports.clear()
        made.opset_imports.update(opset_imports)
    if not value_types:
        _forget_types(made.graph)
    special = _special_types(script, made.graph)
    return (
        Model.from_proto(beyond.to_proto(made, special)) if beyond.needs_proto(made, special) else Model(made)
    )


@boundary
def rebuild_function(script: Any, *, all_weights: Weights | None = None, **tables: Any) -> onnx.FunctionProto:
    """The function of a script, as the tables beside it say; they are those of `rebuild`."""
    if not isinstance(script, ScriptFunction):
        raise CallError(f"rebuild_function takes a script, not {type(script).__name__}")
    _describe_weights(tables.get("docs", {}), all_weights)
    function = generic_function(script)
    _restore_function(function, tables, sources=False)
    return ir.serde.serialize_function(function)


def _describe_weights(docs: Mapping[str, str], weights: Weights | None) -> None:
    for key, text in docs.items():
        name = key.removeprefix("weight ")
        if weights is not None and key != name and name in weights:
            weights[name].describe(text)


def _special_types(script: ScriptFunction, graph: ir.Graph) -> dict[str, AnyValueType]:
    """The declared types that onnx-ir does not know."""
    inputs = [value for value in graph.inputs if VARIABLE_KEY in value.meta]
    declared = [each.type for each in script.parameters.inputs]
    pairs = [
        *zip(inputs, declared, strict=False),
        *zip(graph.outputs, script.parameters.returns or (), strict=False),
    ]
    return {value.name or "": kind for value, kind in pairs if _has_map(kind)}


def _has_map(kind: AnyValueType) -> bool:
    while isinstance(kind, SequenceType | OptionalType):
        kind = kind.element
    return isinstance(kind, MapType)


def _restore_function(function: ir.Function, tables: Mapping[str, Any], sources: bool) -> None:
    restorer = _Restorer(function.graph, tables, sources)
    restorer.run()
    restorer.connect(_finder(function.graph))
    function.doc_string = tables.get("docs", {}).get("") or None
    function.metadata_props.update(tables.get("metadata", {}).get("", {}))
    imports = tables.get("opset_imports")
    if imports is not None:
        function.opset_imports.clear()
        function.opset_imports.update(imports)
    renamed: Mapping[str, str] = tables.get("parameters", {})
    if renamed:
        _rename_attributes(function, renamed)


def _rename_arguments(model: ir.Model, functions: Sequence[tuple[Any, Mapping[str, Any]]]) -> None:
    """Attributes of calls of functions, by the names that ONNX knows them by."""
    renamed = {
        (function.domain, function.onnx_name, function.overload): tables["parameters"]
        for function, tables in functions
        if "parameters" in tables
    }
    if not renamed:
        return
    for root in (model.graph, *(each.graph for each in model.functions.values())):
        for node in (node for graph in all_graphs(root) for node in graph):
            names = renamed.get(node.op_identifier())
            if names is None:
                continue
            attributes = list(node.attributes.values())
            node.attributes.clear()
            for each in attributes:
                name = names.get(each.name, each.name)
                node.attributes[name] = (
                    ir.RefAttr(name, each.ref_attr_name or "", each.type)
                    if each.is_ref()
                    else ir.Attr(name, each.type, each.value)
                )


def _describe_initializers(graph: ir.Graph, tables: Mapping[str, Any]) -> None:
    for each in all_graphs(graph):
        for value in each.initializers.values():
            _note(value, f"initializer {value.name}", tables)


def _note(value: ir.Value, key: str, tables: Mapping[str, Any]) -> None:
    """Give a value what the tables say of it besides its name."""
    value.doc_string = tables.get("docs", {}).get(key) or value.doc_string
    value.metadata_props.update(tables.get("metadata", {}).get(key, {}))
    if key in tables.get("quantization", {}):
        value.meta[QUANTIZATION_KEY] = dict(tables["quantization"][key])
    if key in tables.get("shapes", {}):
        value.shape = ir.Shape(tables["shapes"][key])
    if key in tables.get("denotations", {}):
        said, *dimensions = tables["denotations"][key]
        if value.type is not None:
            kind = copy.copy(value.type)
            kind.denotation = said or None
            value.type = kind
        if value.shape is not None:
            value.shape = ir.Shape(list(value.shape), denotations=[each or None for each in dimensions])


def _rename_attributes(function: ir.Function, renamed: Mapping[str, str]) -> None:
    attributes = list(function.attributes.values())
    function.attributes.clear()
    for each in attributes:
        name = renamed.get(each.name, each.name)
        function.attributes[name] = ir.Attr(name, each.type, each.value)
    for graph in all_graphs(function.graph):
        for node in graph:
            for each in list(node.attributes.values()):
                if each.is_ref() and each.ref_attr_name in renamed:
                    node.attributes[each.name] = ir.RefAttr(each.name, renamed[each.ref_attr_name], each.type)


def _finder(graph: ir.Graph) -> Callable[[str], ir.Value | None]:
    """Values of a graph and the graphs inside it, by name."""
    found: dict[str, ir.Value] = {}

    def find(name: str) -> ir.Value | None:
        if not found:
            for each in all_graphs(graph):
                for value in (*each.inputs, *each.initializers.values()):
                    found.setdefault(value.name or "", value)
                for value in (value for node in each for value in node.outputs):
                    found.setdefault(value.name or "", value)
        return found.get(name)

    return find


class _Restorer:
    """Gives one graph, and the graphs inside it, their names and notes."""

    def __init__(
        self, graph: ir.Graph, tables: Mapping[str, Any], sources: bool, weights: Weights | None = None
    ) -> None:
        self._graph = graph
        self._all_weights = weights
        self._unused: Mapping[str, Sequence[str]] = tables.get("unused", {})
        self._tensors: Mapping[str, str] = tables.get("tensors", {})
        self._tables = tables
        self._sources = sources
        self._values: Mapping[str, str] = tables.get("values", {})
        self._nodes: Mapping[str, str] = tables.get("nodes", {})
        self._rule: str = tables.get("node_rule", "")
        self._literals: Mapping[str, str] = tables.get("literals", {})
        self._constants: Mapping[str, Sequence[str]] = tables.get("constants", {})
        self._weights: Mapping[str, str] = tables.get("weights", {})
        self._graphs: Mapping[str, str] = tables.get("graphs", {})
        self._local: Mapping[str, Sequence[str]] = tables.get("local", {})
        self._types: Mapping[str, Sequence[Any]] = tables.get("types", {})
        self._loops: Mapping[str, Mapping[str, Any]] = tables.get("loops", {})
        # What is to be done with a value, and its name.
        self._later: list[tuple[Callable[[ir.Value], None], str]] = []
        self._docs: Mapping[str, str] = tables.get("docs", {})
        self._metadata: Mapping[str, Mapping[str, str]] = tables.get("metadata", {})
        self._attributes: Mapping[str, Mapping[str, Sequence[Any]]] = tables.get("attributes", {})
        # Values that are named by their variables.
        self._implicit: set[ir.Value] = set()
        # Initializers by the graph they live in and their name.
        self._made: dict[tuple[ir.Graph, str], ir.Value] = {}
        # Constant nodes to be placed: graph -> output -> node, the variable it comes before, the first user.
        self._waiting: dict[ir.Graph, dict[str, tuple[ir.Node, str, ir.Node]]] = {}
        names = dict.fromkeys(output for output, *_ in self._constants.values())
        self._constant_order = {name: position for position, name in enumerate(names)}
        self._homes: list[tuple[ir.Graph, frozenset[str]]] = []

    def run(self) -> None:
        self._graph.doc_string = self._docs.get("") or self._graph.doc_string
        self._graph.metadata_props.update(self._metadata.get("", {}))
        # Each is put back under its name, into the graph where it lives, when somebody uses it.
        for value in list(self._graph.initializers.values()):
            if WEIGHT_KEY in value.meta:
                del self._graph.initializers[value.name or ""]
        self._visit(self._graph, "", "", {})
        _drop_unused(self._graph)
        for graph in all_graphs(self._graph):
            self._tell_apart(graph)

    def _visit(self, graph: ir.Graph, prefix: str, attribute: str, owners: Mapping[str, str]) -> None:
        """Restore one graph; `owners` are the variables that its node assigns, which a branch assigns before it."""
        own = frozenset(self._local.get(prefix, ()))
        self._homes.append((graph, own))
        for value in (*graph.inputs, *(each for node in graph for each in node.outputs)):
            variable = value.meta.get(VARIABLE_KEY)
            if variable is not None:
                value.meta[_KEY] = f"{owners[variable]}:{attribute}" if variable in owners else variable
        for value in graph.inputs:
            self._name_value(value)
        nodes = list(graph)
        for node in nodes:
            self._restore_node(graph, node, _key_of(node))
        for position, value in enumerate(graph.outputs):
            if WEIGHT_KEY in value.meta:
                key = value.meta[WEIGHT_KEY]
                graph.outputs[position] = self._initializer(value, self._weights.get(key, key))
        self._place_constants(graph, nodes)
        self._add_unused(graph, self._unused.get(prefix, ()))
        self._order_initializers(graph, self._local.get(prefix, ()))
        self._homes.pop()

    def _place_constants(self, graph: ir.Graph, nodes: Sequence[ir.Node]) -> None:
        """Put the Constant nodes of a graph where they belong: before a certain node, never behind one that uses it."""
        waiting = self._waiting.pop(graph, {})
        if not waiting:
            return
        positions = {_key_of(node): position for position, node in enumerate(nodes)}
        placed: list[tuple[int, int, ir.Node]] = []
        for output, (node, before, user) in waiting.items():
            first_use = positions[_key_of(user)]
            place = min(positions.get(before, first_use), first_use)
            placed.append((place, self._constant_order[output], node))
        for position, _, node in sorted(placed, key=lambda each: each[:2]):
            graph.insert_before(nodes[position], node)

    def _add_unused(self, graph: ir.Graph, keys: Sequence[str]) -> None:
        """Put the initializers back that the code does not mention."""
        for key in keys if self._all_weights is not None else ():
            weight = cast(Weights, self._all_weights)[key]
            name = self._weights.get(key, key)
            value = ir.Value(
                name=name,
                type=ir.TensorType(weight.tensor.dtype),
                shape=ir.Shape(weight.shape),
                const_value=weight.tensor,
            )
            value.meta[WEIGHT_KEY] = key
            graph.initializers.setdefault(name, value)

    @staticmethod
    def _order_initializers(graph: ir.Graph, names: Sequence[str]) -> None:
        for name in names:
            if name in graph.initializers:
                graph.initializers[name] = graph.initializers.pop(name)

    def _name_value(self, value: ir.Value) -> None:
        key = value.meta.get(_KEY)
        if key is None:
            return
        named = self._values.get(key)
        value.name = named if named is not None else value.meta[VARIABLE_KEY]
        if named is None:
            self._implicit.add(value)
        _note(value, f"value {key}", self._tables)

    def _tell_apart(self, graph: ir.Graph) -> None:
        """Where an edited variable is called like something else of the same graph, its value gets another name."""
        made = [value for node in graph for value in node.outputs if value.name]
        values = dict.fromkeys([*graph.inputs, *graph.initializers.values(), *made])
        taken = {value.name for value in values if value not in self._implicit}
        for value in values:
            if value in self._implicit:
                while value.name in taken:
                    value.name = f"{value.name}_"
                taken.add(value.name)

    def _restore_node(self, graph: ir.Graph, node: ir.Node, key: str) -> None:
        for position in range(len(node.inputs)):
            self._restore_constant(graph, node, key, position)
        first = ""
        for value in node.outputs:
            if value.meta.get(VARIABLE_KEY) == "_":
                value.name = ""
            else:
                self._name_value(value)
            first = first or value.name or ""
        self._drop_missing_outputs(node)
        if not self._sources:
            origin = node.metadata_props.pop(SOURCE_KEY, None)
            if origin is not None:
                node.meta[SOURCE_KEY] = origin
        node.name = self._nodes.get(key, name_by_rule(self._rule, first, node.op_type))
        node.doc_string = self._docs.get(key) or None
        node.metadata_props.update(self._metadata.get(key, {}))
        for name, (kind, value) in self._attributes.get(key, {}).items():
            node.attributes[name] = ir.Attr(name, ir.AttributeType[kind], tuple(value))
        self._name_tensors(node, key)
        for attribute in list(node.attributes.values()):
            doc = self._docs.get(f"{key}.{attribute.name}")
            if doc and attribute.is_ref():
                attribute = ir.RefAttr(attribute.name, attribute.ref_attr_name or "", attribute.type, doc)
                node.attributes[attribute.name] = attribute
            elif doc:
                attribute = ir.Attr(attribute.name, attribute.type, attribute.value, doc_string=doc)
                node.attributes[attribute.name] = attribute
        self._restore_bodies(node, key)

    def _name_tensors(self, node: ir.Node, key: str) -> None:
        """Tensors that are attributes have names of their own, mostly none."""
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.TENSOR and not attribute.is_ref():
                tensor = cast(ir.TensorProtocol, attribute.value)
                tensor.name = self._tensors.get(f"{key}.{attribute.name}", "")

    @staticmethod
    def _drop_missing_outputs(node: ir.Node) -> None:
        count = len(node.outputs)
        while count > 1 and not node.outputs[count - 1].name:
            count -= 1
        if count < len(node.outputs):
            node.resize_outputs(count)

    def _restore_bodies(self, node: ir.Node, key: str) -> None:
        for attribute in node.attributes.values():
            if attribute.is_ref():
                continue
            if attribute.type == ir.AttributeType.GRAPH:
                inner = [(f"{key}:{attribute.name}", cast(ir.Graph, attribute.value))]
            elif attribute.type == ir.AttributeType.GRAPHS:
                graphs = cast("Sequence[ir.Graph]", attribute.value)
                inner = [(f"{key}:{attribute.name}[{k}]", each) for k, each in enumerate(graphs)]
            else:
                continue
            for prefix, graph in inner:
                graph.name = self._graphs.get(prefix, graph.name if prefix in self._graphs else "")
                graph.doc_string = self._docs.get(f"graph {prefix}") or None
                graph.metadata_props.update(self._metadata.get(f"graph {prefix}", {}))
                owners = {
                    value.meta[VARIABLE_KEY]: value.meta[_KEY] for value in node.outputs if _KEY in value.meta
                }
                self._visit(graph, prefix, attribute.name, owners)
                if key in self._loops and attribute.name == "body":
                    self._restore_loop(node, graph, self._loops[key])
                self._declare(graph, prefix)

    def _declare(self, graph: ir.Graph, prefix: str) -> None:
        for value, kind in zip(graph.outputs, self._types.get(prefix, ()), strict=False):
            if value.is_graph_input():
                continue  # it has been said what it is
            if kind is not None:
                value.type, value.shape = type_to_ir(read_value_type(kind))
            elif value.producer() is not None and value.graph is graph:
                value.type = value.shape = None

    def _restore_loop(self, node: ir.Node, body: ir.Graph, notes: Mapping[str, Any]) -> None:
        """What the statement of a loop does not say: its inputs, and how its condition goes on."""
        for value, name, kind in zip(body.inputs, notes["inputs"], notes["types"], strict=False):
            value.name = name
            if kind is None:
                value.type = value.shape = None
            else:
                value.type, value.shape = type_to_ir(read_value_type(kind))
        if "start" in notes:
            self._later.append((lambda value: node.replace_input_with(1, value), notes["start"]))
        if "constant" in notes:
            self._later.append((lambda value: body.outputs.__setitem__(0, value), notes["constant"]))
        if "left_by" in notes:
            leaving = body.outputs[0].producer()
            if leaving is not None and leaving.op_type == "Not" and _KEY not in leaving.outputs[0].meta:
                leaving.outputs[0].name, leaving.name = notes["left_by"]
        if "passed_on" in notes:
            output, name, before, *source = notes["passed_on"]
            result = ir.Value(name=output)
            result.type, result.shape = body.outputs[0].type, body.outputs[0].shape
            if source == [""]:
                truth = ir.Attr("value", ir.AttributeType.TENSOR, ir.tensor(np.array(True)))
                passing = ir.Node("", "Constant", [], [truth], outputs=[result], name=name)
            else:
                passing = ir.Node("", "Identity", [body.inputs[1]], outputs=[result], name=name)
            if source and source[0]:
                identity = passing
                self._later.append((lambda value: identity.replace_input_with(0, value), source[0]))
            following = next((each for each in body if _key_of(each) == before), None) if before else None
            if following is None:
                body.append(passing)
            else:
                body.insert_before(following, passing)
            body.outputs[0] = result

    def connect(self, find: Callable[[str], ir.Value | None]) -> None:
        """Give loops the conditions that their statements do not say, once all values have their names."""
        for use, name in self._later:
            value = find(name)
            if value is not None:
                use(value)

    # -- constants -------------------------------------------------------------------------------------

    def _restore_constant(self, graph: ir.Graph, node: ir.Node, key: str, position: int) -> None:
        value = node.inputs[position]
        if value is None or VARIABLE_KEY in value.meta:
            return
        place = f"{key}[{position}]"
        if place in self._constants:
            output, name, *before = self._constants[place]
            made = self._constant_node(graph, node, value, output, name, before[0] if before else key)
            node.replace_input_with(position, made)
        elif place in self._literals:
            node.replace_input_with(position, self._initializer(value, self._literals[place]))
        elif WEIGHT_KEY in value.meta:
            key = value.meta[WEIGHT_KEY]
            node.replace_input_with(position, self._initializer(value, self._weights.get(key, key)))

    def _home(self, name: str) -> ir.Graph:
        """The innermost graph that an initializer of this name lives in."""
        for graph, own in reversed(self._homes):
            if name in own:
                return graph
        return self._graph

    def _initializer(self, value: ir.Value, name: str) -> ir.Value:
        home = self._home(name)
        found = self._made.get((home, name))
        if found is not None and _is_same(found, value):
            home.initializers.setdefault(name, found)
            return found
        tensor = _tensor_of(value)
        if tensor is None:
            return value
        while (home, name) in self._made:  # an edited literal is another constant
            name += "_edited"
        result = ir.Value(
            name=name,
            type=ir.TensorType(tensor.dtype),
            shape=ir.Shape(list(cast(Any, tensor.shape))),
            const_value=tensor,
        )
        self._made[home, name] = result
        home.initializers[name] = result
        return result

    def _constant_node(
        self, graph: ir.Graph, node: ir.Node, value: ir.Value, output: str, name: str, before: str
    ) -> ir.Value:
        found = self._made.get((graph, output))
        if found is not None and _is_same(found, value):
            return found
        tensor = _tensor_of(value)
        if tensor is None:
            return value
        order = output
        while (graph, output) in self._made:
            output += "_edited"
        result = ir.Value(
            name=output, type=ir.TensorType(tensor.dtype), shape=ir.Shape(list(cast(Any, tensor.shape)))
        )
        result.const_value = tensor
        tensor = ir.Tensor(
            tensor.numpy(), dtype=tensor.dtype, name=self._tensors.get(f"constant {order}", "")
        )
        attribute = ir.Attr("value", ir.AttributeType.TENSOR, tensor)
        constant = ir.Node("", "Constant", [], [attribute], outputs=[result], name=name)
        self._waiting.setdefault(graph, {})[order] = (constant, before, node)
        self._made[graph, output] = result
        return result


def _key_of(node: ir.Node) -> str:
    """The variable of the first output that has one."""
    for value in node.outputs:
        if value.meta.get(VARIABLE_KEY) not in (None, "_"):
            return cast(str, value.meta[_KEY])
    return ""


def _tensor_of(value: ir.Value) -> ir.TensorProtocol | None:
    node = value.producer()
    if node is not None and node.op_type == "Constant" and "value" in node.attributes:
        return cast(ir.TensorProtocol, node.attributes["value"].value)
    return value.const_value


def _is_same(a: ir.Value, b: ir.Value) -> bool:
    left, right = _tensor_of(a), _tensor_of(b)
    if left is right:
        return True
    if left is None or right is None or left.dtype != right.dtype or left.shape != right.shape:
        return False
    return left.tobytes() == right.tobytes()


def _drop_unused(graph: ir.Graph) -> None:
    """Without the constants that literals made: those that the tables name took their places."""
    outputs = {value for each in all_graphs(graph) for value in each.outputs}
    for each in all_graphs(graph):
        for node in list(each):
            is_literal = node.op_type == "Constant" and VARIABLE_KEY not in node.outputs[0].meta
            is_literal = is_literal and node.outputs[0].const_value is None
            if is_literal and not node.outputs[0].uses() and node.outputs[0] not in outputs:
                each.remove(node)
    for name, value in list(graph.initializers.items()):
        if not value.uses() and value not in outputs and WEIGHT_KEY not in value.meta:
            del graph.initializers[name]


def _restore_inputs(graph: ir.Graph, names: Sequence[str]) -> None:
    """Initializers that are inputs, too, at their places among the inputs."""
    if not names:
        return
    own = {value.name: value for value in graph.inputs}
    ordered = [own.get(name) or graph.initializers.get(name) for name in names]
    missing = [value for value in graph.inputs if value.name not in names]
    graph.inputs[:] = [value for value in ordered if value is not None] + missing


def _forget_types(graph: ir.Graph) -> None:
    for each in all_graphs(graph):
        held = {*each.inputs, *each.outputs, *each.initializers.values()}
        for node in each:
            for value in node.outputs:
                if value not in held:
                    value.type = value.shape = None
