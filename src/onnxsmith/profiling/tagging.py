"""Gives every node and value of a model a name that says which node it is, for a runtime that keeps nothing but names.

ONNX Runtime drops metadata, and makes the names of what it fuses and inlines of the names that it is given. So each
name holds a tag, a word drawn for the occasion and a number, that is found again in whatever becomes of it. Weights,
and the inputs of graphs and functions, keep their names.

A function is written once for each node that calls it, so that what is inlined can be told apart by the call that it
comes from. Functions that would make the model too large that way are shared by their calls.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import onnx

from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.scopes import FunctionKey, all_nodes, function_key, functions_of

#: No more nodes, and bytes, of functions are written for the sake of their calls.
_MOST_COPIED_NODES = 100_000
_MOST_COPIED_BYTES = 1 << 26
#: Nor more functions: the facts about a runtime are met in each, with its types inferred, which takes 3 ms.
_MOST_COPIES = 1_000
_DEEPEST_CALL = 100
#: A runtime may have operators of its own by a name in these, which it takes instead of the function.
_KNOWN_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "com.ms.internal")


@dataclass(frozen=True, slots=True)
class Tags:
    """The tagged nodes: the number of a tag is the index of its node's address in `addresses`."""

    word: str
    addresses: tuple[str, ...]
    #: The calls of functions that each node stands in, by the addresses of the calling nodes, outermost first.
    calls: tuple[tuple[str, ...], ...]

    def numbers(self, name: str) -> list[int]:
        """The tags in a name, in order."""
        return [int(each) for each in re.findall(rf"{self.word}:(\d+):", name)]


def tagged(model: SessionModel) -> tuple[SessionModel, Tags]:
    """The same model under tagged names: the given one is not changed, and the weights are not copied."""
    proto = copied(model.proto)
    tagger = _Tagger(f"n{secrets.token_hex(4)}", functions_of(proto))
    tagger.graph(proto.graph, "", {}, ())
    functions = tagger.written()
    del proto.functions[:]
    proto.functions.extend(functions)
    return replace(model, proto=proto), Tags(tagger.word, tuple(tagger.addresses), tuple(tagger.calls))


class _Tagger:
    def __init__(self, word: str, functions: Mapping[FunctionKey, onnx.FunctionProto]) -> None:
        self.word = word
        self.addresses: list[str] = []
        self.calls: list[tuple[str, ...]] = []
        self._functions = functions
        self._copies: list[onnx.FunctionProto] = []
        #: Functions that several calls share, which are tagged once.
        self._shared: dict[FunctionKey, None] = {}
        self._copied_nodes = 0
        self._copied_bytes = 0

    def written(self) -> list[onnx.FunctionProto]:
        """The functions that are called, tagged; those that nothing calls are not among them."""
        done: list[onnx.FunctionProto] = []
        while len(done) < len(self._shared):  # what a shared function calls may be shared, too
            key = list(self._shared)[len(done)]
            copy = copied(self._functions[key])
            self._function(copy, key, ())
            done.append(copy)
        return [*self._copies, *done]

    def _function(self, function: onnx.FunctionProto, key: FunctionKey, calls: tuple[str, ...]) -> None:
        domain, name, overload = key
        scope = {each: each for each in function.input}
        prefix = f"{domain}::{name}{f':{overload}' if overload else ''}/"
        self._nodes(function.node, prefix, scope, calls)
        function.output[:] = [scope.get(each, each) for each in function.output]
        for info in function.value_info:
            info.name = scope.get(info.name, info.name)

    def _call(self, node: onnx.NodeProto, number: int) -> None:
        """Give a node that calls a function one of its own."""
        key = function_key(node)
        function = self._functions.get(key)
        if function is None:
            return
        nodes, size = len(all_nodes(function.node)), function.ByteSize()
        is_large = (
            len(self._copies) >= _MOST_COPIES
            or self._copied_nodes + nodes > _MOST_COPIED_NODES
            or self._copied_bytes + size > _MOST_COPIED_BYTES
            or len(self.calls[number])
            >= _DEEPEST_CALL  # functions that call themselves are none, and have no end
        )
        if is_large or node.domain in _KNOWN_DOMAINS or key in self._shared:
            self._shared[key] = None
            return
        self._copied_nodes += nodes
        self._copied_bytes += size
        copy = copied(function)
        node.op_type = copy.name = f"{function.name}_{self.word}_{number}"
        self._copies.append(copy)
        self._function(copy, key, (*self.calls[number], self.addresses[number]))

    def graph(
        self, graph: onnx.GraphProto, prefix: str, outer: Mapping[str, str], calls: tuple[str, ...]
    ) -> None:
        scope = dict(outer)
        held = [each.name for each in graph.initializer]
        held += [each.values.name for each in graph.sparse_initializer]
        scope.update((name, name) for name in (*(each.name for each in graph.input), *held))
        self._nodes(graph.node, prefix, scope, calls)
        for info in (*graph.output, *graph.value_info):
            info.name = scope.get(info.name, info.name)

    def _nodes(
        self, nodes: Sequence[onnx.NodeProto], prefix: str, scope: dict[str, str], calls: tuple[str, ...]
    ) -> None:
        """Tag nodes; `scope` has the new names of the values that they see, and gets those that they make."""
        first = len(self.addresses)
        for position, node in enumerate(nodes):
            self.addresses.append(f"{prefix}{position}")
            self.calls.append(calls)
            for place, name in enumerate(node.output):
                if name:
                    scope[name] = f"{self.word}:{first + position}:{place}"
        for position, node in enumerate(nodes):
            node.name = f"{self.word}:{first + position}:"
            node.input[:] = [scope.get(name, name) for name in node.input]
            node.output[:] = [scope.get(name, name) for name in node.output]
            self._call(node, first + position)
            for attribute in node.attribute:
                inside = f"{prefix}{position}.{attribute.name}"
                if attribute.type == onnx.AttributeProto.GRAPH:
                    self.graph(attribute.g, f"{inside}.", scope, calls)
                for number, graph in enumerate(attribute.graphs):
                    self.graph(graph, f"{inside}[{number}].", scope, calls)
