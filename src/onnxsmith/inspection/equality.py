"""`a.equals(b)`: whether two models are the same graph with the same content, and where they first differ.

Nodes are compared in the order of the file. Weights are compared by content, wherever they lie and whatever they are
called; doc strings and metadata say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.graphs.elements import differing, read_only
from onnxsmith.graphs.identity import ISOMORPHIC
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.rewriting.scopes import held_tensor, named_outputs
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.inspection.attributes import shown_attribute
from onnxsmith.inspection.node import Graph, Node
from onnxsmith.inspection.nodes import Nodes, nodes_of

#: Elements that are compared at once: a comparison makes an array of truth values.
_AT_ONCE = 1 << 22
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Equality:
    """The result of comparing two models: true if they are equal, and else with the first difference in words.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> model.equals(trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"]))
    equal
    """

    #: None where they are equal.
    difference: str | None = None
    #: The node, in the first and in the second model, where they differ; empty where it is not about a node.
    address: str = ""

    def __bool__(self) -> bool:
        return self.difference is None

    def __repr__(self) -> str:
        return "equal" if self.difference is None else printable(f"not equal: {self.difference}")


class _Different(Exception):
    def __init__(self, words: str, address: str = "") -> None:
        super().__init__(words)
        self.words = words
        self.address = address


@model_boundary
def equals(model: ModelLike, other: ModelLike, *, names: bool = False) -> Equality:
    """True if another model is the same: nodes, attributes, inputs and outputs, weights by content.

    What values and nodes are called decides only with `names=True`; the inputs and outputs of the model always keep
    their names. The result is true or false, and says where the first difference is.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(a) * 2.0, FLOAT["N"])
    >>> model.equals(model.rename({"relu": "r"}))
    equal
    >>> model.equals(trace(lambda a: op.Relu(a) * 3.0, FLOAT["N"]))
    not equal: input 1 of node 1 (Mul), the weight 'const': it is 2.0 and 3.0
    """
    model = model_of(model, "equals")
    other = model_of(other, "equals")
    return is_same_graph(model, other, names=names)


def is_same_graph(
    model: Model,
    other: Model,
    known: Iterable[tuple[ir.TensorProtocol, ir.TensorProtocol]] = (),
    *,
    names: bool = False,
) -> Equality:
    """Compare two models, with pairs of tensors that are known to be equal and need not be read."""
    comparison = _Comparison(nodes_of(model), nodes_of(other), names, known)
    try:
        comparison.models(model, other)
    except _Different as found:
        return Equality(found.words, found.address)
    return Equality()


class _Comparison:
    def __init__(
        self,
        left: Nodes,
        right: Nodes,
        names: bool,
        known: Iterable[tuple[ir.TensorProtocol, ir.TensorProtocol]],
    ) -> None:
        self._left, self._right = left, right
        self._names = names
        self._pairs: dict[ir.Value, ir.Value] = {}
        #: Weights that were compared already: those of two models are often shared by many nodes.
        self._compared: set[tuple[int, int]] = {(id(one), id(two)) for one, two in known}

    def models(self, model: Model, other: Model) -> None:
        used = {node.domain for node in self._left}
        for domain in used:
            versions = [each.opset_imports.get(domain) for each in (model, other)]
            if versions[0] != versions[1]:
                raise _Different(f"opset {versions[0]} of {domain or 'ai.onnx'}, and {versions[1]}")
        for what in ("inputs", "optional_inputs", "outputs"):
            ports = [[(each.name, each.type) for each in getattr(one, what)] for one in (model, other)]
            if ports[0] != ports[1]:
                raise _Different(
                    f"the {what.replace('_', ' ')} are {_ports(ports[0])}, and {_ports(ports[1])}"
                )
        functions = self._left.functions, self._right.functions
        if functions[0].keys() != functions[1].keys():
            only = sorted(functions[0].keys() ^ functions[1].keys())[0]
            raise _Different(f"only one of them has the function '{clipped(only, _LONGEST_NAME)}'")
        self.graphs(self._left.graph, self._right.graph)
        for name, function in functions[0].items():
            self.functions(function, functions[1][name])

    def functions(self, left: Graph, right: Graph) -> None:
        where = f"function {clipped(left.name, _LONGEST_NAME)}"
        for domain in dict.fromkeys(node.domain for node in left.ir.all_nodes()):
            versions = [each.ir.opset_imports.get(domain) for each in (left, right)]
            if versions[0] != versions[1]:
                raise _Different(
                    f"{where} has opset {versions[0]} of {domain or 'ai.onnx'}, and {versions[1]}"
                )
        ours, theirs = left.parameters, right.parameters
        for name in sorted(ours.keys() ^ theirs.keys()):
            raise _Different(f"only one of them has the parameter '{name}' at {where}")
        for name, one in ours.items():
            two = theirs[name]
            if one.value is None and two.value is None:
                continue  # without a default the file has a name and no type
            self.attribute(one, two, f"the default of '{name}' at {where}", "")
        self.graphs(left, right)

    def graphs(self, left: Graph, right: Graph) -> None:
        where = "the graph" if left.kind == "main" else f"{left.kind} {left.address}"
        for what in ("input", "output"):
            counts = [len(getattr(each.ir, f"{what}s")) for each in (left, right)]
            if counts[0] != counts[1]:
                raise _Different(f"{where} has {counts[0]} {what}s, and {counts[1]}")
        self._pairs.update(zip(left.ir.inputs, right.ir.inputs, strict=True))
        nodes = left.nodes, right.nodes
        for one, two in zip(*nodes, strict=False):
            self.nodes(one, two)
        if len(nodes[0]) != len(nodes[1]):
            raise _Different(f"{where} has {len(nodes[0])} nodes, and {len(nodes[1])}")
        for number, (one, two) in enumerate(zip(left.ir.outputs, right.ir.outputs, strict=True)):
            self.values(one, two, f"output {number} of {where}", "")

    def nodes(self, left: Node, right: Node) -> None:
        here = f"node {left.address} ({left.operator})"
        if left.operator != right.operator or left.ir.overload != right.ir.overload:
            raise _Different(f"{here} is {right.operator}", left.address)
        if self._names and left.name != right.name:
            raise _Different(f"{here} is called '{left.name}', and '{right.name}'", left.address)
        inputs = _given(left.ir), _given(right.ir)
        outputs = named_outputs(left.ir), named_outputs(right.ir)
        for what, one, two in (("inputs", *inputs), ("outputs", *outputs)):
            if len(one) != len(two):
                raise _Different(f"{here} has {len(one)} {what}, and {len(two)}", left.address)
        for number, (one, two) in enumerate(zip(*inputs, strict=True)):
            self.values(one, two, f"input {number} of {here}", left.address)
        self.attributes(left, right, here)
        for one, two in zip(*outputs, strict=True):
            if self._names and one.name != two.name:
                raise _Different(f"{here} gives '{one.name}', and '{two.name}'", left.address)
            self._pairs[one] = two

    def values(self, left: ir.Value | None, right: ir.Value | None, where: str, address: str) -> None:
        if left is None or right is None:
            if left is not right:
                raise _Different(f"{where} is left out in one of them", address)
            return
        one, two = held_tensor(left), held_tensor(right)
        if one is not None and two is not None:
            called = f"{where}, the weight '{clipped(left.name or '', _LONGEST_NAME)}'"
            if self._names and left.name != right.name:
                raise _Different(
                    f"{called}: the other is '{clipped(right.name or '', _LONGEST_NAME)}'", address
                )
            self.tensors(one, two, called, address)
        elif self._pairs.get(left) is not right:
            raise _Different(f"{where} is '{left.name}', and another value, '{right.name}'", address)

    def tensors(self, left: ir.TensorProtocol, right: ir.TensorProtocol, where: str, address: str) -> None:
        if left is right or (id(left), id(right)) in self._compared:
            return
        kinds = [f"{each.dtype.name}{list(dimensions_of(each))}" for each in (left, right)]
        if kinds[0] != kinds[1]:
            raise _Different(f"{where}: {kinds[0]} and {kinds[1]}", address)
        words = first_difference(read_only(left), read_only(right))
        if words is not None:
            raise _Different(f"{where}: {words}", address)
        self._compared.add((id(left), id(right)))

    def attributes(self, left: Node, right: Node, here: str) -> None:
        ours, theirs = left.ir.attributes, right.ir.attributes
        for name in sorted(ours.keys() ^ theirs.keys()):
            raise _Different(f"only one of them has the attribute '{name}' at {here}", left.address)
        for name, one in ours.items():
            two = theirs[name]
            if one.type in _GRAPHS and one.type == two.type and not (one.is_ref() or two.is_ref()):
                for each in self._bodies(left, right, name):
                    self.graphs(*each)
            else:
                self.attribute(one, two, f"attribute '{name}' of {here}", left.address)

    def attribute(self, one: ir.Attr, two: ir.Attr, where: str, address: str) -> None:
        """Compare attributes that hold no graphs."""
        if one.type != two.type or one.is_ref() != two.is_ref():
            raise _Different(f"{where} is {one.type.name}, and {two.type.name}", address)
        if one.is_ref() or one.type not in _TENSORS:
            self._plain(one, two, where, address)
            return
        tensors = [_tensors(each) for each in (one, two)]
        if len(tensors[0]) != len(tensors[1]):
            raise _Different(f"{where} has {len(tensors[0])} tensors, and {len(tensors[1])}", address)
        for first, second in zip(*tensors, strict=True):
            self.tensors(first, second, where, address)

    def _plain(self, one: ir.Attr, two: ir.Attr, where: str, address: str) -> None:
        if ISOMORPHIC.attribute(one) != ISOMORPHIC.attribute(two) and not are_same_floats(one, two):
            raise _Different(f"{where} is {shown_attribute(one)}, and {shown_attribute(two)}", address)

    def _bodies(self, left: Node, right: Node, name: str) -> Iterator[tuple[Graph, Graph]]:
        one, two = (
            view.bodies_of(node.ir).get(name, ()) for view, node in ((self._left, left), (self._right, right))
        )
        pairs = [each if isinstance(each, tuple) else (each,) for each in (one, two)]
        if len(pairs[0]) != len(pairs[1]):
            raise _Different(
                f"attribute '{name}' of node {left.address} has another number of bodies", left.address
            )
        yield from zip(*pairs, strict=True)


_GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
_TENSORS = (ir.AttributeType.TENSOR, ir.AttributeType.TENSORS, ir.AttributeType.SPARSE_TENSOR)
_FLOATS = (ir.AttributeType.FLOAT, ir.AttributeType.FLOATS)


def _tensors(attribute: ir.Attr) -> Sequence[ir.TensorProtocol]:
    value: Any = attribute.value
    if attribute.type == ir.AttributeType.SPARSE_TENSOR:
        return (SparseTensor(value),)
    return (value,) if attribute.type == ir.AttributeType.TENSOR else tuple(value)


def are_same_floats(one: ir.Attr, two: ir.Attr) -> bool:
    """True if two attributes are floats of the same values, and at most NaN is of another kind."""
    if any(each.type not in _FLOATS or each.is_ref() or each.value is None for each in (one, two)):
        return False
    with np.errstate(over="ignore"):
        left, right = (
            np.asarray(each.value, np.float64).astype(np.float32).reshape(-1) for each in (one, two)
        )
    return left.shape == right.shape and not differing(left, right).any()


def _given(node: ir.Node) -> list[ir.Value | None]:
    """The inputs up to the last that is given: empty names behind it say nothing."""
    inputs = list(node.inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs


def _ports(ports: Sequence[tuple[str, object]]) -> str:
    return clipped(", ".join(f"{name}: {kind!r}" for name, kind in ports), 300)


def first_difference(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> str | None:
    """Where two arrays of one type and shape first differ, in words; None where they do not."""
    if left is right:
        return None
    one, two = left.reshape(-1), right.reshape(-1)
    for start in range(0, one.size, _AT_ONCE):
        a, b = one[start : start + _AT_ONCE], two[start : start + _AT_ONCE]
        differs = differing(a, b)
        if differs.any():
            at = int(np.argmax(differs))
            index = np.unravel_index(start + at, left.shape)
            shown = index[0] if len(index) == 1 else tuple(int(each) for each in index)
            count = int(differs.sum())
            more = f", one of {count}" if count > 1 else ""
            return f"element {shown} is {a[at]} and {b[at]}{more}" if index else f"it is {a[at]} and {b[at]}"
    return None
