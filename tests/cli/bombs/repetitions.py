"""Bombs of little that is repeated: calls that double, sums that square, names and entries without number."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.cli.bombs.making import (
    BROKEN,
    CIRCULAR,
    INVALID,
    bomb,
    call,
    count_and_start,
    info,
    loop_body,
    model,
    tensor,
)

_IMPORTS = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]


def _local(name: str, nodes: list[onnx.NodeProto]) -> onnx.FunctionProto:
    return helper.make_function("local", name, ["a"], ["r"], nodes, _IMPORTS)


def _doubling(levels: int) -> onnx.ModelProto:
    """Each function calls the one before twice: 2**levels nodes if the calls are replaced by what they call."""
    functions = [_local("f0", [call("Relu", ["a"], "r")])]
    for n in range(levels):
        nodes = [call(f"f{n}", ["a"], "t", domain="local"), call(f"f{n}", ["t"], "r", domain="local")]
        functions.append(_local(f"f{n + 1}", nodes))
    node = call(f"f{levels}", ["x"], domain="local")
    return model([node], inputs=[info("x", shape=[3])], functions=functions, domains=["local"])


@bomb()
def functions_that_double_forty_times() -> onnx.ModelProto:
    return _doubling(40)


@bomb()
def functions_that_double_ten_times() -> onnx.ModelProto:
    """So many calls are followed, one by one."""
    return _doubling(10)


@bomb()
def functions_that_double_in_branches() -> onnx.ModelProto:
    functions = [_local("f0", [call("Relu", ["a"], "r")])]
    for n in range(40):
        branches = {
            name: helper.make_graph(
                [call(f"f{n}", ["a"], f"{name}_v", domain="local")], name, [], [info(f"{name}_v", shape=[3])]
            )
            for name in ("then_branch", "else_branch")
        }
        nodes = [
            call("ReduceMax", ["a"], "m", keepdims=0),
            call("Cast", ["m"], "c", to=TensorProto.BOOL),
            call("If", ["c"], "r", **branches),
        ]
        functions.append(_local(f"f{n + 1}", nodes))
    node = call("f40", ["x"], domain="local")
    return model([node], inputs=[info("x", shape=[3])], functions=functions, domains=["local"])


@bomb()
def function_called_ten_thousand_times() -> onnx.ModelProto:
    function = _local("f", [call("Relu", ["a"], "t"), call("Neg", ["t"], "r")])
    nodes = [call("f", [f"x{n}"], f"x{n + 1}", domain="local") for n in range(10_000)]
    last = call("Identity", ["x10000"])
    return model([*nodes, last], inputs=[info("x0", shape=[3])], functions=[function], domains=["local"])


@bomb()
def functions_that_nothing_calls() -> onnx.ModelProto:
    functions = [_local(f"f{n}", [call("Relu", ["a"], "r")]) for n in range(10_000)]
    node = call("f0", ["x"], domain="local")
    return model([node], inputs=[info("x", shape=[3])], functions=functions, domains=["local"])


@bomb(refused_by=INVALID)
def function_of_one_name_twice() -> onnx.ModelProto:
    functions = [_local("f", [call(each, ["a"], "r")]) for each in ("Relu", "Neg")]
    node = call("f", ["x"], domain="local")
    return model([node], inputs=[info("x", shape=[3])], functions=functions, domains=["local"])


@bomb(refused_by=INVALID)
def loops_two_hundred_deep() -> bytes:
    """Written by hand from the inside: protobuf's own writer has the limit of its reader."""
    body = loop_body([call("Add", ["a", "one"], "b")], [("a", "b")])
    for _ in range(30):
        body = loop_body([call("Loop", ["count", "true", "a"], "b", body=body)], [("a", "b")])
    content = body.SerializeToString()
    for _ in range(170):
        attribute = _field(1, b"body") + _field(6, content) + bytes([20 << 3 | 128, 1, 5])
        content = _field(1, _field(1, b"a") + _field(2, b"b") + _field(4, b"Loop") + _field(5, attribute))
    return bytes([8, 10]) + _field(7, content)


def _field(number: int, content: bytes) -> bytes:
    length, digits = len(content), b""
    while length > 127:
        digits += bytes([length & 127 | 128])
        length >>= 7
    return bytes([number << 3 | 2]) + digits + bytes([length]) + content


