"""Puts constants back where a model had them: as initializers of a certain graph, or as Constant nodes at their places.

The code has literals and `weights["name"]`; which of them is what, and what it is called, the tables of `rebuild` say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import onnx_ir as ir

from onnxsmith.decompiling.restored_keys import key_of_node
from onnxsmith.graphs.identity import tensor_key
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.notes import VARIABLE_KEY, WEIGHT_KEY, notes_of
from onnxsmith.graphs.rewriting.scopes import graphs_of, own_values
from onnxsmith.graphs.weights import Weights


class RestoredConstants:
    """The constants of one graph and the graphs inside it."""

    def __init__(self, graph: ir.Graph, tables: Mapping[str, Any], weights: Weights | None) -> None:
        self._graph = graph
        self._all_weights = weights
        self._literals: Mapping[str, str] = tables.get("literals", {})
        self._constants: Mapping[str, Sequence[str]] = tables.get("constants", {})
        self._weights: Mapping[str, str] = tables.get("weights", {})
        self._local: Mapping[str, Sequence[str]] = tables.get("local", {})
        self._unused: Mapping[str, Sequence[str]] = tables.get("unused", {})
        self._tensors: Mapping[str, str] = tables.get("tensors", {})
        # Values by the graph they live in and their name.
        self._made: dict[tuple[ir.Graph, str], ir.Value] = {}
        # Constant nodes to be placed in each graph: the node, the variable it comes before, the first user, and the
        # position of its entry in the table, which has the constants of a graph in their order.
        self._waiting: dict[ir.Graph, list[tuple[ir.Node, str, ir.Node, int]]] = {}
        self._order = {place: position for position, place in enumerate(self._constants)}
        # The graphs around the place that is looked at, each with the names of its own initializers.
        self._homes: list[tuple[ir.Graph, frozenset[str]]] = []
        # Each weight is put back under its name, into the graph where it lives, when somebody uses it. A literal has
        # a name that the compiler chose, which a constant of the model may have, too: it waits until those are back.
        self._written = [value for value in graph.initializers.values() if WEIGHT_KEY not in value.meta]
        graph.initializers.clear()

    def enter(self, graph: ir.Graph, prefix: str) -> None:
        """From now on, what is restored is in this graph, which the tables call `prefix`."""
        self._homes.append((graph, frozenset(self._local.get(prefix, ()))))

    def leave(self, graph: ir.Graph, prefix: str, nodes: Sequence[ir.Node]) -> None:
        """All nodes of a graph have been looked at, in this order: put in place what belongs between them."""
        for position, value in enumerate(graph.outputs):
            if WEIGHT_KEY in value.meta:
                graph.outputs[position] = self._initializer(value, self._weight_name(value))
        self._place(graph, nodes)
        _give_own(graph)
        self._add_unused(graph, self._unused.get(prefix, ()))
        for name in self._local.get(prefix, ()):
            if name in graph.initializers:  # in the order of the table
                graph.initializers[name] = graph.initializers.pop(name)
        self._homes.pop()

    def restore(self, graph: ir.Graph, node: ir.Node, key: str) -> None:
        """Give a node the constants that it had."""
        for position, value in enumerate(node.inputs):
            if value is None or VARIABLE_KEY in value.meta:
                continue
            place = f"{key}[{position}]"
            if place in self._constants:
                made = self._constant_node(graph, node, value, key, place)
            elif place in self._literals:
                made = self._initializer(value, self._literals[place])
            elif WEIGHT_KEY in value.meta:
                made = self._initializer(value, self._weight_name(value))
            else:
                continue
            node.replace_input_with(position, made)

    def finish(self) -> None:
        """All graphs have been looked at: keep the literals that no constant of the tables took the place of."""
        graphs = list(graphs_of(self._graph))
        outputs = {value for each in graphs for value in each.outputs}
        _drop_unused_nodes(graphs, outputs)
        edited = [value for value in self._written if value.uses() or value in outputs]
        if not edited:
            return
        taken = {value.name or "" for each in graphs for value in own_values(each)}
        for value in edited:
            while value.name in taken:
                value.name = f"{value.name}_edited"
            taken.add(value.name or "")
            self._graph.initializers[value.name or ""] = value

    def _weight_name(self, value: ir.Value) -> str:
        key: str = notes_of(value)[WEIGHT_KEY]
        return self._weights.get(key, key)

    def _place(self, graph: ir.Graph, nodes: Sequence[ir.Node]) -> None:
        """Put the Constant nodes of a graph where they belong: before a certain node, never behind one that uses it."""
        waiting = self._waiting.pop(graph, ())
        if not waiting:
            return
        positions = {key_of_node(node): position for position, node in enumerate(nodes)}
        placed: list[tuple[int, int, ir.Node]] = []
        for node, before, user, order in waiting:
            first_use = positions[key_of_node(user)]
            place = min(positions.get(before, first_use), first_use)
            placed.append((place, order, node))
        for position, _, node in sorted(placed, key=lambda each: each[:2]):
            graph.insert_before(nodes[position], node)

    def _add_unused(self, graph: ir.Graph, keys: Sequence[str]) -> None:
        """Put the initializers back that the code never mentioned."""
        for key in keys if self._all_weights is not None else ():
            weight = cast(Weights, self._all_weights)[key]
            value = _initializer_value(self._weights.get(key, key), weight.tensor)
            notes_of(value)[WEIGHT_KEY] = key
            graph.initializers.setdefault(value.name or "", value)

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
        result = _initializer_value(name, tensor)
        self._made[home, name] = home.initializers[name] = result
        return result

    def _constant_node(
        self, graph: ir.Graph, node: ir.Node, value: ir.Value, key: str, place: str
    ) -> ir.Value:
        output, name, *before = self._constants[place]
        found = self._made.get((graph, output))
        if found is not None and _is_same(found, value):
            return found
        tensor = _tensor_of(value)
        if tensor is None:
            return value
        tensor_name = self._tensors.get(f"constant {output}", "")
        while (graph, output) in self._made:
            output += "_edited"
        result = _initializer_value(output, tensor)
        held = ir.Tensor(cast(Any, tensor.numpy()), dtype=tensor.dtype, name=tensor_name)
        attribute = ir.Attr("value", ir.AttributeType.TENSOR, held)
        constant = ir.Node("", "Constant", [], [attribute], outputs=[result], name=name)
        entry = (constant, before[0] if before else key, node, self._order[place])
        self._waiting.setdefault(graph, []).append(entry)
        self._made[graph, output] = result
        return result


def _initializer_value(name: str, tensor: ir.TensorProtocol) -> ir.Value:
    return ir.Value(
        name=name,
        type=ir.TensorType(tensor.dtype),
        shape=ir.Shape(dimensions_of(tensor)),
        const_value=tensor,
    )


def _give_own(graph: ir.Graph) -> None:
    """Give a graph's own initializers themselves: a copy that nobody wrote is of the time when they were outside."""
    for position, value in enumerate(graph.outputs):
        node = value.producer()
        if node is None or node.op_type != "Identity" or node.domain or VARIABLE_KEY in value.meta:
            continue
        given = node.inputs[0]
        if given is not None and graph.initializers.get(given.name or "") is given:
            graph.outputs[position] = given
            if not value.uses() and value not in graph.outputs:
                graph.remove(node, safe=True)


def _tensor_of(value: ir.Value) -> ir.TensorProtocol | None:
    node = value.producer()
    if node is not None and node.op_type == "Constant" and "value" in node.attributes:
        return cast(ir.TensorProtocol, node.attributes["value"].value)
    return value.const_value


def _is_same(a: ir.Value, b: ir.Value) -> bool:
    left, right = _tensor_of(a), _tensor_of(b)
    if left is None or right is None:
        return left is right
    return left is right or tensor_key(left) == tensor_key(right)


def _drop_unused_nodes(graphs: Sequence[ir.Graph], outputs: Collection[ir.Value]) -> None:
    """Take out the Constant nodes that literals made, where those that the tables name took their places."""
    for each in graphs:
        for node in list(each):
            if node.op_type != "Constant":
                continue
            result = node.outputs[0]
            is_literal = VARIABLE_KEY not in result.meta and result.const_value is None
            if is_literal and not result.uses() and result not in outputs:
                each.remove(node)
