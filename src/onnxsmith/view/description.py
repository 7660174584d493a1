"""A model as the viewer sees it: graphs, nodes and values as small records, read from onnx-ir once.

Everything that comes from the model is text or numbers here, cut to a length that a page can hold. Which boxes nodes
stand in is `boxes`'s, what a weight holds `statistics`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.rewriting.scopes import named_bodies
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, OptionalType, SequenceType, TensorType
from onnxsmith.view.attribute_texts import attribute_text, constant_of, summary_of
from onnxsmith.view.operators import OperatorTable

#: The most characters of what a model says of one thing.
LONGEST_NAME = 300
_LONGEST_METADATA = 2000
#: All metadata of nodes together; a page that holds more is slow to open.
_MOST_METADATA = 6_000_000


@dataclass(slots=True)
class Value:
    """One value of a graph."""

    name: str
    type: str
    short: str
    #: Its tensor, where it is a weight or a constant.
    tensor: ir.TensorProtocol | None = None
    #: The address of the `Constant` that makes it, where that stands in its users and not on its own.
    constant: str = ""


@dataclass(slots=True)
class Body:
    """A graph inside a node: the attribute, and the number of the graph."""

    attribute: str
    graph: int


@dataclass(slots=True)
class Node:
    """One node."""

    address: str
    graph: int
    operator: int
    name: str
    inputs: list[int]
    outputs: list[int]
    #: Name and text of each attribute that is no graph.
    attributes: list[tuple[str, str]]
    #: What stands under the operator's name.
    summary: str
    bodies: list[Body] = field(default_factory=list[Body])
    #: The number of the function's graph, where it calls one.
    callee: int = -1
    metadata: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    #: Values of graphs around that the bodies read.
    captured: list[int] = field(default_factory=list[int])
    #: It stands in the nodes that use it.
    is_folded: bool = False
    origin: ir.Node | None = None


@dataclass(slots=True)
class Graph:
    """The main graph, a function, or a graph inside a node."""

    kind: str
    name: str
    #: What the address of a node begins with.
    prefix: str
    inputs: list[int] = field(default_factory=list[int])
    outputs: list[int] = field(default_factory=list[int])
    nodes: list[int] = field(default_factory=list[int])
    captured: list[int] = field(default_factory=list[int])


class Description:
    """A model as records; graph 0 is the main graph."""

    def __init__(self, model: ir.Model, types: Mapping[ir.Value, AnyValueType]) -> None:
        self.graphs: list[Graph] = []
        self.nodes: list[Node] = []
        self.values: list[Value] = []
        self.operators = OperatorTable(model)
        #: Address of each node -> its number.
        self.by_address: dict[str, int] = {}
        self.numbers: dict[ir.Node, int] = {}
        self._types = types
        self._value_numbers: dict[ir.Value, int] = {}
        self._metadata_left = _MOST_METADATA
        self._callees: dict[ir.OperatorIdentifier, int] = {}
        main = self._graph(model.graph, "main", "", model.opset_imports)
        for identifier, function in model.functions.items():
            domain, name, overload = identifier
            called = f"{domain}::{name}" + (f":{overload}" if overload else "")
            self._callees[identifier] = self._graph(
                function.graph, "function", f"{_text(called)}/", function.opset_imports
            )
            self.graphs[self._callees[identifier]].name = _text(name)
        for node in self.nodes:
            if node.origin is not None:
                node.callee = self._callees.get(node.origin.op_identifier(), -1)
        assert main == 0

    # -- graphs ----------------------------------------------------------------------------------------

    def _graph(self, graph: ir.Graph, kind: str, prefix: str, imports: Mapping[str, int]) -> int:
        number = len(self.graphs)
        made = Graph(kind, _text(graph.name or ""), prefix)
        self.graphs.append(made)
        made.inputs = [
            self.value(each)
            for each in graph.inputs
            if kind != "main" or (each.name or "") not in graph.initializers
        ]
        held = set(graph.outputs)
        nodes = list(graph)
        for position, node in enumerate(nodes):
            made.nodes.append(self._node(node, number, f"{prefix}{position}", imports, held))
        made.outputs = [self.value(each) for each in graph.outputs]
        self._note_captured(made, graph, nodes)
        return number

    def _note_captured(self, made: Graph, graph: ir.Graph, nodes: Sequence[ir.Node]) -> None:
        """Note the values that a graph reads from outside it."""
        own = {*made.inputs, *(self.value(value) for value in graph.initializers.values())}
        own.update(output for number in made.nodes for output in self.nodes[number].outputs)
        read: dict[int, None] = {}
        for number in made.nodes:
            node = self.nodes[number]
            for body in node.bodies:
                node.captured += self.graphs[body.graph].captured
            node.captured = [each for each in dict.fromkeys(node.captured) if not self.is_weight(each)]
            read.update(dict.fromkeys([*node.inputs, *node.captured]))
        read.update(dict.fromkeys(made.outputs))
        made.captured = [each for each in read if each >= 0 and each not in own and not self.is_weight(each)]

    def is_weight(self, value: int) -> bool:
        """True if a value is a weight or a constant, which stands in the nodes that take it."""
        held = self.values[value]
        return held.tensor is not None or bool(held.constant)

    # -- nodes and values ------------------------------------------------------------------------------

    def _node(
        self, node: ir.Node, graph: int, address: str, imports: Mapping[str, int], held: set[ir.Value]
    ) -> int:
        number = len(self.nodes)
        made = Node(
            address,
            graph,
            self.operators.number_of(node, imports),
            _text(node.name or ""),
            [-1 if each is None else self.value(each) for each in node.inputs],
            [self.value(each) for each in node.outputs],
            [],
            "",
            origin=node,
        )
        self.nodes.append(made)
        self.by_address[address] = number
        self.numbers[node] = number
        bodies = list(named_bodies(node))
        for _, called, body in bodies:
            index = self._graph(body, "body", f"{address}.{called}.", imports)
            made.bodies.append(Body(_text(called), index))
        named = {name for name, _, _ in bodies}
        for name in [each for each in node.attributes if each not in named]:
            made.attributes.append((_text(name), attribute_text(node.attributes[name])))
        made.summary = summary_of(node)
        made.metadata = self._metadata(node)
        self._fold(node, made, held)
        return number

    def _fold(self, node: ir.Node, made: Node, held: set[ir.Value]) -> None:
        """A constant stands in what takes it, unless nothing does or it is an output."""
        tensor = constant_of(node)
        output = node.outputs[0] if node.outputs else None
        if tensor is None or output is None or output in held or not output.uses():
            return
        made.is_folded = True
        value = self.values[self.value(output)]
        value.tensor, value.constant = tensor, made.address

    def value(self, value: ir.Value) -> int:
        """The number of a value."""
        number = self._value_numbers.get(value)
        if number is None:
            number = self._value_numbers[value] = len(self.values)
            kind = self._types.get(value)
            if kind is None:
                kind = type_from_ir(value.type, value.shape)
            self.values.append(
                Value(
                    _text(value.name or ""),
                    _text(repr(kind)),
                    short_type(kind),
                    value.const_value if value.producer() is None else None,
                )
            )
        return number

    def _metadata(self, node: ir.Node) -> list[tuple[str, str]]:
        found = [("doc string", node.doc_string or ""), *sorted(node.metadata_props.items())]
        result: list[tuple[str, str]] = []
        for key, text in found:
            if not text or key == SOURCE_KEY or self._metadata_left <= 0:
                continue
            shown = _text(text, _LONGEST_METADATA)
            self._metadata_left -= len(shown)
            result.append((_text(key), shown))
        return result


def _text(text: str, most: int = LONGEST_NAME) -> str:
    return clipped(printable(text), most)


# -- type texts ------------------------------------------------------------------------------------------------
# Types as the lines of a graph carry them: `f32 1×64×56×56`.


_SHORT_WORDS = (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c"))
_LONGEST = 60


@lru_cache(maxsize=64)
def short_dtype(dtype: DType) -> str:
    """An element type in a few letters.

    >>> short_dtype(DType.FLOAT), short_dtype(DType.BFLOAT16), short_dtype(DType.UINT8), short_dtype(DType.BOOL)
    ('f32', 'bf16', 'u8', 'bool')
    """
    name = dtype.spelling
    for word, short in _SHORT_WORDS:
        if name.startswith(word):
            return short + name[len(word) :]
    return name


def short_type(kind: AnyValueType) -> str:
    """A type as a line carries it; empty where nothing is known.

    >>> from onnxsmith import FLOAT, INT64
    >>> short_type(FLOAT["N", 4]), short_type(INT64), short_type(INT64[...])
    ('f32 N×4', 'i64 scalar', 'i64')
    """
    if isinstance(kind, TensorType):
        dtype = "" if kind.dtype is None else short_dtype(kind.dtype)
        if kind.shape is None:
            return dtype
        dimensions = "×".join("?" if each is None else str(each) for each in kind.shape)
        return clipped(printable(f"{dtype} {dimensions or 'scalar'}".strip()), _LONGEST)
    if isinstance(kind, SequenceType):
        return f"[{short_type(kind.element)}]"
    if isinstance(kind, OptionalType):
        return f"{short_type(kind.element)}?"
    return clipped(printable(repr(kind)), _LONGEST)
