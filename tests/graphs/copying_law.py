"""The law of copying: a copy is isomorphic to what it was made of, shares nothing with it, and leaves it as it was.

Nodes of a function are copied for a call that gives some of its attributes, in each representation that has a copier:
onnx-ir and protos. Plain Python says what the function is for that call.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import onnx
import onnx_ir as ir
from onnx import AttributeProto

from onnxsmith.graphs.copying import Copier
from onnxsmith.graphs.identity import IDENTICAL, ISOMORPHIC
from onnxsmith.graphs.rewriting.copies import copied_nodes
from tests.graphs.identity_cases import FLOATS, function, nodes
from tests.laws.named import Law, Verdict


def _given(draw: random.Random) -> dict[str, AttributeProto]:
    """The attributes of a call: none, a number, or one of the function that the call is in."""
    kind = draw.randrange(3)
    made = AttributeProto(name="k", type=AttributeProto.FLOAT)
    if kind == 0:
        return {}
    if kind == 1:
        made.f = draw.choice(FLOATS)
    else:
        made.ref_attr_name = "outer"
    return {"k": made}


def _called(made: onnx.FunctionProto, given: dict[str, AttributeProto]) -> onnx.FunctionProto:
    """The function as a call has it."""
    result = onnx.FunctionProto.FromString(made.SerializeToString())
    for node in reversed(nodes(result)):  # those inside first: the attributes around them are made anew
        kept = [AttributeProto.FromString(each.SerializeToString()) for each in node.attribute]
        del node.attribute[:]
        for each in kept:
            actual = given.get(each.ref_attr_name) if each.ref_attr_name else each
            if actual is not None:
                node.attribute.add().CopyFrom(actual)
                node.attribute[-1].name = each.name
    return result


def _parts(graph: ir.Graph) -> Iterator[object]:
    """All that a copy must not share: graphs, nodes, values."""
    yield graph
    yield from (*graph.inputs, *graph.initializers.values())
    for node in graph:
        yield node
        yield from node.outputs
        for each in node.attributes.values():
            if each.type == ir.AttributeType.GRAPH:
                yield from _parts(each.as_graph())
            elif each.type == ir.AttributeType.GRAPHS:
                for inner in each.as_graphs():
                    yield from _parts(inner)


def _names(graph: ir.Graph) -> list[str]:
    return [each.name for each in _parts(graph) if isinstance(each, ir.Value) and each.name]


def _of_ir(made: onnx.FunctionProto, given: dict[str, AttributeProto], wanted: object) -> str:
    held = ir.from_proto(made)
    before = IDENTICAL.function(held)
    attributes = {name: ir.serde.deserialize_attribute(each) for name, each in given.items()}
    copy = Copier(attributes, name=lambda name, _: f"{name}'").graph(held.graph, {})
    if ISOMORPHIC.graph(copy) != wanted:
        return "it is another graph"
    if {id(each) for each in _parts(copy)} & {id(each) for each in _parts(held.graph)}:
        return "it shares something"
    if not all(name.endswith("'") for name in _names(copy)):
        return f"names are kept: {_names(copy)}"
    return "" if IDENTICAL.function(held) == before else "what was copied has changed"


def _of_protos(made: onnx.FunctionProto, given: dict[str, AttributeProto], wanted: object) -> str:
    before = made.SerializeToString(deterministic=True)
    names = {name: f"{name}'" for name in made.input}
    copy = onnx.FunctionProto(name="f", domain="d", input=names.values(), attribute=["outer"])
    copy.node.extend(copied_nodes(made.node, names, given, "new "))
    copy.output.extend(f"new {each}" for each in made.output)
    found = ir.from_proto(copy).graph
    if ISOMORPHIC.graph(found) != wanted:
        return "it is another graph"
    if not all(name.startswith("new ") or name.endswith("'") for name in _names(found)):
        return f"names are kept: {_names(found)}"
    return "" if made.SerializeToString(deterministic=True) == before else "what was copied has changed"


def _verdicts(seed: int) -> Iterator[Verdict]:
    draw = random.Random(seed)
    while True:
        made, given = function(draw), _given(draw)
        wanted = ISOMORPHIC.graph(ir.from_proto(_called(made, given)).graph)
        wrong = {"onnx-ir": _of_ir(made, given, wanted), "protos": _of_protos(made, given, wanted)}
        if any(wrong.values()):
            yield Verdict("wrong", f"{wrong}: {made}, called with {given}")
        else:
            yield Verdict("equal")


LAW = Law("a copy is isomorphic to what it was made of, and shares nothing with it", 1000, _verdicts)
