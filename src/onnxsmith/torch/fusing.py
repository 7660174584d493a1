"""Several nodes as one that ONNX has: what modules spell out, and weights that can be prepared before the model runs.

Each fusion looks at one node, and at what leads to it; it gives the nodes that take its place, or None. A fusion is
here because ONNX Runtime's CPU runs the one node faster than the several, or no slower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import onnx_ir as ir

#: From a node, the nodes that take its place; the last one's outputs are its outputs.
Fusion = Callable[["Fuser", ir.Node], "Sequence[ir.Node] | None"]


class Fuser:
    """The graph that fusions work on, and how they look at it."""

    def __init__(self, graph: ir.Graph, version: int, modules: dict[ir.Node, Any] | None) -> None:
        self.graph = graph
        self.version = version
        self._modules = modules
        #: Nodes that are shared by several fusions: what they are made of -> their output.
        self.shared: dict[Any, ir.Value] = {}

    def run(self, fusions: dict[str, Sequence[Fusion]]) -> None:
        """Try the fusions on each node, from the front: those of its operator."""
        for node in list(self.graph):
            for fusion in fusions.get(node.op_type, ()):
                if node.graph is None or node.domain:
                    break
                found = fusion(self, node)
                if found is not None:
                    self._replace(node, found)

    def _replace(self, node: ir.Node, new: Sequence[ir.Node]) -> None:
        for each in new:
            each.metadata_props.update(node.metadata_props)
            if self._modules is not None:
                self._modules[each] = self._modules.get(node, ())
        self.graph.insert_before(node, new)
        for old, fresh in zip(node.outputs, new[-1].outputs, strict=False):
            fresh.name, fresh.type, fresh.shape = old.name, old.type, old.shape
            cast(Any, fresh.meta).update(old.meta)
            if old.name:
                old.name = f"{old.name}_before"
            old.replace_all_uses_with(fresh, replace_graph_outputs=True)
        self.remove(node)

    def remove(self, node: ir.Node) -> None:
        """Take a node out of the graph, and what nothing needs without it."""
        makers = [each.producer() for each in node.inputs if each is not None]
        self.graph.remove(node, safe=True)
        for maker in makers:
            if maker is not None and maker.graph is self.graph and not any(map(is_read, maker.outputs)):
                self.remove(maker)

    def node(
        self, op_type: str, inputs: Sequence[ir.Value | None], like: ir.Node, **attributes: Any
    ) -> ir.Node:
        """A new node, named after the one whose place it takes."""
        path = (like.name or "").rpartition("/")[0]
        made = ir.node(op_type, inputs, attributes)
        made.name = (
            f"{path}/{op_type.lower()}_{like.outputs[0].name}"
            if path
            else f"{op_type.lower()}_{like.outputs[0].name}"
        )
        made.outputs[0].name = f"{like.outputs[0].name}_{op_type.lower()}"
        return made

    def constant(self, array: np.ndarray[Any, Any], name: str) -> ir.Value:
        """A new initializer."""
        unique, count = name, 1
        while unique in self.graph.initializers:
            unique, count = f"{name}_{count}", count + 1
        return self.initializer(ir.Tensor(array, name=unique), unique)

    def initializer(self, tensor: ir.TensorProtocol, name: str) -> ir.Value:
        """An initializer for a tensor, under a name that is not taken."""
        value = ir.Value(
            name=name,
            type=ir.TensorType(tensor.dtype),
            shape=ir.Shape(cast(Any, tuple(tensor.shape))),
            const_value=tensor,
        )
        self.graph.register_initializer(value)
        return value

    def drop_unread_initializers(self) -> None:
        """Leave out the initializers that no node reads any more."""
        for name, value in list(self.graph.initializers.items()):
            if not is_read(value) and not value.is_graph_input():
                del self.graph.initializers[name]


def is_read(value: ir.Value) -> bool:
    """Whether a node reads a value, or the graph gives it."""
    return bool(value.uses()) or value.is_graph_output()


def made_by(value: ir.Value | None, op_type: str) -> ir.Node | None:
    """The node that makes a value, if it is of an operator of ONNX."""
    node = None if value is None else value.producer()
    return node if node is not None and node.op_type == op_type and not node.domain else None


def single(value: ir.Value | None, op_type: str) -> ir.Node | None:
    """The same, where nothing else reads the value."""
    if value is None or value.is_graph_output() or len(value.uses()) != 1:
        return None
    return made_by(value, op_type)


def content(value: ir.Value | None) -> np.ndarray[Any, Any] | None:
    """The array behind an initializer."""
    if value is None or value.const_value is None or value.is_graph_input():
        return None
    return value.const_value.numpy()


def scalar(value: ir.Value | None) -> float | None:
    """The number behind an initializer of one element."""
    if value is None or value.const_value is None or value.const_value.size != 1:
        return None
    array = content(value)
    return None if array is None else float(array.reshape(()))


def dimensions(value: ir.Value | None) -> list[Any]:
    """The shape of a value: ints and names; empty where it is unknown."""
    if value is None or value.shape is None:
        return []
    return [each if isinstance(each, int) else each.value for each in value.shape]


def ints(node: ir.Node, name: str) -> list[int]:
    """An attribute that is a list of ints; empty where it is not given."""
    attribute = node.attributes.get(name)
    return [] if attribute is None else list(attribute.as_ints())


def number(node: ir.Node, name: str, default: Any) -> Any:
    """An attribute that is a number."""
    attribute = node.attributes.get(name)
    return default if attribute is None else attribute.value
