"""Gives every node and value of a model a name that says which node it is, for a runtime that keeps nothing but names.

ONNX Runtime drops metadata, and makes the names of what it fuses and inlines of the names that it is given. So each
name holds a tag, a word drawn for the occasion and a number, that is found again in whatever becomes of it. Weights,
and the inputs of graphs and functions, keep their names.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import onnx

from onnxsmith.graphs.session_model import SessionModel


@dataclass(frozen=True, slots=True)
class Tags:
    """What was tagged: the number of a tag is the place of its node's address in `addresses`."""

    word: str
    addresses: tuple[str, ...]

    def numbers(self, name: str) -> list[int]:
        """The tags in a name, in order."""
        return [int(each) for each in re.findall(rf"{self.word}:(\d+):", name)]


def tagged(model: SessionModel) -> tuple[SessionModel, Tags]:
    """The same model under tagged names: the given one is not changed, and the weights are not copied."""
    proto = onnx.ModelProto()
    proto.CopyFrom(model.proto)
    tagger = _Tagger(f"n{secrets.token_hex(4)}")
    tagger.graph(proto.graph, "", {})
    for function in proto.functions:
        tagger.function(function)
    return replace(model, proto=proto), Tags(tagger.word, tuple(tagger.addresses))


class _Tagger:
    def __init__(self, word: str) -> None:
        self.word = word
        self.addresses: list[str] = []

    def function(self, function: onnx.FunctionProto) -> None:
        overload = f":{function.overload}" if function.overload else ""
        scope = {name: name for name in function.input}
        self._nodes(function.node, f"{function.domain}::{function.name}{overload}/", scope)
        function.output[:] = [scope.get(name, name) for name in function.output]
        for info in function.value_info:
            info.name = scope.get(info.name, info.name)

    def graph(self, graph: onnx.GraphProto, prefix: str, outer: Mapping[str, str]) -> None:
        scope = dict(outer)
        held = [each.name for each in graph.initializer]
        held += [each.values.name for each in graph.sparse_initializer]
        scope.update((name, name) for name in (*(each.name for each in graph.input), *held))
        self._nodes(graph.node, prefix, scope)
        for info in (*graph.output, *graph.value_info):
            info.name = scope.get(info.name, info.name)

    def _nodes(self, nodes: Sequence[onnx.NodeProto], prefix: str, scope: dict[str, str]) -> None:
        """Tag nodes; `scope` has the new names of the values that they see, and gets those that they make."""
        first = len(self.addresses)
        for position, node in enumerate(nodes):
            self.addresses.append(f"{prefix}{position}")
            for place, name in enumerate(node.output):
                if name:
                    scope[name] = f"{self.word}:{first + position}:{place}"
        for position, node in enumerate(nodes):
            node.name = f"{self.word}:{first + position}:"
            node.input[:] = [scope.get(name, name) for name in node.input]
            node.output[:] = [scope.get(name, name) for name in node.output]
            for attribute in node.attribute:
                inside = f"{prefix}{position}.{attribute.name}"
                if attribute.type == onnx.AttributeProto.GRAPH:
                    self.graph(attribute.g, f"{inside}.", scope)
                for number, graph in enumerate(attribute.graphs):
                    self.graph(graph, f"{inside}[{number}].", scope)
