"""Finds all differences between two models: pairs their graphs, and looks at what each pair has in common.

Names of nodes and of values inside a model are no difference unless that is asked for; those of inputs, outputs and
weights that nothing pairs are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import onnx_ir as ir

from onnxsmith.diffing.change import Change, ChangedThing
from onnxsmith.diffing.pairing import Pairing
from onnxsmith.diffing.signatures import Contents, Signatures
from onnxsmith.diffing.tensors import described_tensor, magnitude, weight_words
from onnxsmith.diffing.wording import (
    cut,
    described_node,
    function_words,
    port_words,
    quoted,
    source_words,
    told_apart,
    type_words,
)
from onnxsmith.graphs.rewriting.scopes import held_tensor, named_outputs
from onnxsmith.inspection import Graph, Node, Nodes, are_same_floats, shown_attribute
from onnxsmith.types.value_types import shapes_differ


class Finder:
    """The differences between two models, and the pairs of nodes that they were found by."""

    def __init__(self, left: Nodes, right: Nodes, *, names: bool) -> None:
        self._left, self._right = left, right
        self._names = names
        self._contents = Contents()
        self.changes: list[Change] = []
        #: Addresses of nodes of the first model, with those of the second.
        self.pairs: dict[str, str] = {}
        #: Values that stand for each other: inputs of graphs, and outputs of nodes.
        self._values: dict[ir.Value, ir.Value] = {}
        self._weights: dict[ir.Value, ir.Value] = {}
        self._seen_functions: set[tuple[str, str]] = set()
        inputs = _paired_inputs(left.graph.ir.inputs, right.graph.ir.inputs)
        self._values.update(inputs)
        keys = {value: number for number, value in enumerate(left.graph.ir.inputs)}
        back = {other: keys[one] for one, other in inputs.items()}
        self._one = Signatures(left, self._contents, [keys[each] for each in left.graph.ir.inputs])
        others: list[Hashable] = [back.get(each, each.name) for each in right.graph.ir.inputs]
        self._other = Signatures(right, self._contents, others)

    def find(self) -> None:
        """Look at everything."""
        self._ports("input", self._left.graph.ir.inputs, self._right.graph.ir.inputs)
        self.graphs(self._left.graph, self._right.graph)
        self._outputs()
        self._functions()
        self._other_weights()

    # -- graphs and nodes ------------------------------------------------------------------------------

    def graphs(self, left: Graph, right: Graph) -> None:
        """Compare two graphs that stand for each other."""
        if left.kind != "main":
            self._values.update(zip(left.ir.inputs, right.ir.inputs, strict=False))
        results = zip(left.ir.outputs, right.ir.outputs, strict=False)
        if left.kind == "main":
            results = iter(_by_name(left.ir.outputs, right.ir.outputs).items())
        pairing = Pairing(list(left.ir), list(right.ir), results, self._one, self._other)
        for one, other in pairing.pairs.items():
            self._values.update(zip(one.outputs, other.outputs, strict=False))
            self.pairs[self._left.of_ir(one).address] = self._right.of_ir(other).address
        for node in left.ir:
            partner = pairing.pairs.get(node)
            view = self._left.of_ir(node)
            if partner is None:
                self._only(view, "removed")
            else:
                self._nodes(view, self._right.of_ir(partner))
        for node in right.ir:
            if node not in pairing.back:
                self._only(self._right.of_ir(node), "added")

    def _only(self, node: Node, kind: str) -> None:
        """A node that is in one model only."""
        is_added = kind == "added"
        self.changes.append(
            Change(
                "added" if is_added else "removed",
                "node",
                None if is_added else node.address,
                node.address if is_added else None,
                described_node(node),
                source=source_words(node),
            )
        )

    def _nodes(self, left: Node, right: Node) -> None:
        details = list(self._node_details(left, right))
        if details:
            label = described_node(right)
            source = source_words(right) or source_words(left)
            self.changes.append(
                Change("changed", "node", left.address, right.address, label, tuple(details), source=source)
            )
        bodies = self._left.bodies_of(left.ir), self._right.bodies_of(right.ir)
        for name, held in bodies[0].items():
            theirs = bodies[1].get(name, ())
            pairs = [each if isinstance(each, tuple) else (each,) for each in (held, theirs)]
            for one, other in zip(*pairs, strict=False):
                self.graphs(one, other)
                texts = tuple(f"{name}: {each}" for each in self._result_details(one, other))
                if texts:
                    self.changes.append(
                        Change("changed", "node", left.address, right.address, described_node(right), texts)
                    )

    def _node_details(self, left: Node, right: Node) -> Iterator[str]:
        functions = left.function, right.function
        if functions[0] is not None and functions[1] is not None:
            self._called(functions[0], functions[1])
        elif (left.operator, left.ir.overload) != (right.operator, right.ir.overload):
            yield f"operator: {left.operator} -> {right.operator}"
        if self._names and left.name != right.name:
            yield f"name: {quoted(left.name)} -> {quoted(right.name)}"
        yield from self._attribute_details(left.ir.attributes, right.ir.attributes)
        for place in range(max(len(left.ir.inputs), len(right.ir.inputs))):
            one, other = (
                each[place] if place < len(each) else None for each in (left.ir.inputs, right.ir.inputs)
            )
            if not self._is_same(one, other):
                yield f"input {place}: {told_apart(one, other)}"
        outputs = named_outputs(left.ir), named_outputs(right.ir)
        if len(outputs[0]) != len(outputs[1]):
            yield f"outputs: {len(outputs[0])} -> {len(outputs[1])}"
        for place, (one, other) in enumerate(zip(*outputs, strict=False)):
            if self._names and one.name != other.name:
                yield f"output {place}: {quoted(one)} -> {quoted(other)}"
            elif not _may_be_same_type(one, other):
                yield f"type of output {place}: {type_words(one)} -> {type_words(other)}"

    def _attribute_details(
        self, left: Mapping[str, ir.Attr], right: Mapping[str, ir.Attr], absent: str = "not given"
    ) -> Iterator[str]:
        for name in dict.fromkeys((*left, *right)):
            one, other = left.get(name), right.get(name)
            if one is None or other is None:
                shown = [absent if each is None else shown_attribute(each) for each in (one, other)]
                yield f"{name}: {shown[0]} -> {shown[1]}"
            elif self._one.attribute(one) != self._other.attribute(other) and not are_same_floats(one, other):
                shown = [shown_attribute(each) for each in (one, other)]
                more = "" if shown[0] != shown[1] else f", {_tensor_words(one, other)}"
                yield f"{name}: {shown[0]} -> {shown[1]}{more}"

    def _result_details(self, left: Graph, right: Graph) -> Iterator[str]:
        """Differences in the outputs of graphs inside."""
        counts = len(left.ir.outputs), len(right.ir.outputs)
        if counts[0] != counts[1]:
            yield f"results: {counts[0]} -> {counts[1]}"
        if len(left.ir.inputs) != len(right.ir.inputs):
            yield f"inputs: {len(left.ir.inputs)} -> {len(right.ir.inputs)}"
        for place, (one, other) in enumerate(zip(left.ir.inputs, right.ir.inputs, strict=False)):
            if not _may_be_same_type(one, other):
                yield f"type of input {place}: {type_words(one)} -> {type_words(other)}"
        for place, (one, other) in enumerate(zip(left.ir.outputs, right.ir.outputs, strict=False)):
            if not self._is_same(one, other):
                yield f"result {place}: {told_apart(one, other)}"

    def _is_same(self, left: ir.Value | None, right: ir.Value | None) -> bool:
        """True if values stand for each other; weights do, whatever they hold, and are looked at later."""
        if left is None or right is None:
            return left is right
        if held_tensor(left) is not None and held_tensor(right) is not None:
            if self._weights.setdefault(left, right) is not right:
                return not self._differ(left, right)  # one weight in the place of two
            return True
        if self._values.get(left) is right:
            return True
        is_drawn = self._one.is_drawn(left) or self._other.is_drawn(right)
        if not self._names and not is_drawn and self._one.of_value(left) == self._other.of_value(right):
            return (
                True  # computed in the same way from the same, by another node that does what this one does
            )
        if left in self._values:
            return False
        if held_tensor(left) is not None or held_tensor(right) is not None:
            return False  # a weight, and a value that nothing makes
        # Inputs of graphs that nothing pairs.
        return left.producer() is None and right.producer() is None and left.name == right.name

    # -- what belongs to the model ---------------------------------------------------------------------

    def _ports(self, thing: ChangedThing, left: Sequence[ir.Value], right: Sequence[ir.Value]) -> None:
        self._order(thing, left, right, self._values)
        taken = {id(self._values[each]): each for each in left if each in self._values}
        for each in left:
            if each not in self._values:
                self.changes.append(Change("removed", thing, each.name, None, port_words(each)))
        for other in right:
            one = taken.get(id(other))
            if one is None:
                self.changes.append(Change("added", thing, None, other.name, port_words(other)))
            else:
                self._port_details(thing, one, other)

    def _order(
        self,
        thing: ChangedThing,
        left: Sequence[ir.Value],
        right: Sequence[ir.Value],
        pairs: Mapping[ir.Value, ir.Value],
    ) -> None:
        """Inputs and outputs are given by order, too: those that both models have may stand in another one."""
        places = {value: place for place, value in enumerate(right)}
        common = list(dict.fromkeys(pairs[each] for each in left if each in pairs))
        ordered = sorted(common, key=lambda each: places[each])
        if common != ordered:
            words = [", ".join(quoted(each) for each in values) for values in (common, ordered)]
            details = (cut(f"{words[0]} -> {words[1]}"),)
            self.changes.append(Change("changed", thing, "order", "order", "order", details))

    def _port_details(self, thing: ChangedThing, one: ir.Value, other: ir.Value) -> None:
        details: list[str] = []
        if one.name != other.name:
            details.append(f"name: {quoted(one)} -> {quoted(other)}")
        if type_words(one) != type_words(other):
            details.append(f"type: {type_words(one)} -> {type_words(other)}")
        mine, theirs = (one.const_value, other.const_value) if thing == "input" else (None, None)
        if (mine is None) != (theirs is None):
            words = ["none" if each is None else described_tensor(each) for each in (mine, theirs)]
            details.append(f"default: {words[0]} -> {words[1]}")
        elif mine is not None and theirs is not None and self._is_other(mine, theirs):
            details.append(f"default: {weight_words(mine, theirs)}")
        if details:
            self.changes.append(
                Change("changed", thing, one.name, other.name, port_words(other), tuple(details))
            )

    def _outputs(self) -> None:
        left, right = self._left.graph.ir.outputs, self._right.graph.ir.outputs
        pairs = _by_name(left, right)
        rest = [each for each in left if each not in pairs]
        taken = set(pairs.values())
        waiting = [each for each in right if each not in taken]
        if len(rest) == len(waiting):
            pairs.update(zip(rest, waiting, strict=True))
            rest, waiting = [], []
        for each in rest:
            self.changes.append(Change("removed", "output", each.name, None, port_words(each)))
        for each in waiting:
            self.changes.append(Change("added", "output", None, each.name, port_words(each)))
        self._order("output", left, right, pairs)
        for one, other in pairs.items():
            self._port_details("output", one, other)
            if one.name == other.name and not self._is_same(one, other):
                self.changes.append(
                    Change(
                        "changed",
                        "output",
                        one.name,
                        other.name,
                        port_words(other),
                        (told_apart(one, other),),
                    )
                )

    def _called(self, left: Graph, right: Graph) -> None:
        """Two functions that are called in the same place."""
        if (left.name, right.name) not in self._seen_functions:
            self._seen_functions.add((left.name, right.name))
            self.graphs(left, right)
            details = [*self._function_details(left, right), *self._result_details(left, right)]
            if self._names and left.name != right.name:
                details.append(f"name: {quoted(left.name)} -> {quoted(right.name)}")
            if details:
                self.changes.append(
                    Change("changed", "function", left.name, right.name, cut(right.name), tuple(details))
                )

    def _function_details(self, left: Graph, right: Graph) -> Iterator[str]:
        """Differences in the descriptions of functions."""
        for domain in dict.fromkeys((*left.ir.opset_imports, *right.ir.opset_imports)):
            versions = [each.ir.opset_imports.get(domain, "none") for each in (left, right)]
            if versions[0] != versions[1]:
                yield cut(f"opset {domain or 'ai.onnx'}: {versions[0]} -> {versions[1]}")
        for each in self._attribute_details(left.parameters, right.parameters, absent="no parameter"):
            yield f"default of {each}"

    def _functions(self) -> None:
        """The functions that nothing has paired by its calls."""
        left, right = dict(self._left.functions), dict(self._right.functions)
        for one, other in self._seen_functions:
            left.pop(one, None)
            right.pop(other, None)
        for name in [each for each in left if each in right]:
            self._called(left.pop(name), right.pop(name))
        for name, function in left.items():
            self.changes.append(Change("removed", "function", name, None, function_words(function)))
        for name, function in right.items():
            self.changes.append(Change("added", "function", None, name, function_words(function)))

    # -- weights ---------------------------------------------------------------------------------------

    def _differ(self, left: ir.Value, right: ir.Value) -> bool:
        one, other = held_tensor(left), held_tensor(right)
        return one is not None and other is not None and self._is_other(one, other)

    def _is_other(self, one: ir.TensorProtocol, other: ir.TensorProtocol) -> bool:
        return one is not other and self._contents.key(one) != self._contents.key(other)

    def _other_weights(self) -> None:
        """Weights: those that nodes have paired, then the rest by name and content."""
        left, right = list(_weights(self._left)), list(_weights(self._right))
        taken = set(self._weights.values())
        free = [each for each in left if each not in self._weights]
        waiting = [each for each in right if each not in taken]
        by_name = {each.name: each for each in waiting}
        for each in free:
            if each.name in by_name:
                self._weights[each] = by_name.pop(each.name)
        taken = set(self._weights.values())
        gone = [each for each in free if each not in self._weights]
        new = [each for each in waiting if each not in taken]
        held = {self._key(each) for each in left}, {self._key(each) for each in right}
        for each in gone:  # one that the other has under another name is there, and used elsewhere
            if self._key(each) not in held[1]:
                self._lone_weight(each, "removed")
        for each in new:
            if self._key(each) not in held[0]:
                self._lone_weight(each, "added")
        for one, other in self._weights.items():
            self._weight(one, other)

    def _key(self, value: ir.Value) -> Hashable:
        tensor = held_tensor(value)
        return None if tensor is None else self._contents.key(tensor)

    def _lone_weight(self, value: ir.Value, kind: str) -> None:
        tensor = held_tensor(value)
        label = f"{quoted(value)} {'' if tensor is None else described_tensor(tensor)}"
        names = (None, value.name) if kind == "added" else (value.name, None)
        self.changes.append(Change("added" if kind == "added" else "removed", "weight", *names, label))

    def _weight(self, left: ir.Value, right: ir.Value) -> None:
        one, other = held_tensor(left), held_tensor(right)
        details: list[str] = []
        apart = None
        if one is not None and other is not None and self._differ(left, right):
            kinds = [described_tensor(each) for each in (one, other)]
            if kinds[0] != kinds[1]:
                details.append(f"type: {kinds[0]} -> {kinds[1]}")
            else:
                apart = magnitude(one, other)
                details += [] if apart is None else [str(apart)]
        if self._names and left.name != right.name:
            details.append(f"name: {quoted(left)} -> {quoted(right)}")
        if details and other is not None:
            users = dict.fromkeys(self._right.of_ir(node).address for node, _ in right.uses())
            used = f"used by node {', '.join(list(users)[:4])}" if users else "used by no node"
            label = f"{quoted(right)} {described_tensor(other)}, {used}"
            change = Change("changed", "weight", left.name, right.name, label, tuple(details), apart)
            self.changes.append(change)


def _paired_inputs(left: Sequence[ir.Value], right: Sequence[ir.Value]) -> dict[ir.Value, ir.Value]:
    """Inputs of models by name; those that are left in order, where there are as many of one type."""
    pairs = _by_name(left, right)
    rest = [each for each in left if each not in pairs]
    taken = set(pairs.values())
    waiting = [each for each in right if each not in taken]
    if len(rest) == len(waiting):
        pairs.update(pair for pair in zip(rest, waiting, strict=True) if pair[0].dtype == pair[1].dtype)
    return pairs


def _by_name(left: Sequence[ir.Value], right: Sequence[ir.Value]) -> dict[ir.Value, ir.Value]:
    by_name = {each.name: each for each in right}
    return {each: by_name.pop(each.name) for each in left if each.name in by_name}


def _weights(nodes: Nodes) -> Iterator[ir.Value]:
    graphs = [nodes.graph, *(body for node in nodes for body in node.bodies)]
    for graph in graphs:
        inputs = set(graph.ir.inputs)
        yield from (each for each in graph.ir.initializers.values() if each not in inputs)


def _may_be_same_type(left: ir.Value, right: ir.Value) -> bool:
    """True if declared types agree, as far as both say something; names of dimensions say nothing."""
    if left.type is None or right.type is None:
        return True
    if left.type != right.type:
        return False
    return not shapes_differ(*(None if each.shape is None else each.shape.dims for each in (left, right)))


def _tensor_words(one: ir.Attr, other: ir.Attr) -> str:
    if one.type == other.type == ir.AttributeType.TENSOR and not one.is_ref() and not other.is_ref():
        return weight_words(one.as_tensor(), other.as_tensor())
    return "which are not the same"