@bomb()
def sums_of_itself() -> onnx.ModelProto:
    """2**300 ways lead from the input to the output."""
    nodes = [call("Add", [f"x{n}", f"x{n}"], f"x{n + 1}") for n in range(300)]
    return model([*nodes, call("Identity", ["x300"])], inputs=[info("x0", shape=[3])])


@bomb()
def size_that_doubles() -> onnx.ModelProto:
    nodes = [call("Concat", [f"x{n}", f"x{n}"], f"x{n + 1}", axis=0) for n in range(70)]
    return model([*nodes, call("Identity", ["x70"])], inputs=[info("x0", shape=["N"])])


@bomb()
def size_that_squares() -> onnx.ModelProto:
    """The size is a polynomial of N of degree 2**20, were it written out."""
    nodes: list[onnx.NodeProto] = []
    for n in range(20):
        nodes += [
            call("Reshape", [f"x{n}", "column"], f"c{n}"),
            call("Reshape", [f"x{n}", "row"], f"r{n}"),
            call("Add", [f"c{n}", f"r{n}"], f"p{n}"),
            call("Reshape", [f"p{n}", "flat"], f"f{n}"),
            call("Concat", [f"f{n}", f"x{n}"], f"x{n + 1}", axis=0),
        ]
    weights = [tensor("column", [-1, 1]), tensor("row", [1, -1]), tensor("flat", [-1])]
    return model([*nodes, call("Identity", ["x20"])], weights, inputs=[info("x0", shape=["N"])])


@bomb()
def constant_that_squares() -> onnx.ModelProto:
    nodes: list[onnx.NodeProto] = []
    for n in range(12):
        nodes += [
            call("Reshape", [f"x{n}", "column"], f"c{n}"),
            call("Reshape", [f"x{n}", "row"], f"r{n}"),
            call("MatMul", [f"c{n}", f"r{n}"], f"p{n}"),
            call("Reshape", [f"p{n}", "flat"], f"x{n + 1}"),
        ]
    weights = [tensor("column", [-1, 1]), tensor("row", [1, -1]), tensor("flat", [-1])]
    weights.append(tensor("x0", np.ones(16), np.float32))
    return model([*nodes, call("Identity", ["x12"])], weights)


@bomb()
def tiles_of_tiles() -> onnx.ModelProto:
    nodes: list[onnx.NodeProto] = []
    for n in range(12):
        nodes.append(call("Shape", [f"x{n}"], f"s{n}"))
        nodes.append(call("Tile", [f"x{n}", f"s{n}"], f"x{n + 1}"))
    return model([*nodes, call("Identity", ["x12"])], [tensor("x0", np.ones(16), np.float32)])


@bomb()
def rank_that_doubles() -> onnx.ModelProto:
    nodes = [call("Concat", [f"s{n}", f"s{n}"], f"s{n + 1}", axis=0) for n in range(24)]
    return model([*nodes, call("ConstantOfShape", ["s24"])], [tensor("s0", [1])])


@bomb()
def einsum_of_all_letters() -> onnx.ModelProto:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    equation = ",".join(letters) + "->" + letters
    node = call("Einsum", ["x"] * len(letters), equation=equation)
    return model([node], rank=len(letters), inputs=[info("x", shape=[2])])


@bomb(runs_for_ever=True)
def split_of_many_outputs() -> onnx.ModelProto:
    """ONNX Runtime itself takes minutes for so many."""
    count = 100_000
    node = helper.make_node("Split", ["x"], ["y", *(f"y{n}" for n in range(1, count))], num_outputs=count)
    return model([node], inputs=[info("x", shape=[count])])


@bomb(refused_by=INVALID)
def value_that_many_nodes_give() -> onnx.ModelProto:
    return model([call("Sin", ["x"]) for _ in range(5_000)], inputs=[info("x", shape=[3])])


@bomb()
def nodes_of_one_name() -> onnx.ModelProto:
    nodes = [call("Sin", [f"x{n}"], f"x{n + 1}", name="same") for n in range(1_000)]
    return model([*nodes, call("Identity", ["x1000"])], inputs=[info("x0", shape=[3])])


@bomb(refused_by=INVALID)
def weights_of_one_name() -> onnx.ModelProto:
    weights = [tensor("w", np.full(3, n), np.float32) for n in range(2_000)]
    return model([call("Add", ["x", "w"])], weights, inputs=[info("x", shape=[3])])


@bomb(refused_by=BROKEN)
def inputs_of_one_name() -> onnx.ModelProto:
    """The checker refuses it; as all are of one type, it does not matter which is meant."""
    return model([call("Relu", ["x"])], inputs=[info("x", shape=[3])] * 1_000)


