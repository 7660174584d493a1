"""The law of value types: what a model notes of the values inside it, the rebuilt model notes, too."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper, parser

import onnxsmith
from onnxsmith import Model
from tests.decompile.backend_cases import all_cases
from tests.decompile.fidelity import differences
from tests.decompile.random_models import models
from tests.decompile.round_trip import compile_text, first_difference
from tests.decompile.test_law import LENIENT
from tests.decompile.value_infos import lost_types, with_inferred_types, with_strange_operators

pytestmark = pytest.mark.filterwarnings("ignore::onnxsmith.errors.ModelWarning")

SHARDS = 12


def check(model: onnx.ModelProto, text: str | None = None) -> None:
    text = onnxsmith.decompile(model) if text is None else text
    proto = compile_text(text)
    assert not differences(model, proto), text
    assert not lost_types(model, proto), text
    assert first_difference(text, onnxsmith.decompile(proto)) is None


@pytest.mark.parametrize("shard", range(SHARDS))
def test_backend_cases_keep_their_types(shard: int) -> None:
    """With what onnx infers noted in them, and with operators that nobody can infer anything of."""
    several = [case for case in all_cases()[shard :: SHARDS * 2] if case.suite != "real"]
    for case in several:
        model = with_inferred_types(case.model)
        if not model.graph.value_info:
            continue
        check(model)
        check(with_strange_operators(model, 1))
        check(with_strange_operators(model, 3))


@settings(LENIENT, max_examples=60)
@given(models(), st.sampled_from([1, 2, 3]))
def test_random_models_keep_their_types(model: onnx.ModelProto, every: int) -> None:
    try:
        typed = with_inferred_types(model)
    except Exception:  # onnx's inference throws what it likes; the model has its own notes
        typed = model
    check(with_strange_operators(typed, every))


CUSTOM = """<ir_version: 8, opset_import: ["": 17, "c": 1]>
    g (float[N, 4] x) => (float[N, 4] y) <float[N, 4] t, float[N, 4] u> { t = c.Foo(x) u = Relu(t) y = c.Foo(u) }"""


def types_of(model: onnx.ModelProto) -> dict[str, str]:
    return {each.name: helper.printable_value_info(each) for each in model.graph.value_info}


def recompiled(text: str) -> onnx.ModelProto:
    made = onnxsmith.recompile(text)
    assert isinstance(made, Model)
    return made.proto


def test_only_what_inference_does_not_find_is_written() -> None:
    text = onnxsmith.decompile(parser.parse_model(CUSTOM))
    assert 'value_types={"t": FLOAT["N", 4]}' in text
    check(parser.parse_model(CUSTOM), text)


def test_no_type_is_made_up() -> None:
    model = parser.parse_model(CUSTOM)
    model.graph.ClearField("value_info")
    text = onnxsmith.decompile(model)
    assert "value_types" not in text
    assert not recompiled(text).graph.value_info


def test_names_of_dimensions_are_the_models() -> None:
    """Inference names what it computes itself; an exporter's symbols are other words for it."""
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[s0] x) => (float[s9] y) <float[s1] t, float[s1] u> {
            t = Concat<axis=0>(x, x) u = Relu(t) y = Neg(u)
        }"""
    )
    assert types_of(recompiled(onnxsmith.decompile(model))) == types_of(model)
    check(model)


def test_values_inside_branches() -> None:
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17, "c": 1]>
        g (bool b, float[N] x) => (float[N] y) {
            y = If(b) <
                then_branch = one () => (float[N] p) <float[N] s> { s = c.Foo(x) p = Neg(s) },
                else_branch = two () => (float[N] q) { q = Neg(x) }>
        }"""
    )
    check(model)


