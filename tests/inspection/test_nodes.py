"""`model.nodes`: which nodes there are, how they are found, and what they say of themselves."""

from __future__ import annotations

import linecache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import BOOL, FLOAT, INT64, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import UnknownNameError
from onnxsmith.inspection import Graph, Node
from onnxsmith.schema.definition import AttributeReference

NESTED = """
<ir_version: 9, opset_import: ["" : 21, "local" : 1]>
agraph (float[N] x, bool c) => (float[N] y)
{
   a = Relu (x)
   b = If (c) <
      then_branch = first () => (float[N] t) { u = Neg (a) t = local.twice <alpha = 3.0> (u) },
      else_branch = second () => (float[N] e) {
         e = If (c) <
            then_branch = third () => (float[N] f) { f = Abs (a) },
            else_branch = fourth () => (float[N] g) { h = Exp (a) g = Neg (h) }
         >
      }
   >
   y = local.twice (b)
}
<domain: "local", opset_import: ["" : 21]>
twice <alpha: float = 2.0> (v) => (w)
{
   s = Constant <value_float: float = @alpha> ()
   w = Mul (v, s)
}
"""


@pytest.fixture
def nested() -> Model:
    return Model.from_proto(parser.parse_model(NESTED))


def test_bodies_follow_their_node_and_functions_come_last(nested: Model) -> None:
    assert [(each.address, each.op_type) for each in nested.nodes] == [
        ("0", "Relu"),
        ("1", "If"),
        ("1.then_branch.0", "Neg"),
        ("1.then_branch.1", "twice"),
        ("1.else_branch.0", "If"),
        ("1.else_branch.0.then_branch.0", "Abs"),
        ("1.else_branch.0.else_branch.0", "Exp"),
        ("1.else_branch.0.else_branch.1", "Neg"),
        ("2", "twice"),
        ("local::twice/0", "Constant"),
        ("local::twice/1", "Mul"),
    ]


def test_every_address_leads_to_its_node(nested: Model) -> None:
    assert len({each.address for each in nested.nodes}) == len(nested.nodes) == 11
    for number, each in enumerate(nested.nodes):
        assert nested.nodes[each.address] is each
        assert nested.nodes[number] is each
        assert each in nested.nodes
        assert each.address in nested.nodes


def test_a_list_of_bodies_is_numbered() -> None:
    model = parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 21, "mine" : 1]> g (float[N] x) => (float[N] y) { y = mine.Pick (x) }'
    )
    bodies = [
        parser.parse_graph(text)
        for text in ("p () => (float[N] q) { q = Abs (x) }", "r () => (float[N] s) { s = Neg (x) }")
    ]
    attribute = onnx.AttributeProto(name="branches", type=onnx.AttributeProto.GRAPHS)
    attribute.graphs.extend(bodies)
    model.graph.node[0].attribute.append(attribute)
    nodes = Model.from_proto(model).nodes
    assert [each.address for each in nodes] == ["0", "0.branches[0].0", "0.branches[1].0"]
    assert [graph.address for graph in nodes["0"].bodies] == ["0.branches[0]", "0.branches[1]"]


def test_overloads_are_told_apart() -> None:
    proto = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21, "l" : 1]> g (float[N] x) => (float[N] y) { y = l.f:one (x) }'
        '<domain: "l", overload: "one", opset_import: ["" : 21]> f (v) => (w) { w = Relu (v) }'
    )
    model = Model.from_proto(proto)
    assert [each.address for each in model.nodes] == ["0", "l::f:one/0"]
    function = model.nodes["0"].function
    assert function is not None
    assert function.name == "l::f:one"


def test_names_and_outputs_find_nodes(nested: Model) -> None:
    assert nested.nodes["a"].op_type == "Relu"
    assert nested.nodes["h"].address == "1.else_branch.0.else_branch.0"
    assert "nothing" not in nested.nodes
    with pytest.raises(UnknownNameError, match="no node 'rulu'"):
        trace(lambda x: op.Relu(x), FLOAT[2]).nodes["rulu"]
    with pytest.raises(IndexError):
        nested.nodes[99]


