"""The law of *value numbers*: one operator on the same values has one; random and foreign nodes have none.

The definition compares attributes as a file stores them. The pass that shares nodes is asked, too: it makes one node of
two if they share a number.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import onnx
import onnx_ir as ir
from onnx import AttributeProto

from onnxsmith.graphs.identity import number_of_call, value_number
from onnxsmith.passes.cleanup.subexpressions import share_nodes
from onnxsmith.passes.editor import Editor
from tests.graphs.identity_cases import attribute
from tests.laws.named import Law, Verdict

_OPERATORS = ("Relu", "Add", "Softmax", "Bernoulli", "RandomUniformLike", "Dropout")
_DOMAINS = ("", "", "", "ai.onnx", "ai.onnx.ml", "com.microsoft", "mine")
_RANDOM = ("Bernoulli", "RandomUniformLike")


class Drawn:
    """A node as it is drawn: its parts can be changed one at a time."""

    def __init__(self, draw: random.Random, values: list[ir.Value]) -> None:
        self.domain = draw.choice(_DOMAINS)
        self.op_type = draw.choice(_OPERATORS)
        self.inputs: list[ir.Value | None] = draw.choices([*values, None], k=draw.randint(0, 3))
        self.outputs = draw.choice((["y"], ["y"], ["y", ""], ["y", "z"]))
        self.attributes = {f"a{place}": attribute(draw, f"a{place}") for place in range(draw.randrange(3))}

    def changed(self, draw: random.Random, values: list[ir.Value]) -> Drawn:
        """Another one that differs in one way, or in none."""
        other = object.__new__(Drawn)
        other.__dict__.update(self.__dict__)
        part = draw.choice(("none", "domain", "op_type", "inputs", "order", "end", "outputs", "attributes"))
        fresh = Drawn(draw, values)
        if part == "order":
            other.inputs = list(reversed(self.inputs))
        elif part == "end":
            other.inputs = [*self.inputs, None]
        elif part == "attributes" and self.attributes:
            name = draw.choice(list(self.attributes))
            other.attributes = {**self.attributes, name: attribute(draw, name)}
        elif part in other.__dict__:
            setattr(other, part, getattr(fresh, part))
        return other

    def node(self) -> ir.Node:
        """The node, with a body for none of them."""
        held = [ir.serde.deserialize_attribute(each) for each in self.attributes.values()]
        node = ir.Node(self.domain, self.op_type, self.inputs, held, num_outputs=len(self.outputs))
        for value, name in zip(node.outputs, self.outputs, strict=True):
            value.name = name
        return node

    def meaning(self) -> object | None:
        """Equal for nodes that give the same values; None for those that equal none."""
        is_standard = self.domain in ("", "ai.onnx")
        if not is_standard and self.domain != "ai.onnx.ml":
            return None
        if is_standard and (self.op_type in _RANDOM or (self.op_type == "Dropout" and len(self.inputs) > 2)):
            return None
        taken = [None if each is None else id(each) for each in self.inputs]
        if not taken:
            return None
        while taken and taken[-1] is None:
            taken.pop()
        stored = {name: each.SerializeToString(deterministic=True) for name, each in self.attributes.items()}
        present = tuple(bool(each) for each in self.outputs)
        return (
            "" if is_standard else self.domain,
            self.op_type,
            tuple(taken),
            present,
            sorted(stored.items()),
        )


def _shared(one: ir.Node, other: ir.Node, values: list[ir.Value]) -> bool:
    """Whether the pass makes one node of two whose results are read."""
    readers: list[ir.Node] = []
    for number, node in enumerate((one, other)):
        for value in node.outputs:
            value.name = f"{value.name}{number}" if value.name else ""
        readers.append(ir.Node("", "Neg", [node.outputs[0]], num_outputs=1))
        readers[-1].outputs[0].name = f"r{number}"
    graph = ir.Graph(
        values,
        [each.outputs[0] for each in readers],
        nodes=[one, other, *readers],
        opset_imports={"": 21},
        name="g",
    )
    return share_nodes(Editor(ir.Model(graph, ir_version=10))) > 0


def _verdicts(seed: int) -> Iterator[Verdict]:
    draw = random.Random(seed)
    while True:
        values = [ir.Value(name=name) for name in ("x", "x", "w")]  # a name says nothing
        one = Drawn(draw, values)
        other = one.changed(draw, values)
        meanings = [each.meaning() for each in (one, other)]
        wanted = meanings[0] is not None and meanings[0] == meanings[1]
        numbers = [value_number(each.node()) for each in (one, other)]
        found = {"number": numbers[0] is not None and numbers[0] == numbers[1]}
        values[1].name = "y"
        found["pass"] = _shared(one.node(), other.node(), values)
        calls = [_call(each) for each in (one, other)]
        found["call"] = calls[0] is not None and calls[0] == calls[1] if _is_plain(one, other) else wanted
        if set(found.values()) == {wanted}:
            yield Verdict("equal")
        else:
            yield Verdict("wrong", f"{vars(one)} and {vars(other)}: wanted {wanted}, {found}")


def _is_plain(one: Drawn, other: Drawn) -> bool:
    """True if calls that become no nodes yet may be like these: of ONNX's own domain, with plain attributes."""
    plain = (AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING)
    return all(
        each.domain == ""
        and each.op_type != "Dropout"
        and each.inputs
        and each.inputs[-1] is not None
        and each.outputs == ["y"]
        and all(held.type in plain for held in each.attributes.values())
        for each in (one, other)
    )


def _call(drawn: Drawn) -> object | None:
    attributes = {
        name: onnx.helper.get_attribute_value(each) if each.type != AttributeProto.STRING else each.s.decode()
        for name, each in drawn.attributes.items()
    }
    return number_of_call(drawn.op_type, drawn.inputs, attributes, len(drawn.outputs))


LAW = Law("nodes share a value number if they are one operator on the same values", 2000, _verdicts)
