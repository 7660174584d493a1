"""The order of nodes where a match has several outputs: what reads them stands after what takes their place.

One replacement for several outputs stands in one place of the graph, and those who read the first output may stand
before it. They are moved behind it, and a match whose own inputs depend on one of its outputs is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.passes.editor import Editor

#: Compared as tuples are: between two neighbours there is always room for more.
_Key: TypeAlias = tuple[int, ...]


class Order:
    """Where nodes stand in their graphs."""

    def __init__(self, edit: Editor) -> None:
        self._edit = edit
        self._keys: dict[ir.Graph, dict[ir.Node, _Key]] = {}

    def make_room(
        self,
        root: ir.Node,
        matched: Iterable[ir.Node],
        outputs: Sequence[ir.Value],
        inputs: Iterable[ir.Value],
    ) -> bool:
        """Move the root, and those who read the outputs, behind all that was matched; False where that cannot be."""
        graph = root.graph
        assert graph is not None
        inside = set(matched)
        anchor = max(inside, key=lambda each: self._key(graph, each))
        end = self._key(graph, anchor)
        moving = self._readers(graph, outputs, inside, end)
        made_by = [each.producer() for each in inputs]
        if any(each in moving for each in made_by if each is not None):
            return False
        if anchor is not root:
            graph.remove(root)
            graph.insert_after(anchor, root)
        keys = self._keys[graph]
        keys[root] = (*end, 1)
        in_order = sorted(moving, key=lambda each: keys[each])
        if in_order:
            graph.remove(in_order)
            graph.insert_after(root, in_order)
            for position, node in enumerate(in_order):
                keys[node] = (*end, 2, position)
        return True

    def enter(self, root: ir.Node, made: Iterable[ir.Node]) -> None:
        """Take note of new nodes, which will stand before the root."""
        keys = None if root.graph is None else self._keys.get(root.graph)
        if keys is not None and root in keys:
            for position, node in enumerate(made):
                keys[node] = (*keys[root], 0, position)  # the root goes: its place is theirs

    def _readers(
        self, graph: ir.Graph, outputs: Sequence[ir.Value], inside: set[ir.Node], end: _Key
    ) -> set[ir.Node]:
        """The nodes before a place that need what the outputs are, directly or not."""
        found: set[ir.Node] = set()
        waiting = list(outputs)
        while waiting:
            for use in waiting.pop().uses():
                node = self._edit.standing_in(use.node, graph)
                if node is None or node in found or node in inside or self._key(graph, node) > end:
                    continue
                found.add(node)
                waiting.extend(node.outputs)
        return found

    def _key(self, graph: ir.Graph, node: ir.Node) -> _Key:
        keys = self._keys.get(graph)
        if keys is None or node not in keys:
            keys = self._keys[graph] = {each: (position,) for position, each in enumerate(graph)}
        return keys[node]
