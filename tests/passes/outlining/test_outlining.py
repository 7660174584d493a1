"""`outline`: parts of a model as functions, by what repeats, by modules, by names that the user gives."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import BOOL, FLOAT, Model, outline, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeValueError, CallError, InvalidModelError
from tests.passes.outlining.layered_nets import LAYERS, Net, assert_same, calls, layer, transformer


def outlined(model: ir.Model, by: Any) -> Any:
    """The outlined model, after all that must hold for any."""
    given = Model(model)
    before = given.proto.SerializeToString(deterministic=True)
    result = outline(given, by=by)
    assert given.proto.SerializeToString(deterministic=True) == before
    assert_same(model, result.proto)
    return result


def test_repeats_are_the_default() -> None:
    model = Model(transformer())
    result = model.outline()
    assert calls(result.ir) == {"decoder_layer": LAYERS}
    assert result.report.nodes_before > result.report.nodes_after
    assert result.report.rules["call of decoder_layer"] == LAYERS
    assert result.ir.graph.initializers["decoder.layers.3.attn.q.weight"].const_value is (
        model.ir.graph.initializers["decoder.layers.3.attn.q.weight"].const_value
    )


def test_the_log_says_what_became_what() -> None:
    made, first = outline(Model(transformer())).report.edits[:2]
    assert made.rule == "function decoder_layer"
    assert made.change.endswith("put in")
    assert first.pass_name == "outlining"
    assert [each.operator for each in first.after] == ["this::decoder_layer"]
    assert first.after[0].name == "decoder.layers.0"
    assert "Softmax" in [each.operator for each in first.before]


def test_modules_become_functions_in_functions() -> None:
    result = outlined(transformer(prefix="decoder/layers."), "scopes")
    names = {each.name for each in result.ir.functions.values()}
    assert {"decoder", "decoder_layer"} <= names
    decoder = next(each for each in result.ir.functions.values() if each.name == "decoder")
    assert [node.op_type for node in decoder.graph] == ["decoder_layer"] * LAYERS
    (one,) = [each for each in result.ir.functions.values() if each.name == "decoder_layer"]
    inside = [node.op_type for node in one.graph]
    assert "Softmax" not in inside, "attention is a module of its own"
    # All linear layers of all modules are one function.
    assert (
        sum("MatMul" in [node.op_type for node in each.graph] for each in result.ir.functions.values()) == 2
    )


def test_a_module_of_the_whole_model_is_no_function() -> None:
    net = Net()
    x = net.x
    for number in range(2):
        x = net(f"model/block.{number}", "Relu", net(f"model/block.{number}", "Neg", x))
    result = outlined(net.model(x), "scopes")
    assert calls(result.ir) == {"block": 2}


def test_names_by_a_function() -> None:
    result = outlined(transformer(), lambda node: "Attention" if "/attn" in node.name else None)
    # The attentions of the layers need each other by way of what is between them: each is a call.
    assert calls(result.ir) == {"Attention": LAYERS}


def test_names_with_numbers_share_a_function() -> None:
    def named(node: ir.Node) -> str | None:
        found = (node.name or "").split("/")[2:3]
        return f"layer.{found[0].partition('.')[2]}" if found and found[0].startswith("layers.") else None

    assert calls(outlined(transformer(), named).ir) == {"layer": LAYERS}


def test_other_names_are_other_functions() -> None:
    net = Net()
    x = net.linear("one", net.x)
    x = net.linear("two", x)
    result = outlined(net.model(x), lambda node: node.name.split("/")[1])
    assert calls(result.ir) == {"one": 1, "two": 1}


def test_slashes_are_parts_in_parts() -> None:
    net = Net()
    x = net("outer", "Neg", net.linear("outer/inner", net.x))
    result = outlined(net.model(x), lambda node: "outer/inner" if "inner" in node.name else "outer")
    assert calls(result.ir) == {"outer": 1}
    outer = next(each for each in result.ir.functions.values() if each.name == "outer")
    assert [node.op_type for node in outer.graph] == ["inner", "Neg"]


def test_the_function_is_given_nodes_of_the_model_itself() -> None:
    model = Model(transformer())
    chosen = {node for node in model.ir.graph if node.op_type == "Softmax"}
    result = outline(model, by=lambda node: "soft" if node in chosen else None)
    assert calls(result.ir) == {"soft": LAYERS}


def test_one_part_that_cannot_be_one_call_is_several() -> None:
    net = Net()
    x = net("part", "Neg", net.x)
    x = net("part", "Abs", net("between", "Sin", x))
    result = outlined(net.model(x), lambda node: "part" if "part" in node.name else None)
    assert [node.op_type for node in result.ir.graph] == ["part", "Sin", "part_2"]


def test_parts_that_wait_for_each_other() -> None:
    net = Net()
    halves = [net(f"p{k}", "Relu", net.x) for k in (0, 1)]
    ends = [net(f"p{k}", "Neg", halves[1 - k]) for k in (0, 1)]
    result = outlined(net.model(*ends), lambda node: node.name.split("/")[1])
    onnx.checker.check_model(result.proto, full_check=True)
    assert len(result.ir.graph) == 4


def test_nodes_between_that_need_the_part_come_after_it() -> None:
    net = Net()
    first = net("part", "Neg", net.x)
    other = net("other", "Sin", first)
    last = net("part", "Abs", first)
    result = outlined(net.model(other, last), lambda node: "part" if "part" in node.name else None)
    assert [node.op_type for node in result.ir.graph] == ["part", "Sin"]


def test_what_gives_nothing_stays() -> None:
    net = Net()
    net("dead", "Neg", net.x)
    result = outlined(net.model(net("alive", "Relu", net.x)), lambda node: node.name.split("/")[1])
    assert [node.op_type for node in result.ir.graph] == ["Neg", "alive"]


def test_nothing_to_do_is_said() -> None:
    net = Net()
    model = net.model(layer(net, "only", net.x))
    assert "no part repeats" in str(outlined(model, "repeats").report)
    assert "no node has a part" in str(outlined(model, lambda node: None).report)
    plain = trace(lambda x: op.Relu(x) + 1.0, FLOAT["N"])
    assert "no modules" in str(outline(plain, by="scopes").report)


def test_a_large_constant_is_no_constant_of_a_function() -> None:
    net = Net()
    large = net.constant("part", np.ones((48, 24), np.float32))
    x = net("part", "MatMul", net.x, net("part", "Transpose", large))
    x = net("part", "Slice", x, *(net.initializer(f"i{k}", np.array([k])) for k in (0, 24, 1)))
    result = outlined(net.model(x), lambda node: "part")
    (function,) = result.ir.functions.values()
    sizes = [
        node.attributes["value"].as_tensor().nbytes for node in function.graph if node.op_type == "Constant"
    ]
    assert max(sizes) < 100
    assert len(function.inputs) == 2


def test_a_model_of_another_domain_has_no_constant_nodes() -> None:
    custom = onnxsmith.Opset("my.domain", 1)
    number = np.float32(2)
    model = trace(lambda x: custom.Second(custom.First(x, number)), FLOAT["N"])
    ir_model = model.ir
    ir_model.opset_imports.pop("", None)
    (function,) = outline(Model(ir_model), by=lambda node: "part").ir.functions.values()
    assert set(function.opset_imports) == {node.domain for node in function.graph}


def test_places_in_the_source_are_kept() -> None:
    def network(x: Any) -> Any:
        x = op.Tanh(op.Relu(op.Exp(x)))
        return op.Tanh(op.Relu(op.Exp(x)))

    model = trace(network, FLOAT["N"])
    places = [node.metadata_props["onnxsmith.source"] for node in model.ir.graph]
    (function,) = outline(model).ir.functions.values()
    for node, one, two in zip(function.graph, places[:3], places[3:], strict=True):
        assert node.metadata_props["onnxsmith.source"] == one
        assert json.loads(node.metadata_props["onnxsmith.sources"]) == [one, two]


@pytest.mark.parametrize("by", ["modules", 3, None, ("repeats",)])
def test_an_unknown_criterion_is_refused(by: Any) -> None:
    with pytest.raises(AttributeValueError, match="by is 'repeats', 'scopes' or a function"):
        outline(Model(transformer()), by=by)


def test_what_is_no_name_is_refused() -> None:
    with pytest.raises(AttributeValueError, match="by gave an int for the node MatMul"):
        outline(Model(transformer()), by=lambda node: 3)  # type: ignore[arg-type,return-value]
    with pytest.raises(CallError, match="outline takes a model, not a list"):
        outline([transformer()])  # type: ignore[arg-type]


def test_an_error_of_the_users_function_is_the_users() -> None:
    with pytest.raises(ZeroDivisionError):
        outline(Model(transformer()), by=lambda node: str(1 // 0))


@pytest.mark.parametrize("by", ["repeats", "scopes", lambda node: "part"])
@pytest.mark.parametrize("nodes", ["y = Relu(missing)", "a = Relu(b) b = Neg(a) y = Relu(b)"])
def test_a_model_that_is_wrong_is_told_to_be(nodes: str, by: Any) -> None:
    text = '<ir_version: 9, opset_import: ["": 18]> g (float[4] x) => (float[4] y)'
    with pytest.raises(InvalidModelError, match="the model is not valid"):
        outline(Model.from_proto(parser.parse_model(f"{text} {{ {nodes} }}")), by=by)


def test_what_the_first_layer_computes_for_all_is_no_part_of_it() -> None:
    """As after a pass that computes equal things once: the mask stands in the first layer, and all take it."""

    def network(x, mask):
        bias = op.Where(mask, 0.0, -1.0)
        for _ in range(3):
            x = op.Relu(op.Sin(x) + bias)
        return x

    proto = trace(network, FLOAT["N"], BOOL["N"]).proto
    layer = 0
    for node in proto.graph.node:
        node.name = f"/layers.{layer}/{node.op_type}"
        layer += node.op_type == "Relu"
    model = Model.from_proto(proto)
    made = model.outline()
    assert [each.op_type for each in made.ir.graph] == ["Where", *["layer"] * 3]
    x, mask = np.float32([1, 2]), np.array([True, False])
    assert np.array_equal(made(x, mask), model(x, mask))
