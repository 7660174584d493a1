"""Bombs in the structure of a model: loops, branches, functions, graphs inside graphs, cycles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.cli.bombs.making import (
    BROKEN,
    CIRCULAR,
    FOREVER,
    GIANT,
    INVALID,
    bomb,
    call,
    count_and_start,
    info,
    loop_body,
    model,
    tensor,
)


@bomb(runs_for_ever=True)
def loop_that_adds_one() -> onnx.ModelProto:
    body = loop_body([call("Add", ["a", "one"], "b")], [("a", "b")])
    return model([call("Loop", ["count", "true", "zero"], body=body)], count_and_start(FOREVER), rank=0)


@bomb(runs_for_ever=True)
def loop_that_collects() -> onnx.ModelProto:
    body = loop_body([call("Cast", ["i"], "c", to=TensorProto.FLOAT)], [], collected=[info("c")])
    return model([call("Loop", ["count", "true"], body=body)], count_and_start(FOREVER))


@bomb(runs_for_ever=True)
def loop_of_a_recurrence() -> onnx.ModelProto:
    nodes = [call("Mul", ["a", "half"], "h"), call("Add", ["h", "one"], "b")]
    weights = [*count_and_start(FOREVER), tensor("half", 0.5, np.float32)]
    return model(
        [call("Loop", ["count", "true", "zero"], body=loop_body(nodes, [("a", "b")]))], weights, rank=0
    )


@bomb(runs_for_ever=True)
def loop_of_a_running_maximum() -> onnx.ModelProto:
    nodes = [call("Cast", ["i"], "c", to=TensorProto.FLOAT), call("Max", ["a", "c"], "b")]
    body = loop_body(nodes, [("a", "b")])
    return model([call("Loop", ["count", "true", "zero"], body=body)], count_and_start(FOREVER), rank=0)


@bomb(runs_for_ever=True)
def loop_without_a_limit() -> onnx.ModelProto:
    body = loop_body([call("Add", ["a", "one"], "b")], [("a", "b")])
    return model([call("Loop", ["", "", "zero"], body=body)], count_and_start(1), rank=0)


@bomb(runs_for_ever=True)
def loops_in_loops() -> onnx.ModelProto:
    body = loop_body([call("Add", ["a", "one"], "b")], [("a", "b")])
    for depth in range(5):
        inner = call("Loop", ["count", "true", f"a{depth}"], f"b{depth}", body=body)
        body = loop_body([inner], [(f"a{depth}", f"b{depth}")], suffix=str(depth))
    return model([call("Loop", ["count", "true", "zero"], body=body)], count_and_start(1 << 12), rank=0)


@bomb(runs_for_ever=True)
def loop_that_fills_a_sequence() -> onnx.ModelProto:
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    body = helper.make_graph(
        [call("Identity", ["going"], "goes_on"), call("SequenceInsert", ["s", "one"], "t")],
        "body",
        [
            info("i", TensorProto.INT64),
            info("going", TensorProto.BOOL),
            helper.make_value_info("s", kind),
        ],
        [info("goes_on", TensorProto.BOOL), helper.make_value_info("t", kind)],
    )
    nodes = [
        call("SequenceEmpty", [], "empty"),
        call("Loop", ["count", "true", "empty"], "full", body=body),
        call("SequenceLength", ["full"]),
    ]
    return model(nodes, count_and_start(GIANT), output=TensorProto.INT64, rank=0)


@bomb()
def scan_of_a_giant() -> onnx.ModelProto:
    body = helper.make_graph(
        [call("Add", ["a", "each"], "b"), call("Identity", ["b"], "c")],
        "body",
        [info("a"), info("each")],
        [info("b"), info("c")],
    )
    nodes = [
        call("ConstantOfShape", ["s"], "x"),
        helper.make_node("Scan", ["zero", "x"], ["last", "y"], num_scan_inputs=1, body=body),
    ]
    return model(nodes, [tensor("s", [GIANT]), tensor("zero", 0.0, np.float32)])


def _choice(inside: Sequence[onnx.NodeProto], output: str) -> onnx.NodeProto:
    branch = helper.make_graph(inside, "branch", [], [info(inside[-1].output[0], shape=[3])])
    return call("If", ["c"], output, then_branch=branch, else_branch=branch)


@bomb()
def branches_in_branches() -> onnx.ModelProto:
    """Both branches of each hold the same: 2**12 leaves, which the file does spell out."""
    node = call("Relu", ["x"], "v0")
    for depth in range(12):
        node = _choice([node], f"v{depth + 1}")
    nodes = [node, call("Identity", [node.output[0]])]
    return model(nodes, inputs=[info("x", shape=[3]), info("c", TensorProto.BOOL)])


@bomb()
def graphs_as_deep_as_protobuf_reads() -> onnx.ModelProto:
    node = call("Relu", ["x"], "v0")
    for depth in range(30):
        then = helper.make_graph([node], "t", [], [info(node.output[0], shape=[3])])
        plain = helper.make_graph([call("Relu", ["x"], f"p{depth}")], "e", [], [info(f"p{depth}", shape=[3])])
        node = call("If", ["c"], f"v{depth + 1}", then_branch=then, else_branch=plain)
    nodes = [node, call("Identity", [node.output[0]])]
    return model(nodes, inputs=[info("x", shape=[3]), info("c", TensorProto.BOOL)])


@bomb(refused_by=INVALID)
def graphs_deeper_than_protobuf_reads() -> bytes:
    """An attribute in a node in a graph in an attribute, ten thousand times, written by hand."""

    def field(number: int, content: bytes) -> bytes:
        length, digits = len(content), b""
        while length > 127:
            digits += bytes([length & 127 | 128])
            length >>= 7
        return bytes([number << 3 | 2]) + digits + bytes([length]) + content

    graph = b""
    for _ in range(10_000):
        graph = field(1, field(5, field(1, b"body") + field(6, graph)) + field(4, b"Loop"))
    return bytes([8, 10]) + field(7, graph)


def _function(name: str, called: Sequence[str]) -> onnx.FunctionProto:
    """A function of one value that calls these one after the other."""
    names = ["a", *(f"t{n}" for n in range(len(called) - 1)), "r"]
    nodes = [
        helper.make_node(each, [names[n]], [names[n + 1]], domain="" if each == "Relu" else "local")
        for n, each in enumerate(called)
    ]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, ["a"], ["r"], nodes, imports)


def _calling(functions: Sequence[onnx.FunctionProto]) -> onnx.ModelProto:
    node = call(functions[0].name, ["x"], domain="local")
    return model([node], inputs=[info("x", shape=[3])], functions=functions, domains=["local"])


@bomb()
def functions_that_double() -> onnx.ModelProto:
    """Each calls the next twice: 2**60 nodes if the calls are replaced by what they call."""
    functions = [_function(f"f{n}", [f"f{n + 1}"] * 2) for n in range(60)]
    return _calling([*functions, _function("f60", ["Relu"])])


@bomb(refused_by=BROKEN)
def functions_in_a_long_chain() -> onnx.ModelProto:
    functions = [_function(f"f{n}", [f"f{n + 1}"]) for n in range(2_000)]
    return _calling([*functions, _function("f2000", ["Relu"])])


@bomb(refused_by=INVALID)
def functions_that_call_each_other() -> onnx.ModelProto:
    return _calling([_function("f", ["g"]), _function("g", ["f"])])


@bomb(refused_by=INVALID)
def function_that_calls_itself() -> onnx.ModelProto:
    return _calling([_function("f", ["Relu", "f"])])


@bomb(refused_by=INVALID)
def function_that_calls_itself_in_a_branch() -> onnx.ModelProto:
    branch = helper.make_graph([call("f", ["a"], "v", domain="local")], "b", [], [info("v", shape=[3])])
    nodes = [
        call("ReduceMax", ["a"], "m", keepdims=0),
        call("Cast", ["m"], "c", to=TensorProto.BOOL),
        call("If", ["c"], "r", then_branch=branch, else_branch=branch),
    ]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    return _calling([helper.make_function("local", "f", ["a"], ["r"], nodes, imports)])


@bomb(refused_by=CIRCULAR)
def nodes_in_a_circle() -> onnx.ModelProto:
    nodes = [call("Add", ["x", "b"], "a"), call("Relu", ["a"], "b"), call("Relu", ["b"])]
    return model(nodes, inputs=[info("x", shape=[3])])


@bomb(refused_by=CIRCULAR)
def node_that_reads_itself() -> onnx.ModelProto:
    nodes = [call("Add", ["x", "a"], "a"), call("Relu", ["a"])]
    return model(nodes, inputs=[info("x", shape=[3])])


@bomb()
def nodes_in_a_long_row() -> onnx.ModelProto:
    nodes = [call("Sin", [f"x{n}"], f"x{n + 1}") for n in range(5_000)]
    return model([*nodes, call("Identity", ["x5000"])], inputs=[info("x0", shape=[3])])


@bomb()
def many_outputs() -> onnx.ModelProto:
    found = model([call("Relu", ["x"])], inputs=[info("x", shape=[3])])
    for n in range(5_000):
        found.graph.node.append(call("Sin", ["x"], f"y{n}"))
        found.graph.output.append(info(f"y{n}", shape=[3]))
    return found


@bomb()
def tree_that_grows_into_itself() -> onnx.ModelProto:
    """Both children of the first node are the node itself."""
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0, 0],
        nodes_nodeids=[0, 1],
        nodes_featureids=[0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF"],
        nodes_values=[0.5, 0.0],
        nodes_truenodeids=[0, 0],
        nodes_falsenodeids=[0, 0],
        target_treeids=[0],
        target_nodeids=[1],
        target_ids=[0],
        target_weights=[1.0],
    )
    return model([node], inputs=[info("x", shape=["N", 2])], domains=["ai.onnx.ml"])


@bomb(refused_by=BROKEN)
def operators_on_inputs_without_a_type() -> onnx.ModelProto:
    """The inference of onnx reads the type of their input without looking whether there is one."""
    splits = tensor("", [0.5], np.float32)
    tree = helper.make_node(
        "TreeEnsemble",
        ["x"],
        ["t"],
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=[0],
        nodes_featureids=[0],
        nodes_modes=tensor("", [1], np.uint8),
        nodes_splits=splits,
        nodes_truenodeids=[0],
        nodes_falsenodeids=[0],
        nodes_trueleafs=[1],
        nodes_falseleafs=[1],
        leaf_targetids=[0],
        leaf_weights=splits,
    )
    nodes = [
        tree,
        helper.make_node("DictVectorizer", ["x"], ["v"], domain="ai.onnx.ml", string_vocabulary=["a"]),
        helper.make_node("LabelEncoder", ["x"], ["l"], domain="ai.onnx.ml", values_floats=[1.0]),
        call("EyeLike", ["x"], "e"),
        call("RegexFullMatch", ["x"], "r", pattern="a"),
        call("Neg", ["x"]),
    ]
    found = model(nodes, inputs=[onnx.ValueInfoProto(name="x")], domains=["ai.onnx.ml"])
    found.opset_import[1].version = 5
    return found
