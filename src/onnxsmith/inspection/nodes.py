"""`model.nodes`: every node of a model in one sequence, those of bodies and functions included."""

from __future__ import annotations

import contextlib
import fnmatch
import html
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast, overload

import onnx_ir as ir

from onnxsmith.diagnostics import clipped, described_type, did_you_mean, printable, raised_at
from onnxsmith.errors import AttributeTypeError, OnnxsmithError, UnknownNameError, boundary
from onnxsmith.graphs.graph_inference import State, Walk
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_content import ModelContent, read
from onnxsmith.graphs.rewriting.scopes import named_bodies
from onnxsmith.inspection.node import Graph, Node
from onnxsmith.schema.inference.broadcasting import Different, OwnNames, is_complete, is_nothing, merge_types
from onnxsmith.schema.inference.known import NOTHING
from onnxsmith.types.value_types import AnyValueType

#: How many nodes a notebook shows, and how many operators a line of text.
_SHOWN_ROWS = 30
_SHOWN_OPERATORS = 6
_LONGEST_NAME = 60
#: A misspelt name is compared with so many.
_MOST_CANDIDATES = 5000


class Nodes(Sequence[Node]):
    """The nodes of a model.

    Each node of the outermost graph is followed by the nodes of its bodies, and all of these by the functions of the
    model, in the order of the file. A node is found by its number in this order, by its address, by its name, or by
    the name of a value that it gives.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> model.nodes
    <2 nodes: Exp, Relu>
    >>> model.nodes["relu"].op_type
    'Relu'
    """

    def __init__(self, model: Model) -> None:
        called = "the model" if model.place is None else printable(model.place.name)
        #: What places that only the model names are said by.
        self.called: str = called
        self._held: ModelContent = read(model)
        self._types = ValueTypes(self._held)
        self._bodies: dict[ir.Node, dict[str, Graph | tuple[Graph, ...]]] = {}
        self._by_ir: dict[ir.Node, Node] = {}
        held = self._held.ir
        #: The outermost graph.
        self.graph: Graph = Graph(self, held.graph, "main", held.graph.name or "", "", None)
        self._functions: dict[ir.OperatorIdentifier, Graph] = {}
        for identifier, function in held.functions.items():
            name = _function_name(function)
            self._functions[identifier] = Graph(
                self, function.graph, "function", name, name, None, function.attributes
            )
        self._all: list[Node] = []
        self._enter(self.graph, "")
        for each in self._functions.values():
            self._enter(each, f"{each.address}/")
        self._by_name: dict[str, list[Node]] | None = None

    def _enter(self, graph: Graph, prefix: str) -> None:
        for number, node in enumerate(graph.ir):
            view = Node(self, node, graph, f"{prefix}{number}")
            self._all.append(view)
            self._by_ir[node] = view
            for name, called, inner in named_bodies(node) if node.attributes else ():
                bodies, body = self._bodies.setdefault(node, {}), self._body(view, inner, called)
                before = bodies.get(name, ())
                bodies[name] = (*before, body) if called != name and isinstance(before, tuple) else body

    def _body(self, owner: Node, graph: ir.Graph, attribute: str) -> Graph:
        address = f"{owner.address}.{attribute}"
        body = Graph(self, graph, "body", graph.name or "", address, owner)
        self._enter(body, f"{address}.")
        return body

    # -- for views -------------------------------------------------------------------------------------

    def of_ir(self, node: ir.Node) -> Node:
        """The view of a node of onnx-ir."""
        return self._by_ir[node]

    def bodies_of(self, node: ir.Node) -> Mapping[str, Graph | tuple[Graph, ...]]:
        """The graphs inside a node, by attribute."""
        return self._bodies.get(node, {})

    def function_of(self, node: ir.Node) -> Graph | None:
        """The function that a node calls."""
        return self._functions.get(node.op_identifier())

    def type_of(self, value: ir.Value) -> AnyValueType:
        """The type of a value, declared or inferred."""
        return self._types.of(value)

    # -- for users -------------------------------------------------------------------------------------

    @property
    def functions(self) -> Mapping[str, Graph]:
        """The functions of the model, by `domain::name`."""
        return {each.name: each for each in self._functions.values()}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._all)

    @overload
    def __getitem__(self, key: int | str) -> Node: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Node, ...]: ...
    @boundary
    def __getitem__(self, key: int | str | slice) -> Node | tuple[Node, ...]:
        if isinstance(key, slice):
            return tuple(self._all[key])
        if not isinstance(key, str):
            return self._at(key)
        found = self._named(key)
        if not found:
            candidates = list(self._names())[:_MOST_CANDIDATES]
            raise UnknownNameError(
                f"the model has no node '{clipped(key, _LONGEST_NAME)}': no address, name or output is called so",
                help=did_you_mean(key, candidates),
            )
        if len(found) > 1:
            places = ", ".join(each.address for each in found[:8])
            raise UnknownNameError(
                f"{len(found)} nodes of the model are called '{clipped(key, _LONGEST_NAME)}'",
                help=f"say which one by its address: {places}",
            )
        return found[0]

    def _at(self, number: int) -> Node:
        try:
            return self._all[number]
        except IndexError:  # of the same class, so that a loop by index ends
            error = IndexError(f"the model has {len(self._all)} nodes, and none of number {number}")
            raise raised_at(error, None) from None
        except TypeError:
            raise AttributeTypeError(
                f"a node is found by its number, address or name, not by {described_type(type(number))}"
            ) from None

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return bool(self._named(key))
        return isinstance(key, Node) and self._by_ir.get(key.ir) is key

    def _names(self) -> dict[str, list[Node]]:
        """All that nodes are called, each with the nodes: addresses alone where a node has one of these."""
        if self._by_name is None:
            found: dict[str, list[Node]] = {each.address: [each] for each in self._all}
            by_name: dict[str, dict[Node, None]] = {}
            by_output: dict[str, dict[Node, None]] = {}
            for each in self._all:
                if each.name:
                    by_name.setdefault(each.name, {})[each] = None
                for value in each.ir.outputs:
                    if value.name:
                        by_output.setdefault(value.name, {})[each] = None
            for names in (by_name, by_output):
                for name, nodes in names.items():
                    found.setdefault(name, list(nodes))
            self._by_name = found
        return self._by_name

    def _named(self, key: str) -> list[Node]:
        return self._names().get(key, [])

    @boundary
    def where(
        self, *, op_type: str | None = None, domain: str | None = None, name: str | None = None
    ) -> tuple[Node, ...]:
        """The nodes of an operator, of a domain, of a name; in each `*` stands for any text.

        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> model = trace(lambda a: op.Relu(op.Exp(op.Relu(a))), FLOAT["N"])
        >>> [each.address for each in model.nodes.where(op_type="Relu")]
        ['0', '2']
        """
        return tuple(
            each
            for each in self._all
            if (op_type is None or fnmatch.fnmatchcase(each.op_type, op_type))
            and (domain is None or fnmatch.fnmatchcase(each.domain, domain))
            and (name is None or fnmatch.fnmatchcase(each.name, name))
        )

    def __repr__(self) -> str:
        counts = Counter(each.operator for each in self._all).most_common(_SHOWN_OPERATORS + 1)
        shown = [f"{count} {name}" if count > 1 else name for name, count in counts[:_SHOWN_OPERATORS]]
        shown += ["…"] if len(counts) > _SHOWN_OPERATORS else []
        count = f"{len(self)} node{'s' * (len(self) != 1)}"
        return printable(f"<{count}: {', '.join(shown)}>" if shown else f"<{count}>")

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{each}</th>" for each in ("address", "operator", "inputs", "outputs", "source"))
        rows = "".join(_row(each) for each in self._all[:_SHOWN_ROWS])
        more = len(self) - _SHOWN_ROWS
        rest = f"<p>{more} more</p>" if more > 0 else ""
        return f"<p>{html.escape(repr(self))}</p><table><tr>{head}</tr>{rows}</table>{rest}"


