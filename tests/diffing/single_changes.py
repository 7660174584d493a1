"""The law of `diff`: a change of one node, edge, attribute or weight at any depth is found, and new names are none.

A change that gives an edge a value which is computed in the same way from the same is no difference; `_Meaning` tells,
independently of the code that is tested.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import onnx
from onnx import numpy_helper

from onnxsmith import Model, diff
from tests.decompile.nested_graphs import nested_model
from tests.diffing.graphs import random_model
from tests.laws.named import Law, Verdict

_OTHER = {
    "Add": "Sub",
    "Sub": "Add",
    "Max": "Min",
    "Min": "Max",
    "And": "Or",
    "Or": "Xor",
    "Xor": "And",
    "Less": "Greater",
    "Not": "Identity",
    "Mul": "Add",
    "Relu": "Tanh",
    "Tanh": "Relu",
    "Exp": "Neg",
    "Neg": "Exp",
    "Abs": "Erf",
    "Sigmoid": "Abs",
    "Softplus": "Abs",
    "Erf": "Abs",
}

#: What is changed; edges are many.
_KINDS = (
    *("operator", "edge", "edge", "weight", "lost weight", "constant", "result"),
    *("inserted", "attribute", "input type", "other output"),
)


class _Meaning:
    """Numbers for values, equal where two are computed in the same way from the same."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}

    def number(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def graph(self, graph: onnx.GraphProto, around: dict[str, int], depth: int) -> dict[str, int]:
        """What each name means at the end of a graph."""
        known = dict(around)
        for place, each in enumerate(graph.input):
            known[each.name] = self.number(("input", depth, place))
        for each in graph.initializer:
            known[each.name] = self.number(("weight", _content(each)))
        for node in graph.node:
            self.node(node, known, depth)
        return known

    def node(self, node: onnx.NodeProto, known: dict[str, int], depth: int) -> None:
        parts: list[object] = [node.domain, node.op_type, tuple(known.get(name, -1) for name in node.input)]
        for each in sorted(node.attribute, key=lambda each: each.name):
            if each.HasField("g"):
                inside = self.graph(each.g, known, depth + 1)
                parts.append((each.name, tuple(inside.get(port.name, -1) for port in each.g.output)))
            else:
                parts.append(
                    (each.name, _content(each.t) if each.HasField("t") else each.SerializeToString())
                )
        for place, name in enumerate(node.output):
            known[name] = self.number((tuple(parts), place))


def _content(tensor: onnx.TensorProto) -> object:
    array = numpy_helper.to_array(tensor)
    return str(array.dtype), array.shape, array.tobytes()


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for each in node.attribute:
            if each.HasField("g"):
                yield from _graphs(each.g)


def _edges(graph: onnx.GraphProto, around: set[str]) -> Iterator[tuple[onnx.GraphProto, int, int, set[str]]]:
    """The edges of a graph and of all inside: graph, position of the node, position of the input, names in sight."""
    known = around | {each.name for each in (*graph.input, *graph.initializer)}
    for number, node in enumerate(graph.node):
        for place, name in enumerate(node.input):
            if name:
                yield graph, number, place, set(known)
        for each in node.attribute:
            if each.HasField("g"):
                yield from _edges(each.g, known)
        known |= {name for name in node.output if name}


def _used_weights(
    graph: onnx.GraphProto, around: dict[str, onnx.TensorProto | None]
) -> list[onnx.TensorProto]:
    """The weights at any depth that a node reads, or that are results."""
    names = (
        around | {each.name: None for each in graph.input} | {each.name: each for each in graph.initializer}
    )
    found: list[onnx.TensorProto | None] = []
    for node in graph.node:
        found += [names.get(name) for name in node.input]
        for each in node.attribute:
            if each.HasField("g"):
                found += _used_weights(each.g, names)
        names |= dict.fromkeys(node.output)
    found += [names.get(each.name) for each in graph.output]
    return list({id(each): each for each in found if each is not None}.values())


def changed(model: onnx.ModelProto, draw: random.Random) -> str | None:
    """Change one thing in a model; gives what, or nothing where the change is none."""
    graph = draw.choice(list(_graphs(model.graph)))
    edges = list(_edges(model.graph, set()))
    kind = draw.choice(_KINDS)
    before = _summary(model)
    if kind == "operator":
        nodes = [each for each in graph.node if each.op_type in _OTHER]
        if not nodes:
            return None
        node = draw.choice(nodes)
        node.op_type = _OTHER[node.op_type]
    elif kind == "edge":
        graph, number, place, known = draw.choice(edges)
        node = graph.node[number]
        options = sorted(known - {node.input[place]})
        if not options:
            return None
        node.input[place] = draw.choice(options)
    elif kind == "other output":
        beside = {
            name: list(node.output)
            for each in _graphs(model.graph)
            for node in each.node
            for name in node.output
        }
        choices = [
            (graph.node[number], place, other)
            for graph, number, place, known in edges
            for other in beside.get(graph.node[number].input[place], [])
            if other in known and other != graph.node[number].input[place]
        ]
        if not choices:
            return None
        node, place, other = draw.choice(choices)
        node.input[place] = other
    elif kind == "weight":
        used = _used_weights(model.graph, {})  # one that nothing reads is compared only under its name
        if not used:
            return None
        _alter(draw.choice(used))
    elif kind == "lost weight":
        if not graph.initializer:
            return None
        draw.choice(list(graph.initializer)).name = "lost"
    elif kind == "input type":
        typed = [each for each in graph.input if each.type.HasField("tensor_type")]
        if graph is model.graph or not typed:
            return None
        chosen = draw.choice(typed)
        chosen.type.tensor_type.elem_type = (
            onnx.TensorProto.INT8 if chosen.type.tensor_type.elem_type != onnx.TensorProto.INT8 else 1
        )
        for each in graph.output:
            if each.name == chosen.name:  # a state that is handed on: one value has one type
                each.type.CopyFrom(chosen.type)
    elif kind == "constant":
        nodes = [each for each in graph.node if each.op_type == "Constant"]
        if not nodes:
            return None
        _alter(draw.choice(nodes).attribute[0].t)
    elif kind == "result":
        made = sorted(name for node in graph.node for name in node.output)
        if graph is model.graph or not graph.output or not made:
            return None
        draw.choice(list(graph.output)).name = draw.choice(made)
    elif kind == "inserted":
        graph, number, place, _ = draw.choice(edges)
        node = graph.node[number]
        new = onnx.helper.make_node("Identity", [node.input[place]], ["inserted_value"])
        node.input[place] = "inserted_value"
        nodes = [onnx.NodeProto.FromString(each.SerializeToString()) for each in graph.node]
        del graph.node[:]
        graph.node.extend([*nodes[:number], new, *nodes[number:]])
    else:
        nodes = [each for each in graph.node if each.op_type in ("Softmax", "Scan", "ReduceSum")]
        if not nodes:
            return None
        node = draw.choice(nodes)
        name = {"Softmax": "axis", "Scan": "scan_input_directions", "ReduceSum": "keepdims"}[node.op_type]
        old = next((each for each in node.attribute if each.name == name), None)
        if old is None:
            node.attribute.append(
                onnx.helper.make_attribute(name, [1] if name == "scan_input_directions" else 1)
            )
        else:
            old.i ^= -1 if name == "axis" else 1
    return kind if _summary(model) != before else None


def _summary(model: onnx.ModelProto) -> object:
    """Equal for models that differ in nothing but which of two equal values a node reads."""
    numbers = _SHARED
    known = numbers.graph(model.graph, {}, 0)
    every: list[int] = []

    def collect(graph: onnx.GraphProto, around: dict[str, int], depth: int) -> None:
        inside = numbers.graph(graph, around, depth)
        every.extend(inside[name] for node in graph.node for name in node.output if name in inside)
        every.extend(numbers.number(("weight", _content(each))) for each in graph.initializer)
        every.extend(inside.get(each.name, -1) for each in graph.output)
        if graph is not model.graph:
            every.extend(each.type.tensor_type.elem_type for each in graph.input)
        for node in graph.node:
            for each in node.attribute:
                if each.HasField("g"):
                    collect(each.g, inside, depth + 1)

    collect(model.graph, {}, 0)
    return every, [known.get(each.name, -1) for each in model.graph.output]


_SHARED = _Meaning()


def _alter(tensor: onnx.TensorProto) -> None:
    array = np.array(numpy_helper.to_array(tensor))
    flat = array.reshape(-1)
    flat[-1] = not flat[-1] if array.dtype == bool else flat[-1] + 1
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def renamed(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model under other names at every depth; inputs and outputs of the model keep theirs."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    fixed = {each.name: each.name for each in (*copy.graph.input, *copy.graph.output)}
    count = 0

    def visit(graph: onnx.GraphProto, around: dict[str, str], own: dict[str, str]) -> None:
        nonlocal count
        names = {**around, **own}

        def new(name: str) -> str:
            nonlocal count
            count += 1
            names[name] = own.get(name, f"renamed {count}")
            return names[name]

        for each in (*graph.input, *graph.initializer):
            each.name = new(each.name)
        for number, node in enumerate(graph.node):
            node.name = f"node {number}"
            node.input[:] = [
                names.get(name, name) for name in node.input
            ]  # one that nothing makes keeps its name
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    visit(attribute.g, names, {})
            node.output[:] = [new(name) if name else "" for name in node.output]
        for each in graph.output:
            each.name = names[each.name]

    visit(copy.graph, {}, fixed)
    return copy


def _verdicts(seed: int) -> Iterator[Verdict]:
    number = 0
    while True:
        number += 1
        own = seed * 1_000_003 + number
        draw = random.Random(own)
        made = nested_model(own) if number % 4 else random_model(own)
        title = f"{'nested_model' if number % 4 else 'random_model'}({own})"
        before = Model.from_proto(made)
        other = Model.from_proto(renamed(made))
        if found := diff(before, other):
            yield Verdict("wrong", f"{title}: other names are a difference: {str(found)[:300]}")
            continue
        after = onnx.ModelProto.FromString(made.SerializeToString())
        if (kind := changed(after, draw)) is None:
            continue
        if draw.random() < 0.5:
            after = renamed(after)
        is_found = bool(diff(before, Model.from_proto(after)))
        yield Verdict("equal") if is_found else Verdict("wrong", f"{title}: a change ({kind}) is not found")


LAW = Law("diff finds any change of one node at any depth, and no mere renaming", 600, _verdicts)
