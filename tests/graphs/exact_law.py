"""The law of *exact* identity: nodes are, that compute the same of what they are given; large weights are not read.

Outside a node only counts whether there is a value. A weight beyond 4 kB is itself: a copy of it is another one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import onnx
import onnx_ir as ir

from onnxsmith.graphs.identity import EXACT, OUTSIDE, SMALL_BYTES
from onnxsmith.passes.outlining.labels import Labels
from tests.graphs.identity_cases import pairs
from tests.laws.named import Law, Verdict


class Unread(ir.Tensor[np.ndarray]):
    """A weight that must not be read."""

    def numpy(self) -> np.ndarray:
        raise AssertionError("a large weight is read")

    def tobytes(self) -> bytes:
        raise AssertionError("a large weight is read")


def _large(draw: random.Random) -> ir.TensorProtocol:
    return Unread(np.zeros(SMALL_BYTES + draw.choice((1, 8, 4096)), np.uint8))


def _label(node: ir.Node, labels: Labels) -> tuple[int, object]:
    return labels.of(node), EXACT.node(node, lambda _: OUTSIDE, EXACT.graph)


def _verdicts(seed: int) -> Iterator[Verdict]:
    draw = random.Random(seed)
    for name, touched, *protos in pairs(seed):
        functions = [ir.from_proto(each) for each in protos]
        if len(functions[0].graph) != len(functions[1].graph):
            continue
        labels = Labels()
        weights = [_large(draw), _large(draw)] if draw.random() < 0.5 else [_large(draw)] * 2
        is_other = weights[0] is not weights[1]
        place = draw.randrange(len(functions[0].graph))
        for function, weight in zip(functions, weights, strict=True):
            function.graph[place].attributes["large"] = ir.AttrTensor("large", weight)
        found = [
            (_label(one, labels), _label(other, labels), len(one.inputs) == len(other.inputs))
            for one, other in zip(*(each.graph for each in functions), strict=True)
        ]
        differing = [one != other for one, other, _ in found]
        if any(
            (one[0] == other[0]) != (one[1] == other[1]) for one, other, is_as_long in found if is_as_long
        ):
            yield Verdict("wrong", f"{name}: a label is not what the key is: {_text(protos)}")
        else:
            yield _judged(name, touched, differing, place if is_other else None, protos)


def _judged(
    name: str, touched: str, differing: list[bool], other: int | None, protos: list[onnx.FunctionProto]
) -> Verdict:
    rest = {place for place, is_other in enumerate(differing) if is_other and place != other}
    wanted: set[int] = set()
    if touched in ("types", "content") or name == "an input is left out at the end":
        wanted = {
            place
            for place, each in enumerate(zip(*(one.node for one in protos), strict=True))
            if _differ(name, *each)
        }
    is_right = rest == wanted - {other} and (other is None or differing[other])
    return (
        Verdict("equal")
        if is_right
        else Verdict("wrong", f"{name}: {differing}, not {wanted}: {_text(protos)}")
    )


def _differ(name: str, one: onnx.NodeProto, other: onnx.NodeProto) -> bool:
    """Whether a change of a node, or inside it, is one of what it computes; it differs in one way at most."""
    if one.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True):
        return False
    if (
        name == "an input is left out at the end"
    ):  # labels count them, as repetitions are walked input by input
        return len(one.input) != len(other.input)
    if name != "another input":
        return True
    own = {each for node in _inside(one) for each in node.output} | {f"{each}w" for each in _prefixes(one)}
    changed = [
        old
        for before, after in zip(_inside(one), _inside(other), strict=True)
        for old, new in zip(before.input, after.input, strict=True)
        if old != new
    ]
    return any(each in own for each in changed)  # else one value from outside is in the place of another


def _text(protos: list[onnx.FunctionProto]) -> str:
    return " and ".join(map(str, protos))


def _inside(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    return [inner for graph in _graphs(node) for inner in graph.node]


def _prefixes(node: onnx.NodeProto) -> list[str]:
    return [graph.name for graph in _graphs(node)]


def _graphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    held = node.attribute
    own = [
        each for one in held for each in ((one.g,) if one.type == onnx.AttributeProto.GRAPH else one.graphs)
    ]
    return [*own, *(inner for graph in own for each in graph.node for inner in _graphs(each))]


LAW = Law("nodes have one exact key if they compute the same of what they are given", 2000, _verdicts)
