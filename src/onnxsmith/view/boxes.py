"""The boxes of a model: for each graph one, and inside it one for each module that nodes come from.

A box holds items: nodes, boxes and *ports*, where values come in and go out. Its lines join items of the same box, so
that each box can be laid out by itself and drawn closed or open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from onnxsmith.context import collection_paused
from onnxsmith.graphs.module_scopes import Scope, classes_of, common_scope, scope_of, settled_scope
from onnxsmith.view.description import Description, Graph
from onnxsmith.view.layering import Net
from onnxsmith.view.ordering import Arrangement, Effort, arrange

#: A box of fewer nodes than this is not drawn: they stand in the box around.
_FEWEST_NODES = 2
_LONGEST_LABEL = 60


class Item(NamedTuple):
    """An item in a box; `number` is that of a node, a box or a value."""

    kind: Literal["node", "box", "input", "output"]
    number: int


@dataclass(slots=True)
class Box:
    """A graph, or the nodes of a module."""

    label: str
    #: The class of the module, as far as it is known.
    detail: str
    graph: int
    parent: int
    path: Scope
    items: list[Item] = field(default_factory=list[Item])
    #: All nodes in it and in the boxes inside, constants that stand in others too.
    node_count: int = 0
    first_node: int = -1
    arrangement: Arrangement | None = None


class Boxes:
    """All boxes of a model; those of graphs come first, in the order of the graphs."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.boxes: list[Box] = [
            Box(graph.name, "", number, -1, ()) for number, graph in enumerate(description.graphs)
        ]
        #: The box that each node stands in; -1 for a folded constant.
        self.box_of: list[int] = [-1] * len(description.nodes)
        self._effort = Effort()
        with collection_paused():
            for number, graph in enumerate(description.graphs):
                self._fill(number, graph)
            for number, graph in enumerate(description.graphs):
                self._arrange(number, graph)

    # -- which nodes stand in which box ------------------------------------------------------------------

    def _fill(self, number: int, graph: Graph) -> None:
        nodes = [each for each in graph.nodes if not self.description.nodes[each].is_folded]
        modules = _Modules(nodes, self._scopes(graph, nodes), self._lines(nodes))
        made: dict[Scope, int] = {}

        def box_for(scope: Scope) -> int:
            """The box of a scope, or of the one around it where this has none of its own."""
            if not scope:
                return number
            found = made.get(scope)
            if found is not None:
                return found
            around = box_for(scope[:-1])
            if not modules.is_worth_a_box(scope, self.boxes[around].path):
                made[scope] = around
                return around
            made[scope] = len(self.boxes)
            label = ".".join(scope[len(self.boxes[around].path) :])[-_LONGEST_LABEL:]
            self.boxes.append(Box(label, self._class(modules.members[scope], scope), number, around, scope))
            return made[scope]

        for node, scope in modules.scopes.items():
            self.box_of[node] = box_for(scope)
        self._count(nodes)
        self._count_folded(number, graph)

    def _lines(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        described = self.description.nodes
        made = {value: node for node in nodes for value in described[node].outputs}
        return [(made[value], node) for node in nodes for value in described[node].inputs if value in made]

    def _scopes(self, graph: Graph, nodes: Sequence[int]) -> dict[int, Scope]:
        """The scope of each node; one that has none is where all that use it are."""
        described = self.description.nodes
        found: dict[int, Scope] = {}
        for node in nodes:
            origin = described[node].origin
            found[node] = () if origin is None else scope_of(origin)
        users: defaultdict[int, list[int]] = defaultdict(list)
        for node in nodes:
            for value in described[node].inputs:
                users[value].append(node)
        given = frozenset(graph.outputs)
        for node in reversed(nodes):
            outputs = described[node].outputs
            if not found[node] and given.isdisjoint(outputs):
                taking = [found[each] for value in outputs for each in users.get(value, ())]
                if taking:
                    found[node] = common_scope(taking)
        made = {value: node for node in nodes for value in described[node].outputs}
        for node in nodes:
            taking = [found[each] for value in described[node].outputs for each in users.get(value, ())]
            makers = [found[made[value]] for value in described[node].inputs if value in made]
            found[node] = settled_scope(found[node], taking, makers)
        return found

    def _class(self, nodes: Sequence[int], scope: Scope) -> str:
        for node in nodes[:3]:
            origin = self.description.nodes[node].origin
            for module, qualified in () if origin is None else classes_of(origin):
                if module == scope:
                    return qualified.rpartition(".")[2][:_LONGEST_LABEL]
        return ""

    def _count(self, nodes: Sequence[int]) -> None:
        for node in nodes:
            box, item = self.box_of[node], Item("node", node)
            while box >= 0:
                held = self.boxes[box]
                if not held.node_count:
                    held.first_node = node
                    if held.parent >= 0:
                        self.boxes[held.parent].items.append(Item("box", box))
                held.node_count += 1
                if item.kind == "node":
                    held.items.append(item)
                    item = Item("box", box)
                box = held.parent

    def _count_folded(self, number: int, graph: Graph) -> None:
        """Count constants where the first node stands that takes them; in the graph's box where bodies do."""
        described = self.description.nodes
        takers: dict[int, int] = {}
        for node in graph.nodes:
            for value in described[node].inputs:
                takers.setdefault(value, node)
        for node in graph.nodes:
            if described[node].is_folded:
                taker = takers.get(described[node].outputs[0])
                box = number if taker is None else self.box_of[taker]
                while box >= 0:
                    self.boxes[box].node_count += 1
                    box = self.boxes[box].parent

    # -- lines -------------------------------------------------------------------------------------------

    def _path(self, box: int) -> list[int]:
        """The boxes around, from the graph's inwards."""
        result: list[int] = []
        while box >= 0:
            result.append(box)
            box = self.boxes[box].parent
        result.reverse()
        return result

    def _arrange(self, number: int, graph: Graph) -> None:
        nets = _Nets(self, number, graph)
        nets.collect()
        for box in nets.boxes_of_graph():
            self._arrange_box(box, graph.kind == "main" and box == number, nets.of[box])

    def _arrange_box(
        self, number: int, is_main: bool, found: dict[int, tuple[Item, dict[Item, None]]]
    ) -> None:
        box = self.boxes[number]
        items = dict.fromkeys(box.items)
        for source, targets in found.values():
            items.setdefault(source)
            items.update(targets)
        box.items = list(items)
        index = {item: position for position, item in enumerate(box.items)}
        nets = [
            Net(value, index[source], tuple(index[each] for each in targets))
            for value, (source, targets) in found.items()
        ]
        ages = [self._age(item) for item in box.items]
        tops = [] if is_main else [index[each] for each in box.items if each.kind == "input"]
        bottoms = [] if is_main else [index[each] for each in box.items if each.kind == "output"]
        box.arrangement = arrange(len(box.items), nets, ages, tops, bottoms, self._effort)

    def _age(self, item: Item) -> float:
        match item.kind:
            case "node":
                return item.number
            case "box":
                return self.boxes[item.number].first_node
            case "input":
                return -1
            case _:
                return float("inf")


class _Modules:
    """The modules that the nodes of a graph are in, and which of them deserve a box."""

    def __init__(
        self, nodes: Sequence[int], scopes: dict[int, Scope], lines: Sequence[tuple[int, int]]
    ) -> None:
        self.scopes = scopes
        self.members: defaultdict[Scope, list[int]] = defaultdict(list)
        self.members[()] = list(nodes)
        for node, scope in scopes.items():
            for length in range(1, len(scope) + 1):
                self.members[scope[:length]].append(node)
        self._inside: defaultdict[Scope, set[str]] = defaultdict(set)
        for scope in self.members:
            if scope:
                self._inside[scope[:-1]].add(scope[-1])
        self._own = frozenset(scopes.values())
        self._joined: set[Scope] = set()
        for one, other in lines:
            shared = common_scope((scopes[one], scopes[other]))
            while shared and shared not in self._joined:
                self._joined.add(shared)
                shared = shared[:-1]

    def is_worth_a_box(self, scope: Scope, around: Scope) -> bool:
        """True if a box of its own tells more than the one around it."""
        count = len(self.members[scope])
        inside = self._inside[scope]
        # A list that is no module of its own (`layers`, of `layers.0`) is part of the names of what it holds. What
        # no line joins is a module that is called here and there, such as one activation for all layers.
        is_list = scope not in self._own and bool(inside) and all(each.isdigit() for each in inside)
        is_whole = count == len(self.members[around])
        return count >= _FEWEST_NODES and not is_whole and not is_list and scope in self._joined


class _Nets:
    """The lines of one graph, box by box: for each value the item that gives it there and those that take it."""

    def __init__(self, boxes: Boxes, number: int, graph: Graph) -> None:
        self.boxes = boxes
        self.description = boxes.description
        self.root = number
        self.graph = graph
        self.of: defaultdict[int, dict[int, tuple[Item, dict[Item, None]]]] = defaultdict(dict)
        self._paths: dict[int, list[int]] = {}

    def boxes_of_graph(self) -> list[int]:
        """The boxes that stand in the graph, with its own."""
        inside = {box for node in self.graph.nodes for box in self._path_to_or_none(node)}
        return sorted({self.root, *inside})

    def _path_to_or_none(self, node: int) -> list[int]:
        return [] if self.description.nodes[node].is_folded else self._path_to(node)

    def collect(self) -> None:
        """Find all lines."""
        described = self.description.nodes
        made: dict[int, int] = {}
        taken: defaultdict[int, list[int]] = defaultdict(list)
        for node in self.graph.nodes:
            if described[node].is_folded:
                continue
            made.update(dict.fromkeys(described[node].outputs, node))
            for value in dict.fromkeys([*described[node].inputs, *described[node].captured]):
                if value >= 0 and not self.description.is_weight(value):
                    taken[value].append(node)
        outside = dict.fromkeys([*self.graph.inputs, *self.graph.captured])
        for value in self.graph.inputs:  # one that nothing takes is shown all the same
            self._join(self.root, value, Item("input", value), None)
        for value, users in taken.items():
            source = made.get(value)
            if source is None and value not in outside:
                continue  # a broken model: nothing makes it
            for user in users:
                self._connect(value, source, user)
        for value in dict.fromkeys(self.graph.outputs):
            if self.description.is_weight(value):
                self._join(self.root, value, Item("output", value), None)
            else:
                self._connect(value, made.get(value), None)

    def _connect(self, value: int, source: int | None, user: int | None) -> None:
        """Draw a line from a node, or the graph's input, to a node, or the graph's output."""
        above = self._path_to(source)
        below = self._path_to(user)
        shared = 0
        while shared < min(len(above), len(below)) and above[shared] == below[shared]:
            shared += 1
        start: Item = Item("input", value) if source is None else Item("node", source)
        end: Item = Item("output", value) if user is None else Item("node", user)
        for depth in range(len(above) - 1, shared - 1, -1):
            self._join(above[depth], value, start, Item("output", value))
            start = Item("box", above[depth])
        for depth in range(len(below) - 1, shared - 1, -1):
            self._join(below[depth], value, Item("input", value), end)
            end = Item("box", below[depth])
        self._join(above[shared - 1], value, start, end)

    def _path_to(self, node: int | None) -> list[int]:
        box = self.root if node is None else self.boxes.box_of[node]
        path = self._paths.get(box)
        if path is None:
            path = self._paths[box] = self.boxes._path(box)  # pyright: ignore[reportPrivateUsage]  # the two are one
        return path

    def _join(self, box: int, value: int, source: Item, target: Item | None) -> None:
        held = self.of[box].setdefault(value, (source, {}))
        if target is not None:
            held[1].setdefault(target)