def test_values_inside_functions() -> None:
    model = parser.parse_model(
        """<ir_version: 10, opset_import: ["": 17, "l": 1]> g (float[N] x) => (float[N] y) { y = l.F(x) }
        <domain: "l", opset_import: ["": 17, "c": 1]> F (a) => (b) { s = c.Foo(a) b = Neg(s) }"""
    )
    for name in ("a", "s", "b"):
        model.functions[0].value_info.append(helper.make_tensor_value_info(name, 1, ["N"]))
    text = onnxsmith.decompile(model)
    assert 'value_types={"a": FLOAT["N"], "s": FLOAT["N"]}' in text
    check(model, text)
    function = model.functions[0]
    again = onnxsmith.recompile(onnxsmith.decompile(function))
    assert isinstance(again, onnx.FunctionProto)
    assert {each.name for each in again.value_info} == {"a", "s", "b"}


def test_what_is_said_of_a_value_inside() -> None:
    model = parser.parse_model(CUSTOM)
    model.graph.value_info[0].doc_string = "what Foo makes"
    model.graph.value_info[0].type.denotation = "TENSOR"
    model.graph.value_info[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    model.graph.value_info[0].metadata_props.add(key="k", value="v")
    check(model)
    (kept,) = (each for each in recompiled(onnxsmith.decompile(model)).graph.value_info if each.name == "t")
    assert kept == model.graph.value_info[0]


def test_a_type_that_contradicts_is_left_out() -> None:
    """Inference is sure of it: the model had it wrong, or the code was edited."""
    model = parser.parse_model(
        CUSTOM.replace("t = c.Foo(x)", "t = Neg(x)").replace("float[N, 4] t", "int64[7] t")
    )
    text = onnxsmith.decompile(model)
    assert types_of(recompiled(text))["t"].startswith("%t[FLOAT, Nx4")
    edited = onnxsmith.decompile(parser.parse_model(CUSTOM)).replace("c.Foo(x)", "op.Cast(x, to=7)")
    assert types_of(recompiled(edited))["t"].startswith("%t[INT64, Nx4")


def test_a_value_that_is_gone_takes_its_type_with_it() -> None:
    text = (
        onnxsmith.decompile(parser.parse_model(CUSTOM))
        .replace("    t = c.Foo(x)\n", "")
        .replace("(t)", "(x)")
    )
    assert set(types_of(recompiled(text))) == {"u"}


def test_grouped_layers_share_no_types() -> None:
    names = ["x", *(f"t{k}" for k in range(12))]
    nodes = [
        helper.make_node("Relu" if k % 2 else "Foo", [names[k]], [names[k + 1]], domain="" if k % 2 else "c")
        for k in range(12)
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["N"])],
        [helper.make_tensor_value_info("t11", 1, ["N"])],
        value_info=[helper.make_tensor_value_info(name, 1, ["N", k]) for k, name in enumerate(names[1:-1])],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("c", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    proto = compile_text(onnxsmith.decompile(model, group=True))
    assert not [each for function in proto.functions for each in function.value_info]


@pytest.mark.parametrize("names", [("", ""), ("first", "second")])
def test_tensors_in_a_list_keep_their_names(names: tuple[str, str]) -> None:
    tensors = [numpy_helper.from_array(np.ones(300, np.float32), name) for name in names]
    strange = helper.make_node("Swish", [], ["z"], domain="strange")
    strange.attribute.append(helper.make_attribute("alpha", tensors))
    port = helper.make_tensor_value_info
    graph = helper.make_graph(
        [strange, helper.make_node("Identity", ["x"], ["y"])],
        "g",
        [port("x", 1, ["N"])],
        [port("y", 1, ["N"])],
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("strange", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    back = onnxsmith.recompile(onnxsmith.decompile(model)).proto
    assert tuple(each.name for each in back.graph.node[0].attribute[0].tensors) == names


def test_an_output_of_maps_comes_back() -> None:
    """As onnxmltools writes every classifier of scikit-learn."""
    text = """<ir_version: 8, opset_import: ["" : 15, "ai.onnx.ml" : 1]>
        g (float[N, 2] x) => (seq(map(int64, float)) y) {
            y = ai.onnx.ml.ZipMap<classlabels_int64s = [0, 1]>(x)
        }"""
    model = Model.from_proto(parser.parse_model(text))
    again = onnxsmith.recompile(onnxsmith.decompile(model))
    assert isinstance(again, Model)
    assert again.outputs == model.outputs
