"""Labels of nodes, apart from the names and values that they are given: equal labels mean equal nodes.

A label holds all of it and no digest, so that what has equal labels needs no further proof.
"""

from __future__ import annotations

from collections.abc import Hashable

import onnx_ir as ir

from onnxsmith.graphs.identity import EXACT, OUTSIDE
from onnxsmith.graphs.rewriting.scopes import has_graphs
from onnxsmith.passes.values import has_references


class Labels:
    """The labels of nodes, as numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[ir.Node, int] = {}
        self._plain: dict[ir.Node, bool] = {}

    def of(self, node: ir.Node) -> int:
        """Equal for nodes that compute the same of what they are given."""
        found = self._known.get(node)
        if found is None:
            # Repetitions are walked input by input: those that are left out count.
            label = (len(node.inputs), EXACT.node(node, lambda _: OUTSIDE, EXACT.graph))
            found = self._known[node] = self._numbers.setdefault(label, len(self._numbers))
        return found

    def is_plain(self, node: ir.Node) -> bool:
        """True if a node has no graphs inside, and says nothing that holds in its place alone."""
        found = self._plain.get(node)
        if found is None:
            is_tied = bool(getattr(node, "device_configurations", None)) or has_references(node)
            found = not (is_tied or has_graphs(node))
            self._plain[node] = found
        return found

    def alone(self, node: ir.Node) -> int:
        """A label that no other node has."""
        return self._numbers.setdefault(("alone", id(node)), len(self._numbers))
