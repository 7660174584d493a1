"""What `diff` says of inputs, outputs, functions, opsets, metadata, types and constants; and how it says it."""

from __future__ import annotations

import json
import random

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper, parser

from onnxsmith import FLOAT, INT64, Model, diff, script, trace
from onnxsmith import opset20 as op20
from onnxsmith import opset21 as op
from onnxsmith.diffing import Difference
from onnxsmith.errors import CallError
from tests.diffing import graphs


def told(found: Difference) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(each.thing, each.kind, each.label, each.details) for each in found.changes]


def test_inputs_and_outputs() -> None:
    one = trace(lambda a, b: a + b, FLOAT["N"], FLOAT["N"])
    other = trace(lambda a, c: (a + c, a), FLOAT["N"], FLOAT[3])
    found = diff(one, other)
    assert [each.label for each in found.of("node")] == [
        "identity = Identity(a)"
    ]  # an input that is given back
    (changed,) = found.of("input")
    assert changed.details == ("name: 'b' -> 'c'", "type: FLOAT['N'] -> FLOAT[3]")
    assert [each.kind for each in found.of("output")] == ["added", "changed"]


def test_an_input_that_is_new() -> None:
    one = trace(lambda a: op.Relu(a), FLOAT["N"])
    other = trace(lambda a, b: op.Relu(a), FLOAT["N"], INT64["N"])
    found = diff(one, other)
    assert told(found) == [("input", "added", "b: INT64['N']", ())]


def test_an_output_that_comes_from_elsewhere() -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y, float[2] z)'
    text = head + " {{ y = {0}(x) z = {1}(x) }}"
    one, other = (
        Model.from_proto(parser.parse_model(text.format(*names)))
        for names in (("Exp", "Neg"), ("Neg", "Exp"))
    )
    found = diff(one, other)
    assert found.of("output") or found.of("node")


def test_opsets_and_metadata() -> None:
    one = trace(lambda a: op20.Relu(a), FLOAT["N"]).with_metadata(author="a", only="here")
    other = trace(lambda a: op.Relu(a), FLOAT["N"]).with_metadata(author="b", also="there")
    found = diff(one, other)
    assert [each for each in told(found) if each[0] != "model"] == [
        ("opset", "changed", "ai.onnx", ("20 -> 21",)),
        ("metadata", "changed", "author", ("a -> b",)),
        ("metadata", "removed", "only here", ()),
        ("metadata", "added", "also there", ()),
    ]


@script
def gelu(x: FLOAT[...]):
    return 0.5 * x * (op.Erf(x * 0.7071) + 1.0)


@script
def other_gelu(x: FLOAT[...]):
    return 0.5 * x * (op.Tanh(x * 0.7071) + 1.0)


def test_functions() -> None:
    one = trace(lambda a: gelu(a) + 1.0, FLOAT["N"])
    other = trace(lambda a: other_gelu(a) + 1.0, FLOAT["N"])
    found = diff(one, other)
    (change,) = found.of("node")
    assert change.details == ("operator: Erf -> Tanh",)
    assert change.before is not None
    assert change.before.startswith("tests.diffing.test_whole_models::gelu/")
    assert not found.of("function")


def test_attributes_of_functions_without_a_default() -> None:
    @script(default_opset=op, domain="my")
    def leaky(x, alpha: float):
        return op.LeakyRelu(x, alpha=alpha)

    one = trace(lambda a: leaky(a, alpha=0.5), FLOAT["N"])
    assert not diff(one, one)
    proto = onnx.ModelProto()
    proto.CopyFrom(one.proto)
    (function,) = proto.functions
    del function.attribute[:]
    function.attribute_proto.append(helper.make_attribute("alpha", 0.25))
    (change,) = diff(one, Model.from_proto(proto)).of("function")
    assert change.details == ("default of alpha: no default -> 0.25",)


def test_parameters_of_functions_without_a_default_have_no_type() -> None:
    text = """<ir_version: 9, opset_import: ["": 18, "d": 1]> g (float[N] x) => (float[N] y)
    { y = d.F <alpha = 0.5> (x) }
    <opset_import: ["": 18], domain: "d"> F <alpha> (a) => (y) { y = Abs(a) }"""
    one, other = (Model.from_proto(parser.parse_model(text)) for _ in range(2))
    (function,) = other.ir.functions.values()
    function.attributes.add(ir.Attr("alpha", ir.AttributeType.FLOAT, None))
    assert not diff(one, other)


def test_a_weight_that_nothing_makes_any_more() -> None:
    text = """<ir_version: 9, opset_import: ["": 18]>
    g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Add(x, w) }"""
    before = parser.parse_model(text)
    after = onnx.ModelProto.FromString(before.SerializeToString())
    after.graph.initializer[0].name = "other"
    (change,) = diff(Model.from_proto(before), Model.from_proto(after)).of("node")
    assert change.details == ("input 1: 'w', a weight -> 'w', which nothing makes",)