def _row(node: Node) -> str:
    inputs = ", ".join("_" if each is None else each.name for each in node.inputs)
    outputs = ", ".join(f"{each.name}: {each.type!r}" for each in node.outputs)
    source = "" if node.source is None else str(node.source)
    cells = (node.address, node.operator, inputs, outputs, source)
    return (
        "<tr>" + "".join(f"<td>{html.escape(printable(clipped(each, 200)))}</td>" for each in cells) + "</tr>"
    )


def _function_name(function: ir.Function) -> str:
    overload = f":{function.overload}" if function.overload else ""
    return f"{function.domain}::{function.name}{overload}"


def nodes_of(model: Model) -> Nodes:
    """The nodes of a model, made once: what `model.nodes` is."""
    return cast(Nodes, cast(Any, model).nodes)  # a capability, which `graphs` does not know


def nodes(model: Model) -> Nodes:
    """Every node, those of bodies and functions included: by number, address, name, or name of an output.

    Each node of the outermost graph is followed by those of its bodies; the functions of the model come last. An
    address is the number in the file, `12`; inside a body `12.then_branch.3`; in a function `domain::name/4`.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Relu(a @ b + 1.0), FLOAT["N", 4], FLOAT[4, 8])
    >>> model.nodes
    <3 nodes: MatMul, Add, Relu>
    >>> model.nodes["relu"]
    <node 2: relu = Relu(add)>
    >>> model.nodes["relu"].inputs[0].type
    FLOAT['N', 8]
    >>> [node.op_type for node in model.nodes[:2]]
    ['MatMul', 'Add']
    """
    return Nodes(model)


