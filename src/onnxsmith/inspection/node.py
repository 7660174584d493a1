"""One node, one value and one graph of a model, to look at: light views over onnx-ir that change nothing.

Views are made by `Nodes`, which knows the whole model, and are the same objects whenever they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, Protocol

import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.graphs.module_scopes import scope_of
from onnxsmith.graphs.origins import sources_of
from onnxsmith.inspection.attributes import PlainAttribute, plain_attribute, shown_attribute
from onnxsmith.source import Span
from onnxsmith.types.value_types import AnyValueType

_LONGEST_NAME = 80
_SHOWN_VALUES = 12


class WholeModel(Protocol):
    """The model around views, as they use it."""

    @property
    def called(self) -> str:
        """The source of places that only the model names, in words."""
        ...

    def of_ir(self, node: ir.Node) -> Node:
        """The view of a node of onnx-ir."""
        ...

    def bodies_of(self, node: ir.Node) -> Mapping[str, Graph | tuple[Graph, ...]]:
        """The graphs inside a node, by attribute."""
        ...

    def function_of(self, node: ir.Node) -> Graph | None:
        """The function that a node calls."""
        ...

    def type_of(self, value: ir.Value) -> AnyValueType:
        """The type of a value, declared or inferred."""
        ...


class NodeValue:
    """A value that a node takes or gives.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> value = model.nodes[1].inputs[0]
    >>> value.type, value.producer.op_type
    (FLOAT['N'], 'Exp')
    """

    __slots__ = ("_nodes", "ir")

    def __init__(self, nodes: WholeModel, value: ir.Value) -> None:
        self._nodes = nodes
        #: The value as onnx-ir has it; not to be changed.
        self.ir: ir.Value = value

    @property
    def name(self) -> str:
        """Its name in the model."""
        return self.ir.name or ""

    @property
    def type(self) -> AnyValueType:
        """Its type: what the model declares, and else what inference finds."""
        return self._nodes.type_of(self.ir)

    @property
    def is_weight(self) -> bool:
        """True if the model holds it."""
        return self.ir.is_initializer()

    @property
    def producer(self) -> Node | None:
        """The node that gives it; None for inputs and weights."""
        made_by = self.ir.producer()
        return None if made_by is None else self._nodes.of_ir(made_by)

    @property
    def users(self) -> tuple[Node, ...]:
        """The nodes that take it, those in bodies included, each once."""
        found = dict.fromkeys(node for node, _ in self.ir.uses())
        return tuple(self._nodes.of_ir(node) for node in found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeValue) and other.ir is self.ir

    def __hash__(self) -> int:
        return hash(self.ir)

    def __repr__(self) -> str:
        return printable(f"<value {clipped(self.name, _LONGEST_NAME)!r}: {self.type!r}>")


class Graph:
    """A graph of a model: the outermost one, the body of a node, or the body of a function.

    >>> import numpy as np
    >>> from onnxsmith import BOOL, FLOAT, script
    >>> @script()
    ... def sign(x: FLOAT) -> FLOAT:
    ...     if x > 0.0:
    ...         return x
    ...     return -x
    >>> [len(body.nodes) for node in sign.to_model().nodes for body in node.bodies]
    [1, 1]
    """

    __slots__ = ("_nodes", "address", "ir", "kind", "name", "owner", "parameters")

    def __init__(
        self,
        nodes: WholeModel,
        graph: ir.Graph,
        kind: Literal["main", "body", "function"],
        name: str,
        address: str,
        owner: Node | None,
        parameters: Mapping[str, ir.Attr] = MappingProxyType({}),
    ) -> None:
        self._nodes = nodes
        #: The graph as onnx-ir has it; not to be changed.
        self.ir: ir.Graph = graph
        #: What it is: the outermost graph, the body of a node, or of a function.
        self.kind: Literal["main", "body", "function"] = kind
        #: The name in the model; of a function, `domain::name`, with its overload if it has one.
        self.name: str = name
        #: What the addresses of its nodes begin with; empty for the outermost graph.
        self.address: str = address
        #: The node whose body it is.
        self.owner: Node | None = owner
        #: The attributes that a function takes, with their defaults; one without a default has no type.
        self.parameters: Mapping[str, ir.Attr] = parameters

    @property
    def inputs(self) -> tuple[NodeValue, ...]:
        """Its inputs."""
        return tuple(NodeValue(self._nodes, each) for each in self.ir.inputs)

    @property
    def outputs(self) -> tuple[NodeValue, ...]:
        """Its outputs."""
        return tuple(NodeValue(self._nodes, each) for each in self.ir.outputs)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Its own nodes, in the order of the file; those of bodies are their `bodies`."""
        return tuple(self._nodes.of_ir(each) for each in self.ir)

    def __repr__(self) -> str:
        called = {"main": "graph", "body": f"body {self.address}", "function": f"function {self.name}"}[
            self.kind
        ]
        count = len(self.ir)
        return printable(f"<{clipped(called, _LONGEST_NAME)}: {count} node{'s' * (count != 1)}>")