def test_the_type_of_an_input_of_a_body() -> None:
    text = """<ir_version: 9, opset_import: ["": 18]> g (float[N] x, int64 n) => (float[N] y) {
    y = Loop (n, , x) <body = b (int64 i, bool c, float[N] a) => (bool d, float[N] r)
    { d = Identity(c) r = Abs(a) }> }"""
    before = parser.parse_model(text)
    after = onnx.ModelProto.FromString(before.SerializeToString())
    after.graph.node[0].attribute[0].g.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
    (change,) = diff(Model.from_proto(before), Model.from_proto(after)).of("node")
    assert change.details == ("body: type of input 0: INT64 -> INT32",)


def test_a_renamed_function_is_no_difference() -> None:
    one = trace(lambda a: gelu(a) + 1.0, FLOAT["N"]).proto
    other = onnx.ModelProto()
    other.CopyFrom(one)
    other.functions[0].name = "renamed"
    other.graph.node[0].op_type = "renamed"
    assert not diff(Model.from_proto(one), Model.from_proto(other))
    assert diff(Model.from_proto(one), Model.from_proto(other), names=True).of("function")


def test_a_function_that_nobody_calls() -> None:
    one = trace(lambda a: gelu(a) + 1.0, FLOAT["N"]).proto
    other = onnx.ModelProto()
    other.CopyFrom(one)
    extra = other.functions.add()
    extra.CopyFrom(one.functions[0])
    extra.name = "extra"
    (change,) = diff(Model.from_proto(one), Model.from_proto(other)).changes
    assert (change.thing, change.kind) == ("function", "added")


def test_constants_are_measured() -> None:
    def model(value: float) -> Model:
        text = f"""<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) {{
            c = Constant <value = float[2] {{1.0, {value}}}> ()
            y = Add(x, c)
        }}"""
        return Model.from_proto(parser.parse_model(text))

    (change,) = diff(model(2.0), model(4.0)).changes
    assert change.details == ("value: [1.0, 2.0] -> [1.0, 4.0]",)


def test_weights_of_other_types() -> None:
    one = trace(lambda a: a + np.ones(4, np.float32), FLOAT["N", 4])
    other = trace(lambda a: a + np.ones((1, 4), np.float32), FLOAT["N", 4])
    (change,) = diff(one, other).of("weight")
    assert change.details == ("type: FLOAT[4] -> FLOAT[1, 4]",)


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.0])
def test_numbers_that_are_none(value: float) -> None:
    one = trace(lambda a: a + np.float32([value, 1]), FLOAT["N", 2])
    same = trace(lambda a: a + np.float32([value, 1]), FLOAT["N", 2])
    other = trace(lambda a: a + np.float32([2, 1]), FLOAT["N", 2])
    assert not diff(one, same)
    assert diff(one, other).of("weight")
    assert str(diff(one, other))


def test_text_has_the_nodes_beside_a_change() -> None:
    before = graphs.random_model(3)
    after = onnx.ModelProto()
    after.CopyFrom(before)
    after.graph.node[10].op_type = "Ceil"
    del after.graph.node[10].attribute[:]
    text = str(diff(Model.from_proto(before), Model.from_proto(after)))
    lines = [line for line in text.splitlines() if line.startswith("  ")]
    marked = [line for line in lines if line.startswith("  ~")]
    assert len(marked) == 1
    assert "  10  " in marked[0]
    assert any("   9  " in line for line in lines)
    assert any("  11  " in line for line in lines)


def test_limit() -> None:
    found = diff(Model.from_proto(graphs.random_model(1)), Model.from_proto(graphs.random_model(2)))
    assert len(found.text(2).splitlines()) < len(found.text(None).splitlines())
    assert "more" in found.text(2)


def test_overlays_have_addresses_of_both_models() -> None:
    before = graphs.random_model(5)
    after = onnx.ModelProto()
    after.CopyFrom(before)
    place = graphs.inserted(after, random.Random(0))
    found = diff(Model.from_proto(before), Model.from_proto(after))
    old, new = found.side_by_side().overlays
    assert new.notes[str(place)].kind == "added"
    assert all(each.kind == "changed" for each in old.notes.values())
    assert set(old.notes) <= {each.address for each in Model.from_proto(before).nodes}


def test_json_and_html() -> None:
    one = trace(lambda a: op.Exp(a), FLOAT["<script>"])
    other = trace(lambda a: op.Neg(a), FLOAT["<script>"])
    found = one.diff(other)
    assert json.loads(json.dumps(found.as_dict()))["differ"]
    assert "<script>" not in found._repr_html_()
    assert repr(found).startswith("<the first model -> the second model: ")