def test_a_name_that_several_nodes_have_is_asked_about() -> None:
    text = (
        '<ir_version: 9, opset_import: ["" : 21]> g (float[N] x, bool c) => (float[N] y) { y = If (c) <'
        "then_branch = p () => (float[N] q) { q = Abs (x) }, else_branch = r () => (float[N] q) { q = Neg (x) }> }"
    )
    model = Model.from_proto(parser.parse_model(text))
    with pytest.raises(UnknownNameError) as raised:
        model.nodes["q"]
    assert raised.value.help == "say which one by its address: 0.then_branch.0, 0.else_branch.0"


def test_types_are_declared_or_inferred(nested: Model) -> None:
    nodes = nested.nodes
    assert repr(nodes["0"].outputs[0].type) == "FLOAT['N']"
    assert repr(nodes["1.else_branch.0.else_branch.0"].outputs[0].type) == "FLOAT['N']"
    assert repr(nodes["local::twice/1"].outputs[0].type) == "FLOAT['N']"
    weight = np.ones((4, 8), np.float32)
    model = trace(lambda a: a @ weight, FLOAT["N", 4])
    value = model.nodes[0].inputs[1]
    assert value is not None
    assert value.is_weight
    assert repr(value.type) == "FLOAT[4, 8]"


def test_types_of_a_function_are_what_its_calls_agree_on() -> None:
    text = (
        '<ir_version: 9, opset_import: ["" : 21, "l" : 1]> g (float[N] x, float[3, 4] z) => (float[N] y, float[3, 4] w)'
        '{ y = l.f (x)  w = l.f (z) } <domain: "l", opset_import: ["" : 21]> f (v) => (u) { u = Relu (v) }'
    )
    model = Model.from_proto(parser.parse_model(text))
    assert repr(model.nodes["l::f/0"].outputs[0].type) == "FLOAT[...]"


def test_a_node_that_cannot_work_leaves_the_others_their_types() -> None:
    text = (
        '<ir_version: 9, opset_import: ["" : 21]> g (float[2, 3] x) => (float y, float z)'
        "{ y = MatMul (x, x)  r = Relu (x)  z = Exp (r) }"
    )
    model = Model.from_proto(parser.parse_model(text))
    assert repr(model.nodes["r"].outputs[0].type) == "FLOAT[2, 3]"


def test_attributes_are_python_values(nested: Model) -> None:
    model = trace(lambda x: op.Concat(x, x, axis=0), FLOAT[2])
    by_type = {each.op_type: each.attributes for each in model.nodes}
    assert by_type["Concat"]["axis"] == 0
    reference = nested.nodes["local::twice/0"].attributes["value_float"]
    assert isinstance(reference, AttributeReference)
    assert reference.name == "alpha"
    body = nested.nodes["1"].attributes["then_branch"]
    assert isinstance(body, Graph)
    assert [each.op_type for each in body.nodes] == ["Neg", "twice"]
    assert body.owner is nested.nodes["1"]
    assert nested.nodes["1.then_branch.0"].graph is body
    with pytest.raises(TypeError):
        nested.nodes["1"].attributes["x"] = 1  # type: ignore[index]


def test_tensors_among_attributes_cannot_be_changed() -> None:
    proto = parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 21]> g () => (float[2] y) { y = Constant <value = float[2] {1, 2}> () }'
    )
    value = Model.from_proto(proto).nodes[0].attributes["value"]
    assert isinstance(value, np.ndarray)
    assert value.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        value[0] = 3


def test_values_know_who_makes_and_takes_them(nested: Model) -> None:
    value = nested.nodes["0"].outputs[0]
    assert value.producer is nested.nodes["0"]
    assert [each.address for each in value.users] == [
        "1.then_branch.0",
        "1.else_branch.0.then_branch.0",
        "1.else_branch.0.else_branch.0",
    ]


def test_an_input_that_is_left_out_is_none() -> None:
    model = trace(lambda x: op.Clip(x, None, np.float32(1)), FLOAT["N"])
    clip = model.nodes.where(op_type="Clip")[0]
    assert clip.inputs[1] is None
    assert clip.inputs[2] is not None


@script
def counted(x: FLOAT["N"], n: INT64, c: BOOL):
    for _ in range(n):
        if c:
            x = x + 1.0
        else:
            x = op.Neg(x)
    return x


