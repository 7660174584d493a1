"""Two ways to the same outputs in a graph: an `If` over nodes that are emitted for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import onnx

from onnxsmith.graphs.rewriting.emitter import Emitter

#: Emits nodes that define the outputs, under the names that they have inside the branch.
Way: TypeAlias = Callable[[Emitter, Mapping[str, str]], None]


def choose(emit: Emitter, condition: str, outputs: Sequence[str], yes: Way, no: Way) -> None:
    """Define outputs by `yes` where a condition holds, and by `no` where it does not.

    The branches say nothing about the types of what they make: inference finds them, and the two may differ in shape.
    """
    named = [each for each in outputs if each]
    emit.node(
        "If", [condition], named, then_branch=_branch(emit, named, yes), else_branch=_branch(emit, named, no)
    )


def _branch(emit: Emitter, outputs: Sequence[str], way: Way) -> onnx.GraphProto:
    inner = emit.inner()
    names = {name: emit.names.after(name) for name in outputs}
    way(inner, names)
    graph = onnx.GraphProto(name="branch", node=inner.nodes)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in names.values())
    return graph


def renamed(nodes: Sequence[onnx.NodeProto], names: Mapping[str, str]) -> list[onnx.NodeProto]:
    """Copies of nodes with other names for some of the values that they make."""
    copies: list[onnx.NodeProto] = []
    for node in nodes:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [names.get(each, each) for each in node.input]
        copy.output[:] = [names.get(each, each) for each in node.output]
        copies.append(copy)
    return copies
