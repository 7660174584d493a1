"""Copies of nodes for the body of a function."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from onnxsmith.graphs.identifiers import Identifiers
from onnxsmith.passes.outlining.copying import NodeCopy

MODEL = """
<ir_version: 10, opset_import: ["" : 21]>
g (float[2] x, bool c, int64 n) => (float[2] y, float[2] z)
{
    y = If (c) < then_branch = t () => (float[2] p) <float[2] w = {1, 2}> { a = Add(x, w)  p = Mul(a, x) },
                 else_branch = e () => (float[2] q) { q = Neg(x) } >
    z = Loop (n, , x) < body = b (int64 i, bool on, float[2] v) => (bool still, float[2] u)
                        { still = Identity(on)  u = Add(v, x) } >
}
"""


def nodes() -> list[ir.Node]:
    return list(ir.from_proto(onnx.parser.parse_model(MODEL)).graph)


def value(name: str) -> ir.Value:
    return ir.Value(name=name)


def test_branches_read_what_is_handed_in() -> None:
    node, _ = nodes()
    node.doc_string, node.metadata_props["k"] = "text", "v"
    condition, first, second, third = (value(name) for name in ("c1", "x1", "x2", "x3"))
    made: dict[ir.Value, ir.Value] = {}
    # Graphs are read in the order of their names: the other branch comes first.
    copy = NodeCopy(iter([condition, third, first, second]), Identifiers()).node(node, made)
    assert (copy.op_type, copy.doc_string, dict(copy.metadata_props)) == ("If", "text", {"k": "v"})
    assert list(copy.inputs) == [condition]
    assert made == {node.outputs[0]: copy.outputs[0]}
    assert list(copy.attributes) == ["then_branch", "else_branch"]
    then, other = (copy.attributes[name].as_graph() for name in ("then_branch", "else_branch"))
    add, product = then
    assert [each.op_type for each in then] == ["Add", "Mul"]
    (weight,) = then.initializers.values()
    assert list(add.inputs) == [first, weight]
    assert weight.const_value is not None
    assert weight.const_value.numpy().tolist() == [1, 2]
    assert list(product.inputs) == [add.outputs[0], second]
    assert list(then.outputs) == [product.outputs[0]]
    assert then.outputs[0].shape == ir.Shape([2])
    assert add.outputs[0].shape is None
    assert list(next(iter(other)).inputs) == [third]
    names = [each.name for graph in (then, other) for inner in graph for each in inner.outputs]
    assert len({*names}) == 3
    assert all(names)
    # The node itself keeps its own values.
    assert node.inputs[0] is not condition
    assert node.attributes["then_branch"].as_graph() is not then


def test_bodies_of_loops_have_inputs_of_their_own() -> None:
    _, node = nodes()
    count, start, inside = (value(name) for name in ("n1", "x1", "x2"))
    copy = NodeCopy(iter([count, None, start, inside]), Identifiers()).node(node, {})
    assert list(copy.inputs) == [count, None, start]
    body = copy.attributes["body"].as_graph()
    passed, added = body
    assert list(passed.inputs) == [body.inputs[1]]
    assert list(added.inputs) == [body.inputs[2], inside]
    assert list(body.outputs) == [passed.outputs[0], added.outputs[0]]
    assert body.inputs[2].dtype == ir.DataType.FLOAT
    assert {each.name for each in body.inputs}.isdisjoint({None, ""})


def test_attributes_of_every_kind() -> None:
    graphs = [each.attributes["body"].as_graph() for each in nodes()[1:]]
    node = ir.Node(
        "own",
        "Many",
        [],
        [
            ir.RefAttr("by", "outer", ir.AttributeType.INT),
            ir.AttrInt64("count", 3),
            ir.AttrGraphs("bodies", graphs),
        ],
        overload="o",
        num_outputs=2,
    )
    copy = NodeCopy(iter([value("x")]), Identifiers()).node(node, {})
    assert (copy.domain, copy.op_type, copy.overload, len(copy.outputs)) == ("own", "Many", "o", 2)
    assert list(copy.attributes) == ["by", "count", "bodies"]
    assert copy.attributes["by"].ref_attr_name == "outer"
    assert copy.attributes["count"].as_int() == 3
    (body,) = copy.attributes["bodies"].as_graphs()
    assert body is not graphs[0]
    assert [each.op_type for each in body] == ["Identity", "Add"]