def test_nodes_of_this_process_know_their_line() -> None:
    for node in counted.to_model().nodes.where(op_type="Neg"):
        assert node.source is not None
        assert node.source.file == __file__
        assert linecache.getline(__file__, node.source.line).strip() == "x = op.Neg(x)"
        assert not node.source.claimed_by


def test_nodes_of_a_file_have_what_the_file_claims(tmp_path: Path) -> None:
    trace(lambda x: op.Relu(x), FLOAT[2]).save(tmp_path / "m.onnx")
    node = onnxsmith.load(tmp_path / "m.onnx").nodes[0]
    assert node.source is not None
    assert node.source.claimed_by == "m.onnx"
    model = trace(lambda x: op.Relu(x), FLOAT[2]).proto
    del model.graph.node[0].metadata_props[:]
    model.graph.node[0].metadata_props.add(key="onnxsmith.source", value="no place at all")
    node = Model.from_proto(model).nodes[0]
    assert node.source is None
    assert node.sources == ("no place at all",)


def test_a_node_of_several_has_all_their_places() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT[2]).proto
    entry = proto.graph.node[0].metadata_props.add()
    entry.key, entry.value = "onnxsmith.sources", '["a.py:1:1-1:5", "b.py:2:1-2:5", 3]'
    assert [str(each) for each in Model.from_proto(proto).nodes[0].sources[1:]] == ["a.py:1:1", "b.py:2:1"]


def test_scopes_come_from_names() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT[2]).proto
    proto.graph.node[0].name = "/layers.0/attn/Relu"
    assert Model.from_proto(proto).nodes[0].scope == ("layers", "0", "attn")


def test_a_model_that_only_a_proto_holds_has_nodes() -> None:
    proto = parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Add (x, w) }'
    )
    sparse = onnx.SparseTensorProto(dims=[2])
    sparse.values.CopyFrom(onnx.numpy_helper.from_array(np.array([5], np.float32), "w"))
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(np.array([1], np.int64), ""))
    proto.graph.sparse_initializer.append(sparse)
    model = Model.from_proto(proto)
    assert model.is_proto_only
    value = model.nodes["y"].inputs[1]
    assert value is not None
    assert value.is_weight
    assert repr(value.type) == "FLOAT[2]"


def test_texts_show_no_control_characters() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT[2]).proto
    proto.graph.node[0].name = "<script>\x1b[2J"
    proto.graph.node[0].output[0] = proto.graph.output[0].name = "<b>\x1b"
    model = Model.from_proto(proto)
    assert "\x1b" not in repr(model.nodes[0]) + repr(model.nodes) + model.nodes._repr_html_()
    assert "<b>" not in model.nodes._repr_html_()


def test_large_models_are_listed_in_linear_time() -> None:
    def chain(x):
        for _ in range(3000):
            x = op.Relu(x)
        return x

    nodes = trace(chain, FLOAT["N"]).nodes
    assert isinstance(nodes[-1], Node)
    assert nodes[-1].address == "2999"
    assert repr(nodes[-1].outputs[0].type) == "FLOAT['N']"
    assert repr(nodes) == "<3000 nodes: 3000 Relu>"


def test_the_stack_of_pytorchs_exporter_is_a_claim() -> None:
    """The innermost line that is not torch's own, without where things were installed; nothing is opened for it."""
    proto = trace(lambda a: op.Relu(a), FLOAT["N"]).proto
    del proto.graph.node[0].metadata_props[:]
    stack = (
        'File "/home/me/train.py", line 3, in forward\n    return self.net(x)\n'
        '  File "/venv/lib/python3.11/site-packages/net/layers.py", line 7, in forward\n    return relu(x)\n'
        '  File "/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 9, in relu\n    return F.relu(x)'
    )
    proto.graph.node[0].metadata_props.add(key="pkg.torch.onnx.stack_trace", value=stack)
    source = Model.from_proto(proto).nodes[0].source
    assert source is not None
    assert (source.file, source.line) == ("net/layers.py", 7)
    assert source.claimed_by
    proto.graph.node[0].metadata_props[0].value = "no stack at all"
    assert Model.from_proto(proto).nodes[0].source is None
