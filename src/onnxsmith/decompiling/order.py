"""Nodes and functions in an order in which each comes after what it uses; graphs inside graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx_ir as ir

from onnxsmith.errors import DecompileError
from onnxsmith.graphs.rewriting.scopes import bodies_of, graphs_of


def in_order(graph: ir.Graph) -> list[ir.Node]:
    """The nodes as they stand, if that is an order; sorted, if there is one."""
    nodes = list(graph)
    made: set[ir.Node] = set()
    own = set(nodes)
    for node in nodes:
        if any(each in own and each not in made for each in _sources(node)):
            return _sorted(nodes, own)
        made.add(node)
    return nodes


def _sources(node: ir.Node) -> Iterator[ir.Node]:
    """The nodes whose results a node uses, in graphs inside it too."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        for value in here.inputs:
            producer = None if value is None else value.producer()
            if producer is not None:
                yield producer
        for inner in bodies_of(here):
            waiting += list(inner)
            for value in inner.outputs:
                producer = value.producer()
                if producer is not None:
                    yield producer


def _sorted(nodes: Sequence[ir.Node], own: set[ir.Node]) -> list[ir.Node]:
    """A stable order: always the first node that can come next."""
    result: list[ir.Node] = []
    done: set[ir.Node] = set()
    for start in nodes:
        stack = [(start, iter(_needed(start, own)))]
        path = {start}
        while stack:
            node, needed = stack[-1]
            following = next((each for each in needed if each not in done), None)
            if following is None:
                stack.pop()
                path.discard(node)
                if node not in done:
                    done.add(node)
                    result.append(node)
            elif following in path:
                raise DecompileError(
                    f"the nodes {_called(following)} and {_called(node)} wait for each other",
                    help="an ONNX graph has no cycles: the model is damaged",
                )
            else:
                path.add(following)
                stack.append((following, iter(_needed(following, own))))
    return result


def _needed(node: ir.Node, own: set[ir.Node]) -> list[ir.Node]:
    return [each for each in _sources(node) if each in own and each is not node] + (
        [node] if any(each is node for each in _sources(node)) else []
    )


def _called(node: ir.Node) -> str:
    return f"{node.op_type} {node.name!r}" if node.name else node.op_type


def in_call_order(
    functions: Mapping[ir.OperatorIdentifier, ir.Function],
) -> list[tuple[ir.OperatorIdentifier, ir.Function]]:
    """Functions after those that they call; a recursive one is an error."""
    calls = {
        identifier: [
            node.op_identifier()
            for graph in graphs_of(function.graph)
            for node in graph
            if node.op_identifier() in functions
        ]
        for identifier, function in functions.items()
    }
    result: dict[ir.OperatorIdentifier, ir.Function] = {}
    for start in functions:
        stack = [(start, iter(calls[start]))]
        path = [start]
        while stack:
            here, rest = stack[-1]
            following = next((each for each in rest if each not in result), None)
            if following is None:
                stack.pop()
                path.pop()
                result.setdefault(here, functions[here])
            elif following in path:
                raise DecompileError(
                    f"the function {following[1]!r} calls itself"
                    + ("" if following == here else f", by way of {here[1]!r}"),
                    help="ONNX has no recursion: the model is damaged",
                )
            else:
                path.append(following)
                stack.append((following, iter(calls[following])))
    return list(result.items())
