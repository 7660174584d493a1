"""Numbers for nodes that are equal where nodes are: by what they are made of, and by what is made of them.

Names say nothing here. A signature is for finding pairs; whether the nodes of a pair are equal is looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import onnx_ir as ir

from onnxsmith.graphs.identity import ISOMORPHIC, Itself, Policy, is_random
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.rewriting.scopes import named_outputs
from onnxsmith.inspection import Graph, Nodes


class Contents:
    """The keys of tensors; each tensor is read once."""

    def __init__(self) -> None:
        self._keys: dict[Itself, Hashable] = {}

    def key(self, tensor: ir.TensorProtocol) -> Hashable:
        """Equal for tensors of the same type, shape and elements."""
        held = Itself(tensor)
        if held not in self._keys:
            self._keys[held] = ISOMORPHIC.tensor(tensor)
        return self._keys[held]


class Signatures:
    """The signatures of the nodes of one model; `inputs` are what its inputs are known by in both models."""

    def __init__(self, nodes: Nodes, contents: Contents, inputs: Sequence[Hashable]) -> None:
        self._nodes = nodes
        self._contents = contents
        self._policy = Policy(contents.key)
        #: By what a value is computed from, weights by their content.
        self._values: dict[ir.Value, int] = {}
        #: The same, weights by their type only.
        self._forms: dict[ir.Value, int] = {}
        self.strong: dict[ir.Node, int] = {}
        self.weak: dict[ir.Node, int] = {}
        #: By what a node's results are used for.
        self.below: dict[ir.Node, int] = {}
        self._own: dict[ir.Node, int] = {}
        self._functions: dict[int, int] = {}
        #: How many graphs are around the one that is signed, up to the model's or the function's.
        self._depth = 0
        #: Values that are other ones each time they are computed, and those that are made of them.
        self._drawn: set[ir.Value] = set()
        self.graph(nodes.graph, inputs)
        for function in nodes.functions.values():
            self.function(function)

    def function(self, function: Graph) -> int:
        """The signature of a function's body and defaults, whatever it is called."""
        known = self._functions.get(id(function))
        if known is None:
            self._functions[id(function)] = 0  # one that calls itself
            held = function.parameters
            defaults = tuple((name, self.attribute(held[name])) for name in sorted(held))
            around, self._depth = self._depth, 0
            known = hash((self.graph(function, range(len(function.ir.inputs))), defaults))
            self._depth = around
            self._functions[id(function)] = known
        return known

    def graph(self, graph: Graph, inputs: Iterable[Hashable]) -> int:
        """Sign the nodes of a graph and of all graphs inside; gives the signature of the graph itself."""
        for value, name in zip(graph.ir.inputs, inputs, strict=True):
            # A body sees the inputs of the graphs around it, too: the depth tells those of one position apart.
            self._values[value] = self._forms[value] = hash(("input", self._depth, name))
        for node in graph.ir:
            own = self._own[node] = self._own_of(node)
            self.strong[node] = hash((own, tuple(self.of_value(each) for each in node.inputs)))
            self.weak[node] = hash((own, tuple(self._form(each) for each in node.inputs)))
            if is_random(node) or any(each in self._drawn for each in node.inputs):
                self._drawn.update(node.outputs)
            for place, value in enumerate(node.outputs):
                self._values[value] = hash((self.strong[node], place))
                self._forms[value] = hash((self.weak[node], place))
        outputs = {value: place for place, value in enumerate(graph.ir.outputs)}
        for node in reversed(list(graph.ir)):
            self.below[node] = hash((self._own[node], tuple(self._uses(named_outputs(node), outputs))))
        return hash(tuple(self.of_value(each) for each in graph.ir.outputs))

    def _uses(self, values: Sequence[ir.Value], outputs: dict[ir.Value, int]) -> Iterable[Hashable]:
        for value in values:
            uses = [(self.below.get(node, 0), place) for node, place in value.uses()]
            yield tuple(sorted(uses)), outputs.get(value, -1)

    def _own_of(self, node: ir.Node) -> int:
        """Operator and attributes, bodies included."""
        function = self._nodes.function_of(node)
        operator: Hashable = (
            (node.domain, node.op_type, node.overload) if function is None else self.function(function)
        )
        parts: list[Hashable] = [operator, len(named_outputs(node))]
        attributes = node.attributes
        parts += [(name, self.attribute(attributes[name])) for name in sorted(attributes)]
        for name, held in sorted(self._nodes.bodies_of(node).items()):
            bodies = held if isinstance(held, tuple) else (held,)
            self._depth += 1
            parts += [(name, self.graph(body, range(len(body.ir.inputs)))) for body in bodies]
            self._depth -= 1
        return hash(tuple(parts))

    def is_drawn(self, value: ir.Value) -> bool:
        """True for values made of random numbers: two of one signature are not the same."""
        return value in self._drawn

    def attribute(self, attribute: ir.Attr) -> Hashable:
        """Equal for attributes that say the same; graphs are not looked at."""
        if attribute.value is None and not attribute.is_ref():
            return "no default"  # a parameter of a function, of which ONNX stores the name alone
        return self._policy.attribute(attribute, lambda _: "graph")

    def of_value(self, value: ir.Value | None) -> int:
        """Equal for values that are computed in the same way from the same."""
        if value is None:
            return 0
        if value not in self._values:
            tensor = value.const_value if value.is_initializer() else None
            # Only a model whose nodes are in no order has values that no graph around has made yet.
            outside = ("outside", value.name)
            self._values[value] = hash(outside if tensor is None else self._contents.key(tensor))
        return self._values[value]

    def _form(self, value: ir.Value | None) -> int:
        if value is None:
            return 0
        if value not in self._forms:
            tensor = value.const_value if value.is_initializer() else None
            kind = "outside" if tensor is None else f"{tensor.dtype.name}{list(dimensions_of(tensor))}"
            self._forms[value] = hash(kind)
        return self._forms[value]
