"""Functions that differ in one way, for the laws of identity: drawn as protos, so that a change is known by its making.

A change says what it touches: nothing, the names of nodes and values, places in the source, declared types, or content.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

Touched = Literal["nothing", "names", "places", "types", "content"]
Change = Callable[[random.Random, onnx.FunctionProto], bool]

_UNARY = ("Relu", "Tanh", "Exp", "Neg", "Abs", "Sigmoid", "Erf")
_BINARY = ("Add", "Mul", "Sub", "Max")
#: Floats that are easily taken for each other, as a file stores them.
FLOATS = tuple(
    struct.unpack("<f", each)[0]
    for each in (
        *(struct.pack("<f", number) for number in (0.0, -0.0, 1.0, 0.1, float("inf"), float("-inf"))),
        *(bits.to_bytes(4, "little") for bits in (0x7FC00000, 0xFFC00000, 0x7FC00001)),
    )
)
TEXTS = (b"", b"a", b"b'a'", b"'a'", b"1", b"1.0", b"nan", "ä".encode())
_KINDS: tuple[Any, ...] = (np.float32, np.float16, np.int64, np.int32, np.uint8, np.bool_, object)


def tensor(draw: random.Random, size: int | None = None) -> onnx.TensorProto:
    """A tensor of any kind; of text, and of numbers that are easily taken for each other."""
    kind = draw.choice(_KINDS)
    count = draw.choice((0, 1, 2, 3, 6)) if size is None else size
    if kind is object:
        elements = [draw.choice(TEXTS) for _ in range(count)]
        return helper.make_tensor("t", TensorProto.STRING, [count], elements)
    array = np.array([draw.choice(FLOATS if np.dtype(kind).kind == "f" else (0, 1)) for _ in range(count)])
    with np.errstate(all="ignore"):
        return numpy_helper.from_array(array.astype(kind), "t")


def attribute(draw: random.Random, name: str) -> AttributeProto:
    """An attribute of any kind but a graph."""
    kind = draw.randrange(8)
    made = AttributeProto(name=name)
    if kind == 0:
        made.type, made.i = AttributeProto.INT, draw.choice((0, 1, -1, 7))
    elif kind == 1:
        made.type, made.f = AttributeProto.FLOAT, draw.choice(FLOATS)
    elif kind == 2:
        made.type, made.s = AttributeProto.STRING, draw.choice(TEXTS)
    elif kind == 3:
        made.type = AttributeProto.INTS
        made.ints.extend(draw.choice((0, 1)) for _ in range(draw.randrange(3)))
    elif kind == 4:
        made.type = AttributeProto.FLOATS
        made.floats.extend(draw.choice(FLOATS) for _ in range(draw.randrange(3)))
    elif kind == 5:
        made.type = AttributeProto.STRINGS
        made.strings.extend(draw.choice(TEXTS) for _ in range(draw.randrange(3)))
    elif kind == 6:
        made.type = AttributeProto.TENSOR
        made.t.CopyFrom(tensor(draw))
    else:
        made.type = AttributeProto.TYPE_PROTO
        made.tp.CopyFrom(helper.make_tensor_type_proto(draw.choice((1, 7)), draw.choice(([2], ["N"], None))))
    return made


def function(draw: random.Random) -> onnx.FunctionProto:
    """A function of up to ten nodes, some of them with graphs inside, which read values around them."""
    made = onnx.FunctionProto(name="f", domain="d", input=["x", "y", "c"], attribute=["k"])
    made.opset_import.append(helper.make_opsetid("", 21))
    made.node.extend(_nodes(draw, ["x", "y"], "v", draw.randint(3, 8), 0))
    made.output.extend(made.node[-1].output)
    return made


def _nodes(
    draw: random.Random, values: list[str], prefix: str, count: int, depth: int
) -> Iterator[onnx.NodeProto]:
    known = list(values)
    for number in range(count):
        name = f"{prefix}{number}"
        if draw.random() < 0.25 and depth < 2:
            branches = [_graph(draw, known, f"{name}{side}", depth + 1) for side in "te"]
            node = helper.make_node("If", ["c"], [name], then_branch=branches[0], else_branch=branches[1])
        elif draw.random() < 0.1 and depth < 2:
            several = [
                _graph(draw, known, f"{name}{side}", depth + 1) for side in "abc"[: draw.randint(1, 3)]
            ]
            node = helper.make_node("Many", [draw.choice(known)], [name], bodies=several)
        elif draw.random() < 0.5:
            node = helper.make_node(draw.choice(_UNARY), [draw.choice(known)], [name])
        else:
            node = helper.make_node(draw.choice(_BINARY), [draw.choice(known), draw.choice(known)], [name])
        node.name = f"node {name}"
        node.attribute.extend(attribute(draw, f"a{each}") for each in range(draw.randrange(3)))
        if draw.random() < 0.2:
            node.attribute.append(AttributeProto(name="r", type=AttributeProto.FLOAT, ref_attr_name="k"))
        known.append(name)
        yield node


def _graph(draw: random.Random, values: list[str], prefix: str, depth: int) -> onnx.GraphProto:
    weight = tensor(draw)
    weight.name = f"{prefix}w"
    nodes = list(_nodes(draw, [*values, weight.name], prefix, draw.randint(1, 3), depth))
    output = helper.make_tensor_value_info(nodes[-1].output[0], 1, ["N"])
    return helper.make_graph(nodes, prefix, [], [output], [weight])


# -- one change --------------------------------------------------------------------------------------------


def graphs(made: onnx.FunctionProto) -> Iterator[onnx.GraphProto]:
    """The graphs inside a function."""
    waiting = list(made.node)
    while waiting:
        for each in waiting.pop().attribute:
            for graph in (each.g,) if each.type == AttributeProto.GRAPH else each.graphs:
                yield graph
                waiting.extend(graph.node)


def nodes(made: onnx.FunctionProto) -> list[onnx.NodeProto]:
    """All nodes of a function."""
    return [*made.node, *(node for graph in graphs(made) for node in graph.node)]


def _renamed_value(draw: random.Random, made: onnx.FunctionProto) -> bool:
    old = draw.choice(draw.choice(nodes(made)).output)
    for node in nodes(made):
        node.input[:] = ["new" if each == old else each for each in node.input]
        node.output[:] = ["new" if each == old else each for each in node.output]
    for graph in graphs(made):
        for port in graph.output:
            port.name = "new" if port.name == old else port.name
    made.output[:] = ["new" if each == old else each for each in made.output]
    return True


def _renamed_node(draw: random.Random, made: onnx.FunctionProto) -> bool:
    draw.choice(nodes(made)).name += "x"
    return True


def _other_place(draw: random.Random, made: onnx.FunctionProto) -> bool:
    node = draw.choice(nodes(made))
    if draw.random() < 0.5:
        node.metadata_props.add(key="source", value="there")
    else:
        node.doc_string += "x"
    return True


def _other_type(draw: random.Random, made: onnx.FunctionProto) -> bool:
    found = list(graphs(made))
    if not found:
        return False
    draw.choice(found).output[0].type.tensor_type.shape.dim[0].dim_param = "M"
    return True


def _other_operator(draw: random.Random, made: onnx.FunctionProto) -> bool:
    draw.choice(nodes(made)).op_type += "X"
    return True


def _other_overload(draw: random.Random, made: onnx.FunctionProto) -> bool:
    draw.choice(nodes(made)).overload += "x"
    return True


def _other_domain(draw: random.Random, made: onnx.FunctionProto) -> bool:
    draw.choice(nodes(made)).domain = "other"
    return True


def _spelled_domain(draw: random.Random, made: onnx.FunctionProto) -> bool:
    draw.choice(nodes(made)).domain = "ai.onnx"
    return True


def _other_input(draw: random.Random, made: onnx.FunctionProto) -> bool:
    node = draw.choice(nodes(made))
    place = draw.randrange(len(node.input))
    other = draw.choice([each for each in ("x", "y", "c") if each != node.input[place]])
    node.input[place] = other
    return True


def _left_out_input(draw: random.Random, made: onnx.FunctionProto) -> bool:
    node = draw.choice(nodes(made))
    node.input[draw.randrange(len(node.input))] = ""
    return True


def _nothing_at_the_end(draw: random.Random, made: onnx.FunctionProto) -> bool:
    draw.choice(nodes(made)).input.append("")
    return True


def _one_more_output(draw: random.Random, made: onnx.FunctionProto) -> bool:
    draw.choice(nodes(made)).output.append(draw.choice(("", "more")))
    return True


def _held(made: onnx.FunctionProto) -> list[tuple[onnx.NodeProto, int]]:
    return [
        (node, place)
        for node in nodes(made)
        for place, each in enumerate(node.attribute)
        if each.type not in (AttributeProto.GRAPH, AttributeProto.GRAPHS)
    ]


def _other_attribute(draw: random.Random, made: onnx.FunctionProto) -> bool:
    found = _held(made)
    if not found:
        return False
    node, place = draw.choice(found)
    old = node.attribute[place]
    new = attribute(draw, old.name)
    if _content(new) == _content(old):
        return False
    old.CopyFrom(new)
    return True


def _content(made: AttributeProto) -> bytes:
    return made.SerializeToString(deterministic=True)


def _renamed_attribute(draw: random.Random, made: onnx.FunctionProto) -> bool:
    found = _held(made)
    if not found:
        return False
    node, place = draw.choice(found)
    node.attribute[place].name += "x"
    return True


def _other_order_of_attributes(draw: random.Random, made: onnx.FunctionProto) -> bool:
    node = draw.choice(nodes(made))
    copies = [AttributeProto.FromString(each.SerializeToString()) for each in node.attribute]
    del node.attribute[:]
    node.attribute.extend(reversed(copies))
    return True


def _other_weight(draw: random.Random, made: onnx.FunctionProto) -> bool:
    read = {name for node in nodes(made) for name in node.input}
    found = [graph.initializer[0] for graph in graphs(made) if graph.initializer[0].name in read]
    if not found:
        return False
    old = draw.choice(found)
    new = tensor(draw)
    new.name = old.name
    if (old.data_type, old.dims, old.raw_data, old.string_data) == (
        *(new.data_type, new.dims),
        *(new.raw_data, new.string_data),
    ):
        return False
    old.CopyFrom(new)
    return True


def _renamed_weight(draw: random.Random, made: onnx.FunctionProto) -> bool:
    read = {name for node in nodes(made) for name in node.input}
    found = [graph.initializer[0] for graph in graphs(made) if graph.initializer[0].name in read]
    if not found:
        return False
    weight = draw.choice(found)
    old, weight.name = weight.name, "new"
    for node in nodes(made):
        node.input[:] = ["new" if each == old else each for each in node.input]
    return True


def _fewer_nodes(draw: random.Random, made: onnx.FunctionProto) -> bool:
    made.node.add(op_type="Relu", input=["x"], output=["unread"], name="unread")
    return True


def _nothing(draw: random.Random, made: onnx.FunctionProto) -> bool:
    return True


CHANGES: list[tuple[str, Touched, Change]] = [
    ("nothing", "nothing", _nothing),
    ("another order of attributes", "nothing", _other_order_of_attributes),
    ("an input is left out at the end", "nothing", _nothing_at_the_end),
    ("the domain is spelled", "nothing", _spelled_domain),
    ("another name of a value", "names", _renamed_value),
    ("another name of a weight", "names", _renamed_weight),
    ("another name of a node", "names", _renamed_node),
    ("another place", "places", _other_place),
    ("another declared type", "types", _other_type),
    ("another operator", "content", _other_operator),
    ("another overload", "content", _other_overload),
    ("another domain", "content", _other_domain),
    ("another input", "content", _other_input),
    ("an input is left out", "content", _left_out_input),
    ("one more output", "content", _one_more_output),
    ("another attribute", "content", _other_attribute),
    ("another attribute", "content", _other_attribute),
    ("another name of an attribute", "content", _renamed_attribute),
    ("another weight", "content", _other_weight),
    ("one more node", "content", _fewer_nodes),
]


def pairs(seed: int) -> Iterator[tuple[str, Touched, onnx.FunctionProto, onnx.FunctionProto]]:
    """What a change touches, a function, and the same function with the change."""
    draw = random.Random(seed)
    while True:
        name, touched, change = draw.choice(CHANGES)
        one = function(draw)
        other = onnx.FunctionProto.FromString(one.SerializeToString())
        before = other.SerializeToString(deterministic=True)
        if change(draw, other):
            if touched == "content" and other.SerializeToString(deterministic=True) == before:
                continue
            yield name, touched, one, other
