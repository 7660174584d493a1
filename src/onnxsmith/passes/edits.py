"""The log of one run of passes: a record for each change, in order; and what it says of the nodes at any point.

`replayed(noted_model(model), report.edits[:k])` are the nodes after the first `k` changes, for who steps through a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx_ir as ir

from onnxsmith.graphs.edits import Edit, NodeNote
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.rewriting.scopes import bodies_of

#: The pass that converts to another opset. Its changes are of use all together, or not at all.
CONVERSION = "versions"


class EditLog:
    """The changes of one run of passes, in order."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []

    def add(self, edit: Edit) -> None:
        """Note a change."""
        self._edits.append(edit)

    def __len__(self) -> int:
        return len(self._edits)

    def __iter__(self) -> Iterator[Edit]:
        return iter(self._edits)

    def finished(self) -> tuple[Edit, ...]:
        """All of it."""
        return tuple(self._edits)


class Removed:
    """The record of what was taken out, and the nodes that it concerns."""

    def __init__(self) -> None:
        self.notes: list[NodeNote] = []
        self.metadata: list[Mapping[str, str]] = []
        #: Nodes that made what is read no more, or are now alone in reading it.
        self.neighbours: list[ir.Node] = []


class Replaced:
    """The nodes that a change made, and the values and nodes that it concerns."""

    def __init__(
        self, made: Sequence[ir.Node], values: Sequence[ir.Value], neighbours: Sequence[ir.Node]
    ) -> None:
        self.made = made
        self.values = values
        self.neighbours = neighbours


def noted(node: ir.Node, path: Sequence[str] = ()) -> NodeNote:
    """A node for the log, while it still is what it was."""
    operator = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    return NodeNote(
        operator,
        node.name or "",
        tuple([each.name or "" for each in node.outputs]),
        tuple(path),
        node.metadata_props.get(SOURCE_KEY),
    )


def noted_model(model: ir.Model) -> list[NodeNote]:
    """All nodes of a model for the log: those of the main graph and of functions, each before those inside it."""
    found = noted_graph(model.graph)
    for function in model.functions.values():
        found += noted_graph(function.graph, (function.name,))
    return found


def noted_graph(graph: ir.Graph, path: tuple[str, ...] = ()) -> list[NodeNote]:
    """All nodes of a graph for the log, those inside nodes included."""
    found: list[NodeNote] = []
    waiting: list[tuple[Iterable[ir.Node], tuple[str, ...]]] = [(graph, path)]
    while waiting:
        nodes, here = waiting.pop()
        for node in nodes:
            found.append(noted(node, here))
            waiting += [(inner, (*here, node.name or node.op_type)) for inner in bodies_of(node)]
    return found


def replayed(nodes: Iterable[NodeNote], edits: Iterable[Edit]) -> list[NodeNote]:
    """The nodes after some changes. What went is out, with all that stood inside it, and what came is at the end.

    A node is known by its note. Two branches of one node stand in the same, and so do bodies of nodes of one operator
    that have no name.
    """
    graphs: dict[tuple[str, ...], Counter[NodeNote]] = {}
    for each in nodes:
        graphs.setdefault(each.path, Counter())[each] += 1
    for edit in edits:
        came = {(each.path, each.name) for each in edit.after}
        for each in edit.before:
            present = graphs.get(each.path, Counter())
            present[each] -= 1
            if present[each] <= 0:
                del present[each]
            inside = (*each.path, each.name or each.operator)
            if (each.path, each.name) not in came:
                for path in [path for path in graphs if path[: len(inside)] == inside]:
                    del graphs[path]
        for each in edit.after:
            graphs.setdefault(each.path, Counter())[each] += 1
    return [each for found in graphs.values() for each in found.elements()]
