"""Maps the nodes of the graph that ONNX Runtime ran to nodes of the model.

ONNX Runtime fuses, folds, inlines and inserts. What it leaves is names: the outputs of a fused node are those of the
last node that went into it, and other names are made of names that there were. The nodes before the last are found in
the graph that it was given: those between it and the nodes that are still there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import onnx

from onnxsmith.graphs.rewriting.scopes import all_nodes, function_key, inner_graphs
from onnxsmith.profiling.tagging import Tags
from onnxsmith.runtime.assigned_nodes import COPIES

#: Operators of ONNX Runtime's own, which it puts between others to move what they take and give.
_MOVING = COPIES | {"ReorderInput", "ReorderOutput"}
#: Operators that it uses for the same where the model has none.
_SHAPING = frozenset({"Cast", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
#: What these give is known before a run where shapes are.
_ASKING = frozenset({"Shape", "Size"})


@dataclass(frozen=True, slots=True)
class Attribution:
    """The nodes of the model that one kernel belongs to."""

    #: Numbers of tags: the nodes of the model; the first is the one whose result it gives.
    tags: tuple[int, ...]
    #: Whether ONNX Runtime added it, and it stands for no node: `tags` are then those that it serves.
    is_inserted: bool


class Attributor:
    """Finds what nodes of the optimised graph stand for."""

    def __init__(self, told: onnx.ModelProto, optimized: onnx.ModelProto, tags: Tags) -> None:
        self._tags = tags
        self._value = re.compile(rf"{tags.word}:\d+:\d+(?:__\d+)*")
        self._told = _Told(told, tags)
        nodes = all_nodes(optimized.graph.node)
        graphs = [optimized.graph, *_bodies(nodes)]
        self._constants = {each.name for graph in graphs for each in graph.initializer}
        self._nodes = nodes  # ids are theirs as long as they live
        #: The nodes that were given whose results each node gives, by the node's id.
        self._ends = {id(node): self._named_ends(node) for node in nodes}
        #: The same for nodes that only move what another has computed, or will.
        self._served: dict[int, list[int]] = {}
        #: The one node that such a node was inserted for, where it is one.
        self._partner: dict[int, onnx.NodeProto] = {}
        self._kept: set[int] = set()
        for node in nodes:
            # What was inlined gives the results of the call, or of the branch: the node inside is what computes.
            ends = self._ends[id(node)]
            self._ends[id(node)] = list(dict.fromkeys(self._inside(each, node.op_type) for each in ends))
        self._kept = {end for ends in self._ends.values() for end in ends}
        self._find_moving()
        self._find_renamed()
        self._twins = self._told.twins(self._kept)
        self._left_out = {each for twins in self._twins.values() for each in twins}

    def of(self, node: onnx.NodeProto) -> Attribution:
        """The nodes of the model for a node of the optimised graph."""
        ends = self._ends[id(node)]
        if not ends:
            partner = node
            while id(partner) in self._partner and not self._ends[id(partner)]:
                partner = self._partner[id(partner)]
            is_known = partner is not node and bool(self._ends[id(partner)])
            served = self.of(partner).tags if is_known else self._tags_of(self._served.get(id(node), ()))
            # Any other operator is a part of one that ONNX Runtime took apart.
            return Attribution(served, is_inserted=not served or node.op_type in _MOVING | _SHAPING)
        found = dict.fromkeys(ends)
        for end in ends:
            self._gather(node, end, found)
        for each in list(found):
            found.update(dict.fromkeys(self._twins.get(each, ())))
        return Attribution(self._tags_of(found), is_inserted=False)

    def _tags_of(self, places: Iterable[int]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(tag for each in places for tag in self._told.tags[each]))

    def _named_ends(self, node: onnx.NodeProto) -> list[int]:
        """The nodes that were given whose results a node gives, or that its name is made of."""
        told = self._told
        found: dict[int, None] = {}
        for text in (*node.output, node.name):
            for name in self._value.findall(text):
                if name in told.producers:
                    found[told.producers[name]] = None
        for tag in self._tags.numbers(node.name):
            place = told.named.get(f"{self._tags.word}:{tag}:")
            if place is not None:
                found[place] = None
        around = [each for each in found if told.is_around(each) and told.nodes[each].op_type != node.op_type]
        if len(around) < len(found):
            for each in around:  # the node inside is named, too
                del found[each]
        return list(found)

    def _find_moving(self) -> None:
        """Nodes that give a result which the node before them has computed, in another layout, shape or type."""
        makers = {name: node for node in self._nodes for name in node.output}
        for node in self._nodes:
            ends = self._ends[id(node)]
            if not ends or node.op_type not in _MOVING | _SHAPING or not node.input:
                continue
            if node.op_type in _SHAPING and (
                any(self._told.nodes[each].op_type == node.op_type for each in ends)
                or self._same_behind(node.op_type, self._inputs_of(ends)) is not None
            ):
                continue  # the model says so itself
            maker = makers.get(node.input[0])
            if maker is None or maker.op_type in _MOVING:
                continue
            self._ends[id(node)] = []
            self._served[id(node)] = ends
            self._partner[id(node)] = maker
            inside = [self._inside(each, maker.op_type) for each in ends]
            self._kept.update(inside)
            self._ends[id(maker)] = list(dict.fromkeys((*inside, *self._ends[id(maker)])))

    def _inside(self, place: int, operator: str) -> int:
        """The node of an operator inside a node whose body or function was inlined; else the node itself."""
        told = self._told
        if not told.is_around(place) or told.nodes[place].op_type == operator:
            return place
        found = self._same_behind(operator, told.results(place))
        return place if found is None else found

    def _find_renamed(self) -> None:
        """Nodes whose names are all new: one of the same operator, before what reads them, or else inserted."""
        readers: dict[str, list[onnx.NodeProto]] = {}
        for node in self._nodes:
            for name in node.input:
                readers.setdefault(name, []).append(node)
        for node in reversed(self._nodes):  # what reads a node stands behind it
            if self._ends[id(node)] or id(node) in self._served:
                continue
            reading = [each for name in node.output for each in readers.get(name, ())]
            groups = [self._ends[id(each)] or self._served.get(id(each), ()) for each in reading]
            ends = list(dict.fromkeys(end for group in groups for end in group))
            same = None if node.op_type in _MOVING else self._same_behind(node.op_type, self._inputs_of(ends))
            if same is None:
                self._served[id(node)] = ends
                if len(reading) == 1:
                    self._partner[id(node)] = reading[0]
            else:
                self._ends[id(node)] = [same]
                self._kept.add(same)

    def _inputs_of(self, places: Iterable[int]) -> Iterator[str]:
        for each in places:
            yield from self._told.nodes[each].input

    def _same_behind(self, operator: str, values: Iterable[str]) -> int | None:
        """A node of an operator that is not there any more, and that values come from by way of others like it."""
        told = self._told
        waiting = list(values)
        seen: set[int] = set()
        while waiting:
            place = told.producers.get(waiting.pop())
            if place is None or place in seen or place in self._kept or told.is_folded[place]:
                continue
            if told.nodes[place].op_type == operator:
                return place
            seen.add(place)
            waiting.extend((*told.nodes[place].input, *told.results(place)))
        return None

    def _gather(self, node: onnx.NodeProto, end: int, found: dict[int, None]) -> None:
        """Add the nodes behind `end` that are not there any more, and so went into `node`."""
        told = self._told
        given = told.nodes[end]
        is_same = (given.op_type, len(given.input)) == (node.op_type, len(node.input))
        now = node.input if is_same else [""] * len(given.input)
        # One that is a constant now was folded, whatever it was computed by.
        pairs = zip(given.input, now, strict=True)
        waiting = [name for name, other in pairs if name != other and other not in self._constants]
        while waiting:
            place = told.producers.get(waiting.pop())
            if place is None or place in found or place in self._kept or place in self._left_out:
                continue
            if not told.is_folded[place]:
                found[place] = None
                waiting.extend((*told.nodes[place].input, *told.results(place)))


class _Told:
    """The graph that ONNX Runtime was given; nodes are known by their number in it."""

    def __init__(self, model: onnx.ModelProto, tags: Tags) -> None:
        self.nodes = all_nodes(model.graph.node)
        for function in model.functions:
            self.nodes += all_nodes(function.node)
        self.producers: dict[str, int] = {}
        self.named: dict[str, int] = {}
        for place, node in enumerate(self.nodes):
            for name in node.output:
                if name:
                    self.producers.setdefault(name, place)
            if node.name:
                self.named.setdefault(node.name, place)
        self._functions = {(each.domain, each.name, each.overload): each for each in model.functions}
        self.tags = [tuple(tags.numbers(f"{node.name} {' '.join(node.output)}")) for node in self.nodes]
        self._fill_in_tags()
        self.is_folded = self._folded(model)

    def results(self, place: int) -> Iterator[str]:
        """The values that a node hands on from inside: the outputs of its bodies, or of the function that it calls."""
        node = self.nodes[place]
        for graph in inner_graphs(node):
            yield from (each.name for each in graph.output)
        function = self._functions.get(function_key(node))
        if function is not None:
            yield from function.output

    def is_around(self, place: int) -> bool:
        """True if a node has others inside: bodies, or the function that it calls."""
        node = self.nodes[place]
        return function_key(node) in self._functions or bool(inner_graphs(node))

    def _fill_in_tags(self) -> None:
        """Nodes that have no tag stand for what reads them."""
        for place in reversed(range(len(self.nodes))):
            if self.tags[place]:
                for name in self.nodes[place].input:
                    before = self.producers.get(name)
                    if before is not None and not self.tags[before]:
                        self.tags[before] = self.tags[place]

    def _folded(self, model: onnx.ModelProto) -> list[bool]:
        """The nodes that follow from constants and shapes alone: they cost nothing unless they are still there."""
        graphs = [model.graph, *_bodies(self.nodes)]
        inputs = {each.name for each in model.graph.input}
        constants = {each.name for graph in graphs for each in graph.initializer} - inputs
        result: list[bool] = []
        for node in self.nodes:
            given = [name for name in node.input if name]
            is_constant = node.op_type in _ASKING or (
                not inner_graphs(node) and all(name in constants for name in given)
            )
            result.append(is_constant)
            if is_constant:
                constants.update(node.output)
        return result

    def twins(self, kept: set[int]) -> dict[int, list[int]]:
        """For each node that is kept, those that compute the very same and are not: one was enough for all."""
        numbers: dict[str, str] = {}
        first: dict[tuple[object, ...], list[int]] = {}
        for place, node in enumerate(self.nodes):
            form = (
                node.domain,
                node.op_type,
                tuple(numbers.get(name, name) for name in node.input),
                b"".join(sorted(each.SerializeToString() for each in node.attribute)),
                len(node.output),
            )
            group = first.setdefault(form, [])
            group.append(place)
            numbers.update(zip(node.output, self.nodes[group[0]].output, strict=True))
        found: dict[int, list[int]] = {}
        for group in first.values():
            keeper = next((each for each in group if each in kept), None)
            others = [each for each in group if each not in kept]
            if keeper is not None and others:
                found[keeper] = others
        return found


def _bodies(nodes: Iterable[onnx.NodeProto]) -> list[onnx.GraphProto]:
    return [graph for node in nodes for graph in inner_graphs(node)]
