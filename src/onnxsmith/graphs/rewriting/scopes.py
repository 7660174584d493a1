"""Where nodes stand: graphs inside graphs and functions, the opsets in force there, the names that are taken.

Walks over protos, and over models of onnx-ir at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

import onnx

from onnxsmith.graphs.lazy_ir import ir

#: The function that a node calls: domain, name, overload.
FunctionKey = tuple[str, str, str]


T = TypeVar("T", bound=Hashable)


def reached(starts: Iterable[T], further: Callable[[T], Iterable[T]]) -> set[T]:
    """Some things, and all that one step after the other leads to from them."""
    found: set[T] = set()
    waiting = list(starts)
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += further(each)
    return found


def plain_domain(domain: str) -> str:
    """The standard domain has two names."""
    return "" if domain == "ai.onnx" else domain


def inner_graphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """The bodies of a node."""
    found: list[onnx.GraphProto] = []
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            found.append(attribute.g)
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            found += attribute.graphs
    return found


def graphs_of_proto(model: onnx.ModelProto) -> list[onnx.GraphProto | onnx.FunctionProto]:
    """Every graph of a model, and every function, which has nodes like one."""
    found: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    for here in found:  # which grows
        for node in here.node:
            found += inner_graphs(node)
    return found


def names_around(node: onnx.NodeProto) -> set[str]:
    """The names of values that a node's bodies read from around it."""
    return {name for graph in inner_graphs(node) for name in outer_names(graph)}


def outer_names(graph: onnx.GraphProto) -> set[str]:
    """The names of values around a graph that it reads, or gives back."""
    read = {each.name for each in graph.output}
    own = {each.name for each in (*graph.input, *graph.initializer)}
    own.update(each.values.name for each in graph.sparse_initializer)
    for node in graph.node:
        read.update(node.input, names_around(node))
        own.update(node.output)
    return read - own - {""}


