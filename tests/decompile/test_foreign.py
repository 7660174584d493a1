"""What models of other programs have and scripts do not write: each goes to Python and comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, parser

import onnxsmith
from onnxsmith import FLOAT, Model, decompile, recompile, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import DecompileError
from onnxsmith.inspection import is_same_graph
from tests.decompile.fidelity import differences
from tests.decompile.round_trip import round_trip

FLOATS = [helper.make_tensor_value_info("x", 1, ["N", 2])], [helper.make_tensor_value_info("y", 1, ["N", 2])]


def model_of(nodes: list[onnx.NodeProto], **options: Any) -> onnx.ModelProto:
    imports = [helper.make_opsetid(domain, version) for domain, version in (("", 17), ("l", 1), ("c", 1))]
    functions = options.pop("functions", [])
    graph = helper.make_graph(nodes, "g", *FLOATS, **options)
    return helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=8)


CALLS = [["X"], ["X", "B"], ["X", "", "B"], ["X", "B", "B"], ["X", "B", ""]]


@pytest.mark.parametrize("first", CALLS)
@pytest.mark.parametrize("second", CALLS)
def test_inputs_of_a_function_that_are_left_out(first: list[str], second: list[str]) -> None:
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17, "l": 1]>
        g (float[N] X, float B) => (float[N] Y, float[N] Z) { Y = l.Opt(X) Z = l.Opt(X) }
        <domain: "l", opset_import: ["": 17]> Opt (x, b, c) => (y) { y = Clip(x, b, c) }"""
    )
    model.graph.node[0].input[:] = first
    model.graph.node[1].input[:] = second
    assert differences(model, round_trip(model).proto) == []


def test_strings_that_are_no_text(tmp_path: Path) -> None:
    node = helper.make_node("EPContext", ["x"], ["y"], domain="c", several=[b"\xff\x00\xfe", b"text"])
    node.attribute.add(name="single", type=onnx.AttributeProto.STRING, s=b"\x80\xff'\"\\")
    model = model_of([node])
    before = model.SerializeToString()
    loaded = Model.from_proto(model)
    loaded.save(tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx").graph.node[0] == node
    assert model.SerializeToString() == before
    assert onnxsmith.load(tmp_path / "m.onnx").proto.graph.node[0] == node
    assert "\\\\xff" in loaded.text()
    assert differences(model, round_trip(model).proto) == []


def test_functions_that_call_one_another_deeply() -> None:
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("l", 1)]
    functions = [
        helper.make_function(
            "l",
            f"f{depth}",
            ["a"],
            ["b"],
            [
                helper.make_node(f"f{depth - 1}", ["a"], ["b"], domain="l")
                if depth
                else helper.make_node("Relu", ["a"], ["b"])
            ],
            imports,
        )
        for depth in range(100)
    ]
    model = model_of([helper.make_node("f99", ["x"], ["y"], domain="l")], functions=functions)
    assert differences(model, round_trip(model).proto) == []


def test_text_becomes_a_model_again() -> None:
    model = trace(lambda x: op.Relu(x), FLOAT["N"])
    text = decompile(model)
    same = recompile(text)
    assert isinstance(same, Model)
    assert differences(model.proto, same.proto) == []
    edited = recompile(text.replace("op.Relu", "op.Neg"))
    assert isinstance(edited, Model)
    np.testing.assert_array_equal(edited(np.float32([1, -2])), np.float32([-1, 2]))


def test_an_error_in_recompiled_text_shows_its_line() -> None:
    text = decompile(trace(lambda x: op.Relu(x), FLOAT["N"]))
    with pytest.raises(onnxsmith.errors.OnnxsmithError) as caught:
        recompile(text.replace("op.Relu", "op.Rleu"))
    assert "op.Rleu(x)" in str(caught.value)


def test_the_text_of_a_function_becomes_that_function() -> None:
    function = helper.make_function(
        "l", "f", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    assert recompile(decompile(function)).name == "f"


@pytest.mark.parametrize("text", ["x = 1", 3])
def test_what_makes_no_model_is_told(text: Any) -> None:
    with pytest.raises(DecompileError):
        recompile(text)


def test_an_attribute_of_a_function_that_is_left_out_is_refused_with_the_node() -> None:
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17, "l": 1]>
        g (float[N] X) => (float[N] Y) { [slope] Y = l.Leaky(X) }
        <domain: "l", opset_import: ["": 17]> Leaky <alpha> (x) => (y) { y = LeakyRelu <alpha: float = @alpha> (x) }"""
    )
    with pytest.raises(
        DecompileError, match=r"the node 'slope' calls the function 'Leaky' without .* 'alpha'"
    ):
        decompile(Model.from_proto(model))


def test_a_body_that_gives_back_a_value_of_the_graph_around(capfd: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[N] x, bool c) => (float[N] y) { y = If (c) <
    then_branch: graph = t () => (float[N] x) {}, else_branch: graph = e () => (float[N] e) { e = Neg(x) }> }"""
    model = Model.from_proto(parser.parse_model(text))
    with pytest.raises(DecompileError, match="a graph gives back 'x', which none of its nodes makes"):
        decompile(model)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("outputs", [["y"], ["y", ""], ["", "y"], ["y", "", ""], ["", "y", ""]])
def test_outputs_of_control_flow_that_are_missing(outputs: list[str]) -> None:
    def port(name: str, kind: int = 1, shape: tuple[str, ...] = ("N",)) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, shape)

    nodes = [
        helper.make_node(each, ["x"], [name]) for each, name in (("Neg", "a"), ("Abs", "b"), ("Exp", "c"))
    ]
    branch = helper.make_graph(nodes, "branch", [], [port("a"), port("b"), port("c")])
    node = helper.make_node("If", ["is"], outputs, then_branch=branch, else_branch=branch)
    graph = helper.make_graph([node], "g", [port("x"), port("is", 9, ())], [port("y")])
    proto = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    text = decompile(Model.from_proto(proto))
    assert is_same_graph(recompile(text), Model.from_proto(proto))


def test_an_output_that_is_missing_at_the_end() -> None:
    proto = model_of([helper.make_node("Dropout", ["x"], ["y", ""])])
    assert "y = op.Dropout(x)" in decompile(Model.from_proto(proto))