def test_hostile_names_move_no_cursor() -> None:
    proto = trace(lambda a: op.Exp(a), FLOAT["N"]).proto
    other = onnx.ModelProto()
    other.CopyFrom(proto)
    other.graph.node[0].op_type = "Neg"
    for each in (proto, other):
        each.graph.node[0].name = "\x1b[2J"
        each.graph.node[0].output[0] = each.graph.output[0].name = "o\x1b[2J"
    assert "\x1b" not in str(diff(Model.from_proto(proto), Model.from_proto(other)))


def test_wrong_words() -> None:
    model = trace(lambda a: op.Exp(a), FLOAT["N"])
    with pytest.raises(CallError, match="diff takes a model, not an int"):
        diff(model, 3)  # type: ignore[arg-type]


def held(kind: int, values: list[object]) -> Model:
    weight = helper.make_tensor("w", kind, [len(values)], values)
    result = helper.make_tensor_value_info("y", kind, [len(values)])
    graph = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "g", [], [result], [weight])
    return Model.from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    )


@pytest.mark.parametrize(
    ("kind", "values", "others", "largest"),
    [
        (onnx.TensorProto.INT4, [1, 2, 3], [1, 2, 5], 2.0),
        (onnx.TensorProto.BFLOAT16, [1.0, 2.0], [1.0, 4.0], 2.0),
        (onnx.TensorProto.BOOL, [True, False], [True, True], 1.0),
        (onnx.TensorProto.STRING, [b"a", b"b"], [b"a", b"c"], None),
    ],
)
def test_weights_of_every_kind(
    kind: int, values: list[object], others: list[object], largest: float | None
) -> None:
    assert not diff(held(kind, values), held(kind, values))
    (change,) = diff(held(kind, values), held(kind, others)).changes
    assert change.magnitude is not None
    assert (change.magnitude.count, change.magnitude.largest) == (1, largest)


CALLING = """<ir_version: 9, opset_import: ["": 18, "f": 1]> g (float[4] x) => (float[4] y) { y = f.G(x) }
<domain: "f", opset_import: ["": %s]> G <%s> (x) => (y) { y = LeakyRelu <alpha: float = @k> (x) }"""


@pytest.mark.parametrize(
    ("version", "parameters", "words"),
    [
        (18, "k: float = 0.75", "default of k: 0.5 -> 0.75"),
        (18, "k", "default of k: 0.5 -> no default"),
        (18, "k: float = 0.5, l: int = 1", "default of l: no parameter -> 1"),
        (17, "k: float = 0.5", "opset ai.onnx: 18 -> 17"),
    ],
)
def test_what_functions_say_of_themselves(version: int, parameters: str, words: str) -> None:
    before = Model.from_proto(parser.parse_model(CALLING % (18, "k: float = 0.5")))
    after = Model.from_proto(parser.parse_model(CALLING % (version, parameters)))
    assert not diff(before, before)
    assert told(diff(before, after)) == [("function", "changed", "f::G", (words,))]


@pytest.mark.parametrize(
    ("inputs", "outputs", "thing", "words"),
    [
        ("float[4] b, float[4] a", "float[4] y, float[4] z", "input", "'a', 'b' -> 'b', 'a'"),
        ("float[4] a, float[4] b", "float[4] z, float[4] y", "output", "'y', 'z' -> 'z', 'y'"),
    ],
)
def test_the_order_of_inputs_and_outputs(inputs: str, outputs: str, thing: str, words: str) -> None:
    text = '<ir_version: 9, opset_import: ["": 18]> g (%s) => (%s) { y = Sub(a, b) z = Neg(a) }'
    before = parser.parse_model(text % ("float[4] a, float[4] b", "float[4] y, float[4] z"))
    found = diff(Model.from_proto(before), Model.from_proto(parser.parse_model(text % (inputs, outputs))))
    assert told(found) == [(thing, "changed", "order", (words,))]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "a = Relu(x) b = Relu(v) y = Sub(a, b)",
            "a = Relu(v) b = Relu(x) y = Sub(a, b)",
            [
                "input 0: 'a', which is Relu(x) -> 'a', which is Relu(v)",
                "input 1: 'b', which is Relu(v) -> 'b', which is Relu(x)",
            ],
        ),
        (
            "c = Neg(x) d = Neg(v) a = Relu(c) b = Relu(d) y = Sub(a, b)",
            "c = Neg(v) d = Neg(x) a = Relu(c) b = Relu(d) y = Sub(a, b)",
            [
                "input 0: 'a' -> 'a', which is made of other values",
                "input 1: 'b' -> 'b', which is made of other values",
            ],
        ),
    ],
)
def test_values_of_one_name_are_told_apart(before: str, after: str, words: list[str]) -> None:
    text = '<ir_version: 9, opset_import: ["": 18]> g (float[4] x, float[4] v) => (float[4] y) {{ {0} }}'
    one, other = (Model.from_proto(parser.parse_model(text.format(each))) for each in (before, after))
    assert [each for change in diff(one, other).changes for each in change.details] == words
