"""Rules reach every node, wherever it stands; what no rule concerns stays as it is."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, parser

from onnxsmith.graphs.rewriting.rewrite import inferred_graph, rewrite
from onnxsmith.graphs.rewriting.scopes import all_nodes
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.types.dtypes import DType

HEADER = '<ir_version: 8, opset_import: ["" : 18, "own" : 1]> '


def doubled(site: Site) -> list[tuple[str, str]]:
    """Relu(x) as Max(x, 0), in the element type at hand."""
    dtype = site.dtype(0)
    if dtype is None:
        return []
    site.emit.op("Max", site.input(0), site.emit.constant(0, dtype), into=site.output(0))
    return [("relu", "for a test")]


RULES = {("", "Relu"): doubled}


def operators(model: onnx.ModelProto) -> list[str]:
    nodes = [*all_nodes(model.graph.node)]
    for function in model.functions:
        nodes += all_nodes(function.node)
    return [node.op_type for node in nodes]


def test_a_model_without_such_nodes_is_the_same_object() -> None:
    model = parser.parse_model(HEADER + "g (float[N] x) => (float[N] y) { y = Add(x, x) }")
    assert rewrite(model, RULES).model is model


def test_the_given_model_is_not_changed() -> None:
    model = parser.parse_model(HEADER + "g (float[N] x) => (float[N] y) { y = Relu(x) }")
    before = model.SerializeToString()
    result = rewrite(model, RULES)
    assert model.SerializeToString() == before
    assert operators(result.model) == ["Constant", "Max"]
    assert [edit.rule for edit in result.edits] == ["relu"]


def test_bodies() -> None:
    text = """g (bool c, float[N] x) => (float[N] y) {
        y = If (c) <
            then_branch = a () => (float[N] u) { u = Relu(x) },
            else_branch = b () => (float[N] v) { v = Neg(x) }
        >
    }"""
    result = rewrite(parser.parse_model(HEADER + text), RULES)
    assert sorted(operators(result.model)) == ["Constant", "If", "Max", "Neg"]
    assert result.edits[0].before[0].path == ("If",)
    onnx.checker.check_model(result.model, full_check=True)


def test_functions_are_copied_for_the_types_they_are_called_on() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[N] x, double[N] z) => (float[N] y, double[N] w) {
        y = own.Outer(x)
        w = own.Outer(z)
    }
    <domain: "own", opset_import: ["" : 18, "own" : 1]> Outer (a) => (b) { c = own.Inner(a)  b = own.Inner(c) }
    <domain: "own", opset_import: ["" : 18]> Inner (a) => (b) { b = Relu(a) }
    """
    result = rewrite(parser.parse_model(text), RULES)
    assert len(result.edits) == 2  # one copy of Inner for each element type
    onnx.checker.check_model(result.model)
    called = {node.op_type for node in result.model.graph.node}
    assert len(called) == 2
    assert "Outer" not in called
    constants = [
        numpy_helper.to_array(node.attribute[0].t).dtype
        for function in result.model.functions
        for node in function.node
        if node.op_type == "Constant"
    ]
    assert sorted(map(str, constants)) == ["float32", "float64"]


def test_attributes_of_functions_reach_the_rule() -> None:
    seen: list[int] = []

    def look(site: Site) -> list[tuple[str, str]]:
        seen.append(site.integer("axis", -100))
        return []

    text = """
    <ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[N, M] x) => (float[N, M] y) { a = own.F <axis = 1> (x)  y = own.F(a) }
    <domain: "own", opset_import: ["" : 18]> F <axis: int = 0> (a) => (b) { b = Softmax <axis: int = @axis> (a) }
    """
    rewrite(parser.parse_model(text), {("", "Softmax"): look})
    assert seen == [1, 0]


