"""`functions="modules"`: which nodes of a graph become calls of functions, namely those that a call of a module made.

Nodes know which calls of modules they were made in. Only the criterion is here; `passes.outlining` cuts out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx_ir as ir

from onnxsmith.context import collection_paused
from onnxsmith.graphs.notes import notes_of
from onnxsmith.graphs.rewriting.scopes import inner_nodes
from onnxsmith.passes import outlining
from onnxsmith.torch.module_calls import Calls, ModuleCall

#: The note of a node that holds the calls of modules that it is in.
MODULES_KEY = "onnxsmith.modules"


def outline_modules(model: ir.Model) -> None:
    """Put functions in the place of calls of modules."""
    with collection_paused():
        nodes = list(model.graph)
        calls = {node: _calls_of(node) for node in nodes}
        _leave_out_shared_sizes(nodes, calls)
        scopes = {node: _scope(own[-1]) for node, own in calls.items() if own}
        outlining.cut_out(model, _parts(nodes, calls), outlining.Naming(_function_name, scopes))


def _calls_of(node: ir.Node) -> Calls:
    """The calls that a node is in; the outermost is the model itself."""
    return notes_of(node).get(MODULES_KEY, ())[1:]


def _scope(call: ModuleCall) -> outlining.Scope:
    return tuple(part for part in call.path.split(".") if part)


def _function_name(parts: Sequence[outlining.Part]) -> tuple[str, str]:
    domain, _, name = parts[0].kind.rpartition(".")
    return domain or "modules", name


def _parts(nodes: Iterable[ir.Node], calls: dict[ir.Node, Calls]) -> list[outlining.Part]:
    """The calls as parts, calls in calls as parts in parts."""
    outermost: list[outlining.Part] = []
    found: dict[Calls, outlining.Part] = {}
    for node in nodes:
        around: outlining.Part | None = None
        own = calls[node]
        for depth in range(1, len(own) + 1):
            part = found.get(own[:depth])
            if part is None:
                call = own[depth - 1]
                part = found[own[:depth]] = outlining.Part([], _scope(call), call.kind)
                (outermost if around is None else around.inner).append(part)
            around = part
        if around is not None:
            around.nodes.append(node)
    return outermost


def _leave_out_shared_sizes(nodes: Sequence[ir.Node], calls: dict[ir.Node, Calls]) -> None:
    """Take nodes out of calls that need nothing in them and whose results are sizes for others.

    A size is computed where it is first needed, and used everywhere: it does not belong to the first layer.
    """
    sizes = [node for node in nodes if calls[node] and all(map(_is_size, node.outputs))]
    around = {inner: node for node in nodes for inner in inner_nodes(node)}
    reads = {node: _sources(node, calls) for node in sizes}
    for depth in range(max((len(calls[node]) for node in sizes), default=0)):
        for node in _shared(sizes, calls, depth, around):
            own = calls[node][: depth + 1]
            if not any(calls[each][: depth + 1] == own for each in reads[node]):
                calls[node] = own[:-1]


def _shared(
    sizes: Sequence[ir.Node], calls: Mapping[ir.Node, Calls], depth: int, around: Mapping[ir.Node, ir.Node]
) -> list[ir.Node]:
    """The nodes in calls of a depth whose results are read outside the call, and what those need."""
    found: set[ir.Node] = set()
    for node in reversed(sizes):
        own = calls[node][: depth + 1]
        if len(own) <= depth:
            continue
        users = (around.get(use.node, use.node) for each in node.outputs for use in each.uses())
        if any(user in found or calls[user][: depth + 1] != own for user in users):
            found.add(node)
    return [node for node in sizes if node in found]


def _sources(node: ir.Node, calls: Mapping[ir.Node, Calls]) -> list[ir.Node]:
    """The nodes of the graph that make what a node reads, in its subgraphs too."""
    values = [*node.inputs, *(value for inner in inner_nodes(node) for value in inner.inputs)]
    producers = (None if value is None else value.producer() for value in values)
    return [each for each in producers if each is not None and each in calls]


def _is_size(value: ir.Value) -> bool:
    return (
        value.dtype in (ir.DataType.INT64, ir.DataType.BOOL)
        and value.shape is not None
        and len(value.shape) <= 1
    )
