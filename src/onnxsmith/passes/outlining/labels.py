"""Labels of nodes, apart from the names and values that they are given: equal labels mean equal nodes.

A label holds all of it and no digest, so that what has equal labels needs no further proof.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

import onnx_ir as ir

#: Tensors beyond this many bytes are compared by identity: they are weights, and are not read.
SMALL = 4096
_FEW_STRINGS = 64
#: Stands for a value that comes from outside.
LEAF = -1
_GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)


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
            label = _node_label(node, {})
            found = self._known[node] = self._numbers.setdefault(label, len(self._numbers))
        return found

    def is_plain(self, node: ir.Node) -> bool:
        """True if a node has no graphs inside, and says nothing that holds in its place alone."""
        found = self._plain.get(node)
        if found is None:
            found = not getattr(node, "device_configurations", None) and not any(
                each.is_ref() or each.type in _GRAPHS for each in node.attributes.values()
            )
            self._plain[node] = found
        return found

    def alone(self, node: ir.Node) -> int:
        """A label that no other node has."""
        return self._numbers.setdefault(("alone", id(node)), len(self._numbers))


def _node_label(node: ir.Node, inner: dict[ir.Value, int]) -> Hashable:
    domain = "" if node.domain == "ai.onnx" else node.domain
    names = sorted(node.attributes)
    return (
        (domain, node.op_type, node.overload, len(node.outputs)),
        tuple(value is None for value in node.inputs),
        tuple(bool(value.name) for value in node.outputs),
        tuple((name, attribute_key(node.attributes[name], inner)) for name in names),
    )


def attribute_key(attribute: ir.Attr, inner: dict[ir.Value, int] | None = None) -> Hashable:
    """Equal for attributes with equal values, to the bit."""
    if attribute.is_ref():
        return ("reference", attribute.ref_attr_name, int(attribute.type))
    kind, value = attribute.type, attribute.value
    numbers = {} if inner is None else inner
    match kind:
        case ir.AttributeType.INT | ir.AttributeType.STRING:
            said: Hashable = value
        case ir.AttributeType.INTS | ir.AttributeType.STRINGS:
            said = tuple(value)
        case ir.AttributeType.FLOAT | ir.AttributeType.FLOATS:
            said = repr(value)  # tells -0.0 from 0.0, and nan from nothing
        case ir.AttributeType.TENSOR:
            said = tensor_key(value)
        case ir.AttributeType.TENSORS:
            said = tuple(tensor_key(each) for each in value)
        case ir.AttributeType.GRAPH:
            said = _graph_label(value, numbers)
        case ir.AttributeType.GRAPHS:
            said = tuple(_graph_label(each, numbers) for each in value)
        case _:
            said = id(value)
    return (int(kind), said)


def tensor_key(tensor: ir.TensorProtocol) -> Hashable:
    """Equal for small tensors with equal elements; a large one equals only itself."""
    shape = tuple(str(each) for each in tensor.shape)
    if tensor.dtype == ir.DataType.STRING:
        is_small = tensor.size <= _FEW_STRINGS
        return (
            ("strings", shape, tuple(cast("list[bytes]", tensor.numpy().ravel().tolist())))
            if is_small
            else id(tensor)
        )
    if tensor.nbytes > SMALL:
        return ("large", id(tensor))
    return (int(tensor.dtype), shape, tensor.tobytes())


def _graph_label(graph: ir.Graph, numbers: dict[ir.Value, int]) -> Hashable:
    """A graph inside a node; a value that it takes from outside only says that there is one."""

    def declared(value: ir.Value) -> Hashable:
        numbers[value] = len(numbers)
        return (repr(value.type), repr(value.shape))

    inputs = tuple(declared(value) for value in graph.inputs)
    weights = tuple(
        (declared(value), None if value.const_value is None else tensor_key(value.const_value))
        for value in graph.initializers.values()
    )
    nodes: list[Hashable] = []
    for node in graph:
        refs = tuple(LEAF if value is None else numbers.get(value, LEAF) for value in node.inputs)
        nodes.append((_node_label(node, numbers), refs))
        for value in node.outputs:
            numbers[value] = len(numbers)
    outputs = tuple(
        (numbers.get(value, LEAF), repr(value.type), repr(value.shape)) for value in graph.outputs
    )
    return (inputs, weights, tuple(nodes), outputs)
