"""How many nodes and bytes a model has, as its file says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import onnx


class Count(NamedTuple):
    """How many nodes, and how many bytes of weights and constants."""

    nodes: int = 0
    bytes: int = 0

    def __add__(self, other: Any) -> Count:
        return Count(self.nodes + other.nodes, self.bytes + other.bytes)


def total(counts: Iterable[Count]) -> Count:
    """The sum."""
    return sum(counts, Count())


def size_of(value: Any) -> int:
    """The bytes of a constant: of an array, or of the numbers or the text that an attribute holds."""
    if isinstance(value, np.ndarray):
        return sum(map(size_of, value.ravel().tolist())) if value.dtype == object else value.nbytes
    if isinstance(value, tuple | list):
        return sum(map(size_of, value))
    if isinstance(value, str):
        return len(value.encode())
    return len(value) if isinstance(value, bytes) else {int: 8, float: 4}.get(type(value), 0)


def count_model(model: onnx.ModelProto) -> Count:
    """All nodes, and the bytes of initializers and of constants in nodes, functions included."""
    return count_graph(model.graph) + total(count_nodes(each.node) for each in model.functions)


def count_graph(graph: onnx.GraphProto) -> Count:
    """Nodes and bytes of a graph and those in it."""
    return count_nodes(graph.node) + Count(0, sum(_tensor_size(each) for each in graph.initializer))


def count_nodes(nodes: Any) -> Count:
    """Nodes, with the graphs and constants in their attributes."""
    result = Count(len(nodes))
    for node in nodes:
        for each in node.attribute:
            result += total(map(count_graph, [each.g] * each.HasField("g") + list(each.graphs)))
            if each.HasField("t"):
                result += Count(0, _tensor_size(each.t))
            elif node.op_type == "Constant" and not each.ref_attr_name:
                result += Count(0, size_of(onnx.helper.get_attribute_value(each)))
    return result


def _tensor_size(tensor: onnx.TensorProto) -> int:
    return size_of(onnx.numpy_helper.to_array(tensor))