@bomb(refused_by=CIRCULAR)
def body_that_reads_what_its_node_gives() -> onnx.ModelProto:
    branch = helper.make_graph([call("Neg", ["y"], "v")], "b", [], [info("v", shape=[3])])
    node = call("If", ["c"], then_branch=branch, else_branch=branch)
    return model([node], inputs=[info("x", shape=[3]), info("c", TensorProto.BOOL)])


@bomb()
def metadata_without_number() -> onnx.ModelProto:
    found = model([call("Relu", ["x"])], inputs=[info("x", shape=[3])])
    for n in range(50_000):
        found.metadata_props.add(key=f"key{n}", value="v" * 100)
        found.graph.node[0].metadata_props.add(key=f"key{n}", value="v")
    return found


@bomb()
def long_doc_strings() -> onnx.ModelProto:
    found = model([call("Relu", ["x"])], inputs=[info("x", shape=[3])])
    text = 'line\n""" \\ ' * 200_000
    found.doc_string = found.graph.doc_string = found.graph.node[0].doc_string = text
    found.graph.input[0].doc_string = found.graph.output[0].doc_string = text
    return found


@bomb()
def types_of_values_that_are_not_there() -> onnx.ModelProto:
    found = model([call("Relu", ["x"])], inputs=[info("x", shape=[3])])
    found.graph.value_info.extend(info(f"v{n}", shape=[f"N{n}"]) for n in range(20_000))
    return found


@bomb()
def loop_of_many_states() -> onnx.ModelProto:
    count = 1_000
    states = [(f"a{n}", f"b{n}") for n in range(count)]
    body = loop_body([call("Add", [before, "one"], after) for before, after in states], states)
    outputs = ["y", *(f"y{n}" for n in range(1, count))]
    node = helper.make_node("Loop", ["count", "true", *["zero"] * count], outputs, body=body)
    return model([node], count_and_start(3), rank=0)


@bomb()
def choices_in_a_row() -> onnx.ModelProto:
    """2**300 ways through the choices, one after the other."""
    nodes: list[onnx.NodeProto] = []
    for n in range(300):
        branches = {
            name: helper.make_graph(
                [call(op, [f"x{n}"], f"{op}{n}")], name, [], [info(f"{op}{n}", shape=[3])]
            )
            for name, op in (("then_branch", "Sin"), ("else_branch", "Cos"))
        }
        nodes.append(call("If", ["c"], f"x{n + 1}", **branches))
    nodes.append(call("Identity", ["x300"]))
    return model(nodes, inputs=[info("x0", shape=[3]), info("c", TensorProto.BOOL)])


@bomb()
def imports_without_number() -> onnx.ModelProto:
    return model(
        [call("Relu", ["x"])], inputs=[info("x", shape=[3])], domains=[f"domain{n}" for n in range(20_000)]
    )


@bomb()
def slice_behind_a_window_that_is_too_large() -> onnx.ModelProto:
    """The size of the pool is below zero, on which the inference of onnx ends the process."""
    nodes = [call("MaxPool", ["x"], "p", kernel_shape=[9, 9]), call("Slice", ["p", "start", "end", "axis"])]
    weights = [tensor("start", [0]), tensor("end", [2]), tensor("axis", [2])]
    return model(nodes, weights, rank=4, inputs=[info("x", shape=[1, 1, 4, 4])])


@bomb()
def slice_of_a_declared_size_below_zero() -> onnx.ModelProto:
    weights = [tensor("start", [0]), tensor("end", [2]), tensor("axis", [0])]
    nodes = [call("Slice", ["x", "start", "end", "axis"])]
    return model(nodes, weights, inputs=[info("x", shape=[-1])])


@bomb()
def windows_and_slices_in_a_row() -> onnx.ModelProto:
    nodes: list[onnx.NodeProto] = []
    for n in range(500):
        nodes.append(call("MaxPool", [f"x{n}"], f"p{n}", kernel_shape=[2, 2]))
        nodes.append(call("Slice", [f"p{n}", "start", "end", "axis"], f"x{n + 1}"))
    weights = [tensor("start", [0]), tensor("end", [900]), tensor("axis", [2])]
    nodes.append(call("Identity", ["x500"]))
    return model(nodes, weights, rank=4, inputs=[info("x0", shape=[1, 1, 999, 999])])
