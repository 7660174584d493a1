"""`functions="modules"`: the nodes that a call of a module made become a call of an ONNX function.

Works on the finished graph. Nodes know which calls of modules they were made in; those of one call stand together,
and become a function whose inputs are what they read, weights included. Calls that come out equal share a function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import onnx_ir as ir

from onnxsmith.graphs.function import FUNCTION_DOMAIN_VERSION
from onnxsmith.graphs.names import Names, snake_case
from onnxsmith.graphs.notes import WEIGHT_KEY, notes_of

#: The note of a node that holds the calls of modules that it is in.
MODULES_KEY = "onnxsmith.modules"
#: The calls of modules that a node is in, the outermost first: what tells a call from others, and the class.
Calls = tuple[tuple[str, str], ...]
#: Constants up to this many elements stand in the function; larger ones are weights.
_SMALL = 64


def outline(model: ir.Model) -> None:
    """Put functions in the place of calls of modules, the innermost first."""
    outliner = _Outliner(model)
    outliner.run()
    for function in outliner.functions.values():
        model.functions[function.identifier()] = function
        model.graph.opset_imports.setdefault(function.domain, FUNCTION_DOMAIN_VERSION)


@dataclass(slots=True)
class _Run:
    """Nodes that stand together and belong to one call of a module."""

    call: tuple[str, str] | None
    items: list[ir.Node] = field(default_factory=list[ir.Node])


class _Outliner:
    def __init__(self, model: ir.Model) -> None:
        self.graph = model.graph
        #: What a function is, whatever its values are called -> the function.
        self.functions: dict[Any, ir.Function] = {}
        self.names: dict[str, Names] = {}
        self.node_names = Names()
        for node in model.graph:
            self.node_names.unique(node.name or "")
        self.initializers = set(model.graph.initializers.values())
        #: The nodes that there are; values are also noted as read by nodes of bodies that were tried and given up.
        self.alive = set(_with_inner(model.graph))

    def run(self) -> None:
        nodes = list(self.graph)
        # The outermost call is the model itself.
        calls: dict[ir.Node, Calls] = {node: notes_of(node).get(MODULES_KEY, ())[1:] for node in nodes}
        self.graph.remove(nodes)
        self.graph.extend(self._outlined(nodes, calls, 0))

    def _outlined(
        self, nodes: Sequence[ir.Node], calls: Mapping[ir.Node, Calls], depth: int
    ) -> list[ir.Node]:
        runs: list[_Run] = []
        for node in nodes:
            own = calls[node]
            call = own[depth] if len(own) > depth else None
            if not runs or runs[-1].call != call:
                runs.append(_Run(call))
            runs[-1].items.append(node)
        result: list[ir.Node] = []
        for run in runs:
            if run.call is None:
                result += run.items
            else:
                result += self._called(run.items, run.call[1], calls, depth)
        return result

    def _called(
        self, nodes: list[ir.Node], kind: str, calls: Mapping[ir.Node, Calls], depth: int
    ) -> list[ir.Node]:
        """The nodes of one call as a call of a function, behind what does not belong in it."""
        before, nodes = self._hoisted(nodes)
        if not nodes:
            return before
        nodes = self._outlined(nodes, calls, depth + 1)
        inside = set(_with_inner(nodes))
        inner = {each for node in nodes for each in (*node.outputs, *_made_in_subgraphs(node))}
        inputs = list(
            dict.fromkeys(
                each
                for node in nodes
                for each in _read_values(node)
                if each not in inner and not self._is_small_constant(each)
            )
        )
        outputs = [each for node in nodes for each in node.outputs if self._is_read_outside(each, inside)]
        if not outputs:
            return [*before, *nodes]
        function = self._function(kind, nodes, inputs, outputs)
        results = [ir.Value(name=each.name, type=each.type, shape=each.shape) for each in outputs]
        node = ir.Node(
            function.domain,
            function.name,
            inputs,
            outputs=results,
            name=self.node_names.unique(snake_case(function.name)),
        )
        self.alive.add(node)
        for old, new in zip(outputs, results, strict=True):
            cast(Any, new.meta).update(old.meta)
            old.replace_all_uses_with(new, replace_graph_outputs=True)
        for each in nodes:
            _disconnect(each)
        return [*before, node]

    def _hoisted(self, nodes: list[ir.Node]) -> tuple[list[ir.Node], list[ir.Node]]:
        """Nodes that hang on nothing in the call and whose results are sizes for others, apart from the rest.

        A size is computed where it is first needed, and used everywhere: it does not belong to the first layer.
        """
        wanted = self._shared_sizes(nodes)
        made = {each for node in nodes for each in node.outputs}
        before: list[ir.Node] = []
        rest: list[ir.Node] = []
        for node in nodes:
            if node in wanted and not any(each in made for each in _read_values(node)):
                before.append(node)
                made.difference_update(node.outputs)
            else:
                rest.append(node)
        return before, rest

    def _shared_sizes(self, nodes: list[ir.Node]) -> set[ir.Node]:
        """The nodes that compute sizes which are read outside, and what those need."""
        inside = set(_with_inner(nodes))
        found: set[ir.Node] = set()
        for node in reversed(nodes):
            if not all(_is_size(each) for each in node.outputs):
                continue
            users = {use.node for each in node.outputs for use in each.uses()} & self.alive
            if any(user not in inside or user in found for user in users):
                found.add(node)
        return found

    def _is_small_constant(self, value: ir.Value) -> bool:
        constant = value.const_value
        return (
            value in self.initializers
            and constant is not None
            and constant.size <= _SMALL
            and _is_plain(value)
        )

    def _is_read_outside(self, value: ir.Value, inside: set[ir.Node]) -> bool:
        if value.is_graph_output():
            return True
        return any(use.node in self.alive and use.node not in inside for use in value.uses())

    def _function(
        self, kind: str, nodes: Sequence[ir.Node], inputs: Sequence[ir.Value], outputs: Sequence[ir.Value]
    ) -> ir.Function:
        copies = _Copies(inputs)
        body = copies.nodes(nodes)
        key = (kind, copies.key(nodes), tuple(copies.number(each) for each in outputs))
        found = self.functions.get(key)
        if found is not None:
            return found
        domain, _, name = kind.rpartition(".")
        imports = {node.domain: self.graph.opset_imports.get(node.domain, 1) for node in body}
        imports.setdefault("", self.graph.opset_imports[""])
        graph = ir.Graph(
            [copies.values[each] for each in inputs],
            [copies.values[each] for each in outputs],
            nodes=body,
            opset_imports=imports,
        )
        taken = self.names.setdefault(domain, Names())
        made = ir.Function(domain or "modules", taken.unique(name), graph=graph, attributes=())
        self.functions[key] = made
        return made


class _Copies:
    """Nodes copied into a function: values without types, constants as nodes."""

    def __init__(self, inputs: Sequence[ir.Value]) -> None:
        self.names = Names()
        self.values: dict[ir.Value, ir.Value] = {}
        self._numbers: dict[ir.Value, int] = {}
        for each in inputs:
            name = (each.name or "input").rpartition(".")[2]
            self.values[each] = ir.Value(name=self.names.unique(name))
            self._numbers[each] = len(self._numbers)

    def number(self, value: ir.Value) -> int:
        """What tells a value from others, whatever it is called."""
        return self._numbers.setdefault(value, len(self._numbers))

    def nodes(self, nodes: Sequence[ir.Node]) -> list[ir.Node]:
        body: list[ir.Node] = []
        for node in nodes:
            body += [
                self._constant(each)
                for each in dict.fromkeys(_read_values(node))
                if self._is_new_constant(each)
            ]
            body.append(self._copied(node))
        return body

    def _is_new_constant(self, value: ir.Value) -> bool:
        return value not in self.values and value.const_value is not None and value.producer() is None

    def _constant(self, value: ir.Value) -> ir.Node:
        result = self.values[value] = ir.Value(name=self.names.unique(value.name or "const"))
        attribute = ir.Attr("value", ir.AttributeType.TENSOR, value.const_value)
        return ir.Node("", "Constant", [], [attribute], outputs=[result])

    def _copied(self, node: ir.Node) -> ir.Node:
        outputs: list[ir.Value] = []
        inputs = [None if each is None else self.values[each] for each in node.inputs]
        attributes = [self._attribute(each) for each in node.attributes.values()]
        for each in node.outputs:
            self.values[each] = ir.Value(name=self.names.unique(each.name or "value"))
            outputs.append(self.values[each])
        return ir.Node(
            node.domain, node.op_type, inputs, attributes, outputs=outputs, overload=node.overload,
            name=node.name, metadata_props=dict(node.metadata_props),
        )  # fmt: skip

    def _attribute(self, attribute: ir.Attr) -> ir.Attr:
        if attribute.is_ref() or attribute.type != ir.AttributeType.GRAPH:
            return attribute
        graph = attribute.as_graph()
        inputs: list[ir.Value] = []
        for each in graph.inputs:
            # The inputs of a loop's body have types, which tell what is carried.
            self.values[each] = ir.Value(
                name=self.names.unique(each.name or "value"), type=each.type, shape=each.shape
            )
            inputs.append(self.values[each])
        body = [self._copied(node) for node in graph]
        outputs = [self.values[each] for each in graph.outputs]
        copied = ir.Graph(inputs, outputs, nodes=body, opset_imports=graph.opset_imports, name=graph.name)
        return ir.Attr(attribute.name, ir.AttributeType.GRAPH, copied)

    def key(self, nodes: Sequence[ir.Node]) -> Any:
        """What nodes compute, whatever their values are called."""
        return tuple(self._node_key(node) for node in nodes)

    def _node_key(self, node: ir.Node) -> Any:
        inputs = tuple(None if each is None else self._value_key(each) for each in node.inputs)
        attributes = tuple(
            sorted((name, self._attribute_key(each)) for name, each in node.attributes.items())
        )
        outputs = tuple(self.number(each) for each in node.outputs)
        return (node.domain, node.op_type, node.overload, inputs, attributes, outputs)

    def _value_key(self, value: ir.Value) -> Any:
        if value not in self._numbers and value.const_value is not None and value.producer() is None:
            return _content(value.const_value)
        return self.number(value)

    def _attribute_key(self, attribute: ir.Attr) -> Any:
        if attribute.type == ir.AttributeType.GRAPH:
            graph = attribute.as_graph()
            inputs = tuple(self.number(each) for each in graph.inputs)
            return (inputs, self.key(list(graph)), tuple(self._value_key(each) for each in graph.outputs))
        if attribute.type == ir.AttributeType.TENSOR:
            return _content(attribute.as_tensor())
        return repr(attribute.value)


def _content(tensor: ir.TensorProtocol) -> Any:
    return (str(tensor.dtype), tuple(tensor.shape), tensor.tobytes())


def _is_plain(value: ir.Value) -> bool:
    """Whether a constant is no weight of a module: those have paths for names, and inputs of their own."""
    return WEIGHT_KEY not in value.meta


def _is_size(value: ir.Value) -> bool:
    return (
        value.dtype in (ir.DataType.INT64, ir.DataType.BOOL)
        and value.shape is not None
        and len(value.shape) <= 1
    )


def _with_inner(nodes: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The nodes, and those of their subgraphs."""
    for node in nodes:
        yield node
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref():
                yield from _with_inner(attribute.as_graph())


def _made_in_subgraphs(node: ir.Node) -> set[ir.Value]:
    found: set[ir.Value] = set()
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref():
            graph = attribute.as_graph()
            found.update(graph.inputs)
            for inner in graph:
                found.update(inner.outputs)
                found |= _made_in_subgraphs(inner)
    return found


def _disconnect(node: ir.Node) -> None:
    for position in range(len(node.inputs)):
        node.replace_input_with(position, None)
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref():
            for inner in attribute.as_graph():
                _disconnect(inner)


def _read_values(node: ir.Node) -> Iterator[ir.Value]:
    """The values that a node reads, in its subgraphs too; what is made in those is among them."""
    yield from (each for each in node.inputs if each is not None)
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        graphs: Sequence[ir.Graph] = ()
        if attribute.type == ir.AttributeType.GRAPH:
            graphs = (attribute.as_graph(),)
        elif attribute.type == ir.AttributeType.GRAPHS:
            graphs = attribute.as_graphs()
        for graph in graphs:
            yield from graph.outputs
            for inner in graph:
                yield from _read_values(inner)
