"""Random graphs, the same under other names or in another order, and single edits of them."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

UNARY = ("Relu", "Tanh", "Exp", "Neg", "Abs", "Sigmoid", "Softplus", "Erf")
BINARY = ("Add", "Mul", "Sub", "Max")


def random_model(seed: int, nodes: int = 30) -> onnx.ModelProto:
    """A graph of unary and binary operators, some of them on weights, some in the branches of an If."""
    draw = random.Random(seed)
    values = ["x", "y"]
    made: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    for number in range(nodes):
        name, kind = f"v{number}", draw.random()
        recent = values[-6:]
        if kind < 0.4:
            made.append(
                helper.make_node(draw.choice(UNARY), [draw.choice(recent)], [name], name=f"n{number}")
            )
        elif kind < 0.6:
            weight = np.random.default_rng(seed * 1000 + number).random(4, dtype=np.float32)
            weights.append(numpy_helper.from_array(weight, f"w{number}"))
            inputs = [draw.choice(recent), f"w{number}"]
            made.append(helper.make_node(draw.choice(BINARY), inputs, [name], name=f"n{number}"))
        elif kind < 0.85:
            inputs = [draw.choice(recent), draw.choice(recent)]
            made.append(helper.make_node(draw.choice(BINARY), inputs, [name], name=f"n{number}"))
        elif kind < 0.95:
            axis = draw.choice([0, -1])
            made.append(
                helper.make_node("Softmax", [draw.choice(recent)], [name], name=f"n{number}", axis=axis)
            )
        else:
            made.append(_branch(draw, recent, name, number))
        values.append(name)
    read = {each for node in made for each in node.input}
    ends = [name for name in values if name not in read and name not in ("x", "y")] or values[-1:]
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [4])
    graph = helper.make_graph(
        made,
        "g",
        [
            *(helper.make_value_info(name, kind) for name in ("x", "y")),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_value_info(name, kind) for name in ends],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _branch(draw: random.Random, recent: list[str], name: str, number: int) -> onnx.NodeProto:
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [4])
    bodies = {}
    for title in ("then_branch", "else_branch"):
        first, last = f"{name}_{title}_a", f"{name}_{title}_b"
        nodes = [
            helper.make_node(draw.choice(UNARY), [draw.choice(recent)], [first], name=f"{first}n"),
            helper.make_node(draw.choice(BINARY), [first, draw.choice(recent)], [last], name=f"{last}n"),
        ]
        bodies[title] = helper.make_graph(nodes, title, [], [helper.make_value_info(last, kind)])
    return helper.make_node("If", ["c"], [name], name=f"n{number}", **bodies)


def renamed(model: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """The same under other names of nodes, weights and values; inputs and outputs keep theirs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    draw = random.Random(seed)
    fixed = {each.name for each in (*model.graph.input, *model.graph.output)}
    names: dict[str, str] = {}

    def name(old: str) -> str:
        if not old or old in fixed:
            return old
        return names.setdefault(old, f"r{draw.randrange(10**9)}_{len(names)}")

    def rename(graph: onnx.GraphProto) -> None:
        graph.name = "another"
        for each in (*graph.initializer, *graph.value_info, *graph.input, *graph.output):
            each.name = name(each.name)
        for node in graph.node:
            node.name = f"k{draw.randrange(10**9)}"
            node.input[:] = [name(each) for each in node.input]
            node.output[:] = [name(each) for each in node.output]
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    rename(attribute.g)

    rename(copy.graph)
    return copy


def reordered(model: onnx.ModelProto, seed: int) -> tuple[onnx.ModelProto, list[int]]:
    """The same with nodes and weights in another order that is allowed; and the old number of each node."""
    draw = random.Random(seed)
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = list(model.graph.node)
    ready = {each.name for each in (*model.graph.input, *model.graph.initializer)}
    waiting = list(range(len(nodes)))
    order: list[int] = []
    while waiting:
        able = [each for each in waiting if _reads(nodes[each]) <= ready]
        taken = draw.choice(able)
        waiting.remove(taken)
        order.append(taken)
        ready.update(nodes[taken].output)
    del copy.graph.node[:]
    copy.graph.node.extend(nodes[each] for each in order)
    weights = list(model.graph.initializer)
    draw.shuffle(weights)
    del copy.graph.initializer[:]
    copy.graph.initializer.extend(weights)
    return copy, order


def _reads(node: onnx.NodeProto) -> set[str]:
    found = set(node.input)
    for attribute in node.attribute:
        inside = {name for each in attribute.g.node for name in each.output}
        found |= {name for each in attribute.g.node for name in each.input} - inside
    return found


def other_operator(model: onnx.ModelProto, draw: random.Random) -> int:
    """Another operator in the place of one; gives the number of the node."""
    able = [k for k, node in enumerate(model.graph.node) if node.op_type in (*UNARY, *BINARY)]
    place = draw.choice(able)
    node = model.graph.node[place]
    family = UNARY if node.op_type in UNARY else BINARY
    node.op_type = draw.choice([each for each in family if each != node.op_type])
    return place


def other_attribute(model: onnx.ModelProto, draw: random.Random) -> int | None:
    able = [k for k, node in enumerate(model.graph.node) if node.op_type == "Softmax"]
    if not able:
        return None
    place = draw.choice(able)
    model.graph.node[place].attribute[0].i ^= -1  # 0 and -1
    return place


def other_weight(model: onnx.ModelProto, draw: random.Random) -> str | None:
    """Another number in a weight; gives its name."""
    if not model.graph.initializer:
        return None
    tensor = draw.choice(list(model.graph.initializer))
    array = numpy_helper.to_array(tensor).copy()
    array[draw.randrange(array.size)] += 1
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return tensor.name


def inserted(model: onnx.ModelProto, draw: random.Random) -> int:
    """A node between one and all that reads it; gives the number of the new node."""
    outputs = {each.name for each in model.graph.output}
    able = [k for k, node in enumerate(model.graph.node) if node.output[0] not in outputs]
    place = draw.choice(able)
    name = model.graph.node[place].output[0]
    new = helper.make_node("Ceil", [name], ["inserted"], name="inserted_node")
    for node in model.graph.node:
        node.input[:] = ["inserted" if each == name else each for each in node.input]
        for attribute in node.attribute:
            for inner in attribute.g.node:
                inner.input[:] = ["inserted" if each == name else each for each in inner.input]
    nodes = list(model.graph.node)
    nodes.insert(place + 1, new)
    copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
    del model.graph.node[:]
    model.graph.node.extend(copies)
    return place + 1


def inside(model: onnx.ModelProto, draw: random.Random) -> str | None:
    """Another operator in a branch; gives the address of the node."""
    able = [k for k, node in enumerate(model.graph.node) if node.op_type == "If"]
    if not able:
        return None
    place = draw.choice(able)
    attribute = draw.choice(list(model.graph.node[place].attribute))
    node = attribute.g.node[0]
    node.op_type = draw.choice([each for each in UNARY if each != node.op_type])
    return f"{place}.{attribute.name}.0"


Edit = Callable[[onnx.ModelProto, random.Random], object]
