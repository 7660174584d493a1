"""Leaves out sizes that nothing reads: code that asks for `x.shape` often needs one of its sizes, or none.

Only sizes are left out, which always can be had: another node that nothing reads may fail on purpose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from onnxsmith.graphs.records import GraphRecord, NodeRecord, ValueRecord

_SIZES = frozenset({"Shape", "Size"})
#: What is read of the sizes of a value.
_READING = frozenset({"Gather", "Squeeze", "Unsqueeze", "Cast"})


def leave_out_unread_sizes(graph: GraphRecord) -> None:
    """Leave them out of a graph, and of those inside its nodes."""
    readers = Counter[ValueRecord]()
    for each in _nodes_and_graphs(graph):
        _count(readers, each.inputs if isinstance(each, NodeRecord) else each.outputs, 1)
    _leave_out(graph, readers)


def _nodes_and_graphs(graph: GraphRecord) -> Iterable[NodeRecord | GraphRecord]:
    yield graph
    for node in graph.nodes:
        yield node
        for inside in node.graphs():
            yield from _nodes_and_graphs(inside)


def _count(readers: Counter[ValueRecord], values: Iterable[ValueRecord | None], by: int) -> None:
    for each in values:
        if each is not None:
            readers[each] += by


def _leave_out(graph: GraphRecord, readers: Counter[ValueRecord]) -> None:
    kept: list[NodeRecord] = []
    for node in reversed(graph.nodes):  # those that read a size stand behind it
        for inside in node.graphs():
            _leave_out(inside, readers)
        if _is_size(node) and not any(readers[each] for each in node.outputs):
            _count(readers, node.inputs, -1)
        else:
            kept.append(node)
    graph.nodes[:] = reversed(kept)


def _is_size(node: NodeRecord) -> bool:
    if node.domain or not node.inputs:
        return False
    if node.op_type in _SIZES:
        return True
    source = node.inputs[0]
    return (
        node.op_type in _READING
        and source is not None
        and source.producer is not None
        and _is_size(source.producer)
    )