def all_nodes(nodes: Iterable[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """All nodes, those in bodies included, to any depth."""
    found: list[onnx.NodeProto] = []
    waiting: list[Iterable[onnx.NodeProto]] = [nodes]
    while waiting:
        for node in waiting.pop():
            found.append(node)
            if node.attribute:
                waiting += [graph.node for graph in inner_graphs(node)]
    return found


def nodes_of_model(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """All nodes of a model, those of its functions and of bodies included."""
    return [node for each in (model.graph, *model.functions) for node in all_nodes(each.node)]


def operators_of(model: onnx.ModelProto) -> set[tuple[str, str]]:
    """Domain and name of everything that nodes call: operators, and functions of the model's own."""
    return {operator_key(node) for node in nodes_of_model(model)}


def value_names(model: onnx.ModelProto) -> Iterator[str]:
    """The name of every value of a model, its functions' included."""
    for graph in graphs_of_proto(model):
        if isinstance(graph, onnx.FunctionProto):
            yield from graph.input
        else:
            sparse = (each.values for each in graph.sparse_initializer)
            yield from (named.name for named in (*graph.input, *graph.initializer, *sparse))
        for node in graph.node:
            yield from node.output


def opset_versions(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Version by domain."""
    return {plain_domain(entry.domain): entry.version for entry in imports}


def standard_version(imports: Iterable[onnx.OperatorSetIdProto], otherwise: int = 0) -> int:
    """The version of the standard domain."""
    return opset_versions(imports).get("", otherwise)


def operator_key(node: onnx.NodeProto) -> tuple[str, str]:
    """The domain, empty for ONNX's own, and the name of the operator of a node."""
    domain = node.domain  # `plain_domain` inline: every node of a model comes through here
    return "" if domain == "ai.onnx" else domain, node.op_type


def function_key(node: onnx.NodeProto) -> FunctionKey:
    """The function that a node would call, if the model has it."""
    return node.domain, node.op_type, node.overload


def functions_of(model: onnx.ModelProto) -> dict[FunctionKey, onnx.FunctionProto]:
    """The model's own functions."""
    return {(each.domain, each.name, each.overload): each for each in model.functions}


def functions_that_use(
    functions: Mapping[FunctionKey, onnx.FunctionProto], operators: Container[tuple[str, str]]
) -> set[FunctionKey]:
    """The functions with one of these operators in them, or in a function that they call."""
    direct: set[FunctionKey] = set()
    callers: dict[FunctionKey, set[FunctionKey]] = {key: set() for key in functions}
    for key, function in functions.items():
        for node in all_nodes(function.node):
            called = function_key(node)
            if called in functions:
                callers[called].add(key)
            elif operator_key(node) in operators:
                direct.add(key)
    return reached(direct, callers.__getitem__)


def calls_in(
    nodes: Iterable[onnx.NodeProto], functions: Mapping[FunctionKey, onnx.FunctionProto]
) -> Iterator[FunctionKey]:
    """The functions that nodes call, those in bodies included."""
    return (key for key in map(function_key, all_nodes(nodes)) if key in functions)


# -- onnx-ir -------------------------------------------------------------------------------------------------


def bodies_of(node: ir.Node, *, by_name: bool = False) -> Iterator[ir.Graph]:
    """The graphs that a node has for attributes, in the order of the file or of the attributes' names."""
    held = node.attributes
    for name in (sorted(held) if by_name else held) if held else ():
        attribute = held[name]
        if attribute.is_ref():
            continue
        if attribute.type == ir.AttributeType.GRAPH:
            yield attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            yield from attribute.as_graphs()


def has_graphs(node: ir.Node) -> bool:
    """True if a node has graphs inside."""
    return bool(node.attributes) and next(bodies_of(node), None) is not None


def named_bodies(node: ir.Node) -> Iterator[tuple[str, str, ir.Graph]]:
    """The same with the attribute of each, and what an address calls it, which counts those of a list."""
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            continue
        if attribute.type == ir.AttributeType.GRAPH:
            yield name, name, attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            yield from ((name, f"{name}[{k}]", each) for k, each in enumerate(attribute.as_graphs()))


def own_values(graph: ir.Graph) -> Iterator[ir.Value]:
    """The values that a graph itself has, each once: inputs, initializers, what its nodes give."""
    yield from dict.fromkeys((*graph.inputs, *graph.initializers.values()))
    for node in graph:
        yield from node.outputs


def captured(graph: ir.Graph) -> Iterator[ir.Value]:
    """The values around a graph that it reads, or gives back, once for each use; inner graphs included."""
    inside = list(graphs_of(graph))
    own = {value for each in inside for value in own_values(each)}
    for each in inside:
        read = (value for node in each for value in node.inputs)
        yield from (value for value in (*read, *each.outputs) if value is not None and value not in own)


def values_read(node: ir.Node) -> Iterator[ir.Value]:
    """The values that a node reads, and those that its bodies take from around it, once for each use."""
    yield from (each for each in node.inputs if each is not None)
    for graph in bodies_of(node):
        yield from captured(graph)


def inner_nodes(node: ir.Node) -> Iterator[ir.Node]:
    """The nodes of all graphs inside a node."""
    return (each for graph in bodies_of(node) for each in graph.all_nodes())


def called_functions(
    nodes: Iterable[ir.Node], functions: Mapping[ir.OperatorIdentifier, ir.Function]
) -> set[ir.OperatorIdentifier]:
    """The functions that nodes call, and those that these call; nodes of bodies are given, too."""

    def calls(inside: Iterable[ir.Node]) -> list[ir.OperatorIdentifier]:
        return [key for each in inside if (key := each.op_identifier()) in functions]

    return reached(calls(nodes), lambda key: calls(functions[key].graph.all_nodes()))


def roots_of(model: ir.Model) -> list[ir.Graph]:
    """The graph of a model and those of its functions: all nodes are in them, or in graphs inside."""
    return [model.graph, *(each.graph for each in model.functions.values())]


def nodes_of(model: ir.Model) -> Iterator[ir.Node]:
    """All nodes of a model, those of its functions and of bodies included."""
    return (node for root in roots_of(model) for node in root.all_nodes())


def graphs_of(graph: ir.Graph) -> Iterator[ir.Graph]:
    """A graph and all inside it: one scope of names."""
    yield graph
    yield from graph.subgraphs()


def all_graphs(model: ir.Model) -> list[ir.Graph]:
    """The graph of a model, those of its functions, and all inside them."""
    return [each for root in roots_of(model) for each in graphs_of(root)]


def described_node(node: ir.Node) -> str:
    """A node as a message names it."""
    return f"node '{node.name}' ({node.op_type})" if node.name else f"a node {node.op_type}"


def named_outputs(node: ir.Node) -> list[ir.Value]:
    """The outputs up to the last that has a name: those behind it are missing, and need no mention."""
    outputs = list(node.outputs)
    while len(outputs) > 1 and not outputs[-1].name:
        outputs.pop()
    return outputs


def required_inputs(graph: ir.Graph) -> list[ir.Value]:
    """The inputs that have no default."""
    return [value for value in graph.inputs if value.name not in graph.initializers]


def numeric_weights(model: ir.Model) -> Iterator[tuple[ir.Value, ir.TensorProtocol]]:
    """The initializers of all graphs of a model, text left out."""
    for graph in all_graphs(model):
        for value in graph.initializers.values():
            tensor = value.const_value
            if tensor is not None and tensor.dtype != ir.DataType.STRING:
                yield value, tensor


def held_tensor(value: ir.Value) -> ir.TensorProtocol | None:
    """The content of a weight that no caller can give."""
    return value.const_value if value.is_initializer() and not value.is_graph_input() else None