# -- value types -----------------------------------------------------------------------------------------------
# Types of the values in a model: those that it declares, and else those that follow from its inputs.
#
# Inference runs once over the whole model, when the first value is asked for whose type is not declared in full. The
# values of a function have the types that all its calls agree on.


class ValueTypes:
    """The types of the values of one model."""

    def __init__(self, held: ModelContent) -> None:
        self._held = held
        self._inferred: dict[ir.Value, AnyValueType] | None = None

    def of(self, value: ir.Value) -> AnyValueType:
        """All that is known of the type of a value."""
        declared = self._declared(value)
        if is_complete(declared):
            return declared
        if self._inferred is None:
            self._inferred = _inferred(self._held.ir)
        found = self._inferred.get(value)
        return declared if found is None or is_nothing(found) else found

    def _declared(self, value: ir.Value) -> AnyValueType:
        tensor = value.const_value
        if tensor is not None and value.type is None:
            return type_from_ir(ir.TensorType(tensor.dtype), tensor.shape)
        if self._held.special and value.graph is self._held.graph:
            return self._held.type_of(value)
        return type_from_ir(value.type, value.shape)


def _inferred(model: ir.Model) -> dict[ir.Value, AnyValueType]:
    state = State([])
    state.inside = []
    walk = Walk(model.functions, model.opset_imports, OwnNames(), {}, state)
    for value in model.graph.inputs:
        walk.known[value] = walk.completed(NOTHING, value)
    walk.hold(each for each in model.graph.initializers.values() if not each.is_graph_input())
    for node in model.graph:
        with contextlib.suppress(OnnxsmithError):  # its mistake is the model's own; the others have types
            walk.node(node)
    found = {value: known.type for value, known in walk.known.items()}
    inside: dict[ir.Value, AnyValueType] = {}
    for call in state.inside:
        for value, known in call.items():
            inside[value] = _merged(inside.get(value), known.type)
    return {**found, **inside}


def _merged(before: AnyValueType | None, now: AnyValueType) -> AnyValueType:
    try:
        return now if before is None else merge_types(before, now)
    except Different:
        return NOTHING.type
