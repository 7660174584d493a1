"""Nodes that leave outputs out give the others as they would with all of them, and end no process."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import helper

from onnxsmith import Model
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.omitted_outputs import name_omitted
from onnxsmith.runtime.onnxruntime_api import quiet_run_options
from onnxsmith.runtime.opening import make_session
from onnxsmith.runtime.settings import current

_HEAD = '<ir_version: 10, opset_import: ["" : 21, "own" : 1]>'
_X = "float[6, 2] x, float[2] o, int64 n, bool c"
_BODIES = {
    "Loop": "(n, c, o) <body = b (int64 i, bool going, float[2] a) => (bool goes, float[2] e, float[2] f, float[2] j)"
    " { goes = Identity(going) e = Add(a, o) f = Neg(a) j = Exp(o) }>",
    "Scan": "<num_scan_inputs = 1, body = b (float[2] a, float[2] s) => (float[2] e, float[2] f, float[2] h)"
    " { e = Add(a, s) f = Neg(a) h = Abs(s) }> (o, x)",
    "If": "(c) <then_branch = t () => (float[2] u, float[2] v, float[2] w) { u = Neg(o) v = Exp(o) w = Cos(o) },"
    " else_branch = e () => (float[2] k, float[2] l, float[2] m) { k = Exp(o) l = Neg(o) m = Sin(o) }>",
}
#: Nodes with the outputs p, q and r.
NODES = {
    "Loop": f"Loop {_BODIES['Loop']}",
    "Scan": f"Scan {_BODIES['Scan']}",
    "If": f"If {_BODIES['If']}",
    "Split": "Split <axis = 0, num_outputs = 3> (x)",
    "BatchNormalization": "BatchNormalization <training_mode = 1> (x, o, o, o, o)",
}
#: Where a node stands.
PLACES = {
    "graph": "g ({inputs}) => (float[] y) {{ {outputs} = {node} y = Abs({read}) }}",
    "branch": "g ({inputs}) => (float[] y) {{ y = If (c) <"
    "then_branch = first () => (float[] y1) {{ {outputs} = {node} y1 = Abs({read}) }},"
    "else_branch = second () => (float[] y2) {{ y2 = Identity(o) }}> }}",
    "function": "g ({inputs}) => (float[] y) {{ y = own.f(x, o, n, c) }}"
    ' <domain: "own", opset_import: ["" : 21]> f (x, o, n, c) => (y) {{ {outputs} = {node} y = Abs({read}) }}',
}
INPUTS = (
    np.arange(12, dtype=np.float32).reshape(6, 2),
    np.array([1, 2], np.float32),
    np.array(3),
    np.array(True),
)
CASES = [
    (node, place, read, kept)
    for node, place in itertools.product(NODES, PLACES)
    for read in "pqr"
    for kept in ("", *(each for each in "pqr" if each != read))
]


def parsed(node: str, place: str, read: str, kept: str) -> onnx.ModelProto:
    """A model whose node gives what is read and kept, and leaves the others out."""
    text = PLACES[place].format(inputs=_X, outputs="p, q, r", node=NODES[node], read=read)
    model = onnx.parser.parse_model(f"{_HEAD} {text}")
    for each in _nodes(model):
        if list(each.output) == ["p", "q", "r"]:
            each.output[:] = [name if name in (read, *kept) else "" for name in each.output]
    return model


def _nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    found: list[onnx.NodeProto] = []
    waiting = [model.graph.node, *(each.node for each in model.functions)]
    while waiting:
        for node in waiting.pop():
            found.append(node)
            waiting += [each.g.node for each in node.attribute if each.HasField("g")]
    return found


@pytest.mark.parametrize(("node", "place", "read", "kept"), CASES)
def test_what_is_left_out_changes_nothing_else(node: str, place: str, read: str, kept: str):
    expected = Model.from_proto(parsed(node, place, read, "pqr"))(*INPUTS)
    np.testing.assert_array_equal(Model.from_proto(parsed(node, place, read, kept))(*INPUTS), expected)


@pytest.mark.parametrize("node", NODES)
def test_a_node_that_leaves_all_out(node: str):
    model = parsed(node, "graph", "p", "")
    model.graph.node[0].output[0] = ""
    model.graph.node[1].input[0] = "x"
    np.testing.assert_array_equal(Model.from_proto(model)(*INPUTS), INPUTS[0])


@pytest.mark.parametrize("node", _BODIES)
def test_a_model_that_nobody_read(node: str):
    """One that was built in memory has no names: a session gives them, as for bytes of a model."""
    given = SessionModel(parsed(node, "graph", "q", ""))
    session = make_session(given, current(), threads=1)
    results = session.run(["y"], dict(zip("xonc", INPUTS, strict=True)), quiet_run_options())
    expected = Model.from_proto(parsed(node, "graph", "q", "pqr"))(*INPUTS)
    np.testing.assert_array_equal(np.asarray(results[0]), expected)


@pytest.mark.parametrize(("left_out", "expected"), [("qr", [0, 1]), ("pr", [2, 3]), ("pq", [4, 5])])
def test_split_into_as_many_as_are_left_out(left_out: str, expected: list[int]):
    """onnx-ir writes no empty names at the end; a Split without sizes would have fewer parts."""
    outputs = ["" if each in left_out else "y" for each in "pqr"]
    node = helper.make_node("Split", ["x"], outputs)
    ports = [helper.make_tensor_value_info(each, 1, ["N" + each]) for each in "xy"]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    x = np.arange(6, dtype=np.float32)
    in_memory = ir.from_proto(model)
    for each in (Model.from_proto(model), Model.from_proto(model).optimize(), Model(in_memory)):
        np.testing.assert_array_equal(each(x), expected)
    assert [each.name or "" for each in in_memory.graph.node(0).outputs] == outputs


@pytest.mark.parametrize("outputs", [["y"], ["y", ""], ["", "y"]])
def test_a_call_that_leaves_outputs_of_its_function_out(outputs: list[str]):
    """onnx-ir writes no empty names at the end; ONNX Runtime and onnx's inference refuse a call with fewer outputs."""
    text = f"{_HEAD} g (float[N] x) => (float[N] y) {{ p, q = own.f(x) }}"
    functions = (
        ' <domain: "own", opset_import: ["" : 21, "own" : 1]> f (a) => (b, c) { b, c = own.g(a) }'
        ' <domain: "own", opset_import: ["" : 21]> g (a) => (b, c) { b = Neg(a) c = Abs(a) }'
    )
    model = onnx.parser.parse_model(text + functions)
    model.graph.node[0].output[:] = outputs
    read = Model.from_proto(model)
    in_memory = [Model(ir.from_proto(model))] if len(outputs) == 2 else []
    x = np.float32([1, -2])
    for each in (read, *in_memory, read.rename({"x": "z"}), read.convert_version(18)):
        session = onnxruntime.InferenceSession(each.proto.SerializeToString())
        (found,) = session.run(None, {each.inputs[0].name: x})
        np.testing.assert_array_equal(found, -x if outputs[0] else abs(x))
    read.check()
    assert not read.diff(Model.from_proto(read.proto))


def test_names_are_fresh_and_others_stay():
    model = parsed("Split", "graph", "q", "")
    model.graph.node[1].output[0] = "q__1"
    model.graph.output[0].name = "q__1"
    made = name_omitted(model)
    assert list(made.graph.node[0].output) == ["q__2", "q", "q__3"]
    assert list(model.graph.node[0].output) == ["", "q", ""]
    assert name_omitted(made) is made


@pytest.mark.parametrize(
    ("op_type", "outputs"),
    [("LSTM", ["", "h", ""]), ("MaxPool", ["y", ""]), ("BatchNormalization", ["y", "", "", "", ""])],
)
def test_operators_that_look_for_their_outputs_are_left_alone(op_type: str, outputs: Sequence[str]):
    graph = helper.make_graph([helper.make_node(op_type, ["x"], outputs)], "g", [], [])
    model = helper.make_model(graph)
    assert name_omitted(model) is model