def test_functions_that_call_themselves_do_not_hang() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[N] x) => (float[N] y) { y = own.F(x) }
    <domain: "own", opset_import: ["" : 18, "own" : 1]> F (a) => (b) { c = Relu(a)  b = own.F(c) }
    """
    rewrite(parser.parse_model(text), RULES)


def seen_constant(model: onnx.ModelProto, read=None) -> list[object]:
    seen: list[object] = []

    def look(site: Site) -> list[tuple[str, str]]:
        constant = site.constant(1)
        seen.append(None if constant is None else constant.tolist())
        return []

    rewrite(model, {("", "Add"): look}, read)
    return seen


@pytest.mark.parametrize("ir_version", [3, 8])
def test_an_initializer_that_is_an_input_is_no_constant(ir_version: int) -> None:
    ports = [helper.make_tensor_value_info(name, 1, [2]) for name in "xwy"]
    weight = numpy_helper.from_array(np.float32([1, 2]), "w")
    for inputs, expected in ((ports[:2], [None]), (ports[:1], [[1.0, 2.0]])):
        graph = helper.make_graph(
            [helper.make_node("Add", ["x", "w"], ["y"])], "g", inputs, ports[2:], [weight]
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=ir_version)
        assert seen_constant(model) == expected


def test_weights_that_stand_elsewhere_are_read_when_asked_for() -> None:
    ports = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    weight = onnx.TensorProto(name="w", data_type=1, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "g", ports[:1], ports[1:], [weight]
    )
    model = helper.make_model(graph)
    assert seen_constant(model, lambda name: np.float32([3, 4]) if name == "w" else None) == [[3.0, 4.0]]
    assert seen_constant(model) == [None]


def test_new_names_are_new() -> None:
    text = HEADER + "g (float[N] y__1) => (float[N] y) { y__2 = Relu(y__1)  y = Relu(y__2) }"
    result = rewrite(parser.parse_model(text), RULES)
    names = [name for node in result.model.graph.node for name in node.output]
    assert len(set(names)) == len(names)
    assert "y__1" not in names
    onnx.checker.check_model(result.model, full_check=True)


def test_types_come_from_inference() -> None:
    text = HEADER + "g (float[N] x) => (double[N] y) { a = Cast <to = 11> (x)  y = Relu(a) }"
    seen: list[DType | None] = []

    def look(site: Site) -> list[tuple[str, str]]:
        seen.append(site.dtype(0))
        return []

    rewrite(parser.parse_model(text), {("", "Relu"): look})
    assert seen == [DType.DOUBLE]


FUNCTION = """g (float[N] x, double[N] z) => (float[N] y) { y = own.f(x) }
    <opset_import: ["" : 18], domain: "own"> f (a) => (b) { b = Relu(a) }"""


def test_an_only_copy_of_a_function_takes_its_place() -> None:
    result = rewrite(parser.parse_model(HEADER + FUNCTION), RULES).model
    assert [each.name for each in result.functions] == ["f"]
    assert [node.op_type for node in result.graph.node] == ["f"]
    assert "Max" in operators(result)


def test_several_copies_have_names_of_their_own() -> None:
    text = FUNCTION.replace(
        "(float[N] y) { y = own.f(x)", "(float[N] y, double[N] w) { y = own.f(x) w = own.f(z)"
    )
    result = rewrite(parser.parse_model(HEADER + text), RULES).model
    names = [each.name for each in result.functions if any(node.op_type == "Max" for node in each.node)]
    assert len(names) == 2
    assert [node.op_type for node in result.graph.node] == names


def test_what_takes_a_place_says_where_it_was_written() -> None:
    model = parser.parse_model(HEADER + "g (float[N] x) => (float[N] y) { y = Relu(x) }")
    model.graph.node[0].metadata_props.add(key="onnxsmith.source", value="a.py:1:1-1:2")
    for node in rewrite(model, RULES).model.graph.node:
        assert [(each.key, each.value) for each in node.metadata_props] == [
            ("onnxsmith.source", "a.py:1:1-1:2")
        ]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ('RegexFullMatch <pattern = "a"> (unknown)', onnx.TensorProto.BOOL),
        (
            'ai.onnx.ml.LabelEncoder <keys_strings = ["a"], values_int64s = [1], default_int64 = -1> (unknown)',
            onnx.TensorProto.INT64,
        ),
        (
            'ai.onnx.ml.LabelEncoder <keys_strings = ["a"], values_strings = ["b"]> (unknown)',
            onnx.TensorProto.STRING,
        ),
    ],
    ids=["RegexFullMatch", "LabelEncoder to numbers", "LabelEncoder to text"],
)
def test_inference_comes_back_from_operators_on_what_has_no_type(call: str, kind: int) -> None:
    header = '<ir_version: 8, opset_import: ["" : 20, "own" : 1, "ai.onnx.ml" : 4]> '
    body = f"g (string[N] x) => (y) {{ unknown = own.Unknown(x) z = {call} y = Identity(z) }}"
    graph = inferred_graph(parser.parse_model(header + body))
    found = {each.name: each.type.tensor_type.elem_type for each in (*graph.value_info, *graph.output)}
    assert found["z"] == kind