class Node:
    """One node of a model.

    Its `address` says where it stands: the number in the outermost graph, `12`; inside a body, with the attribute that
    holds the body, `12.then_branch.3`; in a function, `domain::name/4`. Numbers are those of the file.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> node = model.nodes[1]
    >>> node.op_type, node.name, [each.name for each in node.inputs]
    ('Relu', 'relu', ['exp'])
    """

    __slots__ = ("_nodes", "address", "graph", "ir")

    def __init__(self, nodes: WholeModel, node: ir.Node, graph: Graph, address: str) -> None:
        self._nodes = nodes
        #: The node as onnx-ir has it; not to be changed.
        self.ir: ir.Node = node
        #: The graph that it stands in.
        self.graph: Graph = graph
        #: Where it stands.
        self.address: str = address

    @property
    def op_type(self) -> str:
        """The operator, or the function of the model."""
        return self.ir.op_type

    @property
    def domain(self) -> str:
        """The operator's domain; empty for ONNX's own."""
        return self.ir.domain

    @property
    def operator(self) -> str:
        """The operator with its domain, `com.microsoft::Gelu`; without one for ONNX's own."""
        return f"{self.ir.domain}::{self.ir.op_type}" if self.ir.domain else self.ir.op_type

    @property
    def name(self) -> str:
        """Its name; empty where the model gives it none."""
        return self.ir.name or ""

    @property
    def inputs(self) -> tuple[NodeValue | None, ...]:
        """Its inputs; None for an optional input that is left out."""
        return tuple(None if each is None else NodeValue(self._nodes, each) for each in self.ir.inputs)

    @property
    def outputs(self) -> tuple[NodeValue, ...]:
        """Its outputs; an output that is not used may have no name."""
        return tuple(NodeValue(self._nodes, each) for each in self.ir.outputs)

    @property
    def attributes(self) -> Mapping[str, PlainAttribute | Graph | tuple[Graph, ...]]:
        """The attributes that it has, as Python values: tensors are arrays, bodies are `Graph`."""
        bodies = self._nodes.bodies_of(self.ir)
        found = {
            name: bodies[name] if name in bodies else plain_attribute(each)
            for name, each in self.ir.attributes.items()
        }
        return MappingProxyType(found)

    @property
    def bodies(self) -> tuple[Graph, ...]:
        """The graphs inside it, in the order of its attributes."""
        held = self._nodes.bodies_of(self.ir).values()
        return tuple(graph for each in held for graph in (each if isinstance(each, tuple) else (each,)))

    @property
    def function(self) -> Graph | None:
        """The function of the model that it calls."""
        return self._nodes.function_of(self.ir)

    @property
    def metadata(self) -> Mapping[str, str]:
        """Its metadata, by key."""
        return MappingProxyType(self.ir.metadata_props)

    @property
    def source(self) -> Span | None:
        """The place in Python that made it. Where a file says so, the span is a claim: nothing of it is read."""
        return next((each for each in self.sources if isinstance(each, Span)), None)

    @property
    def sources(self) -> tuple[Span | str, ...]:
        """All places that it comes from: a node that passes made of several has theirs.

        Words of the model that name no place are text.
        """
        return sources_of(self.ir, self._nodes.called)

    @property
    def scope(self) -> tuple[str, ...]:
        """The modules that it belongs to, by metadata or by the parts of its name: `("layers", "0", "attn")`."""
        return scope_of(self.ir)

    def __repr__(self) -> str:
        outputs = ", ".join(_shown([each.name or "_" for each in self.ir.outputs]))
        inputs = ", ".join(_shown(["_" if each is None else each.name or "_" for each in self.ir.inputs]))
        attributes = [f"{name}={shown_attribute(each)}" for name, each in self.ir.attributes.items()]
        attributes = [each for each in (", ".join(_shown(attributes)),) if each]
        arguments = "; ".join([each for each in (inputs, *attributes) if each])
        return printable(f"<node {self.address}: {outputs} = {self.operator}({arguments})>")


def _shown(texts: list[str]) -> list[str]:
    more = len(texts) - _SHOWN_VALUES
    shown = [clipped(each, _LONGEST_NAME) for each in texts[:_SHOWN_VALUES]]
    return [*shown, f"… {more} more"] if more > 0 else shown
