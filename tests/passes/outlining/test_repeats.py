"""Repeated layers become one function that is called for each; what is not certainly the same stays as it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

import onnxsmith
from onnxsmith.passes.outlining import group_repeated
from tests.decompile.round_trip import proto_of_file
from tests.passes.outlining.layered_nets import (
    LAYERS,
    WIDTH,
    Net,
    assert_same,
    calls,
    grouped,
    layer,
    only_function,
    transformer,
)

# -- named layers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["decoder/layers.", "decoder.layers.", "model/decoder/decoder.layers."])
def test_layers_of_a_transformer_are_one_function(prefix: str) -> None:
    result = grouped(transformer(prefix=prefix))
    assert calls(result) == {"decoder_layer": LAYERS}
    assert [node.op_type for node in result.graph][:2] == ["MatMul", "Add"]
    assert len(result.graph) == 4 + LAYERS
    assert result.opset_imports["this"] == 1


def test_each_call_has_its_own_weights() -> None:
    model = transformer()
    result = grouped(model)
    function = only_function(result)
    names = [value.name for value in function.inputs]
    assert names[:3] == ["x", "norm_weight", "norm_bias"]
    assert "attn_q_weight" in names
    assert "mlp_down_bias" in names
    for number, call in enumerate(node for node in result.graph if node.op_type == function.name):
        assert call.name == f"decoder.layers.{number}"
        weights = [value.name for value in call.inputs if value is not None][1:]
        assert all(f"layers.{number}." in (name or "") for name in weights)


def test_weights_are_shared_with_the_model() -> None:
    model = transformer()
    result = group_repeated(model)
    assert result is not model
    for name, value in model.graph.initializers.items():
        assert result.graph.initializers[name].const_value is value.const_value


def test_the_text_has_one_function_and_its_calls() -> None:
    text = onnxsmith.decompile(transformer(), group=True)
    assert len(re.findall(r"^def decoder_layer\(", text, re.MULTILINE)) == 1
    assert len(re.findall(r"= decoder_layer\($", text, re.MULTILINE)) == LAYERS
    assert text.count("np.array(0.5, np.float32)") == 1
    plain = onnxsmith.decompile(transformer())
    assert "decoder_layer(" not in plain
    assert text.count("op.Softmax") == 1
    assert plain.count("op.Softmax") == LAYERS


def test_the_formatter_leaves_the_text_alone(tmp_path: Path) -> None:
    (tmp_path / "grouped.py").write_text(onnxsmith.decompile(transformer(), group=True))
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--diff", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("weights", ["safetensors", "inline"])
def test_a_folder_takes_groups_too(tmp_path: Path, weights: Any) -> None:
    model = transformer()
    path = onnxsmith.decompile_to(model, tmp_path, weights=weights, group=True)
    assert "def decoder_layer(" in path.read_text()
    assert_same(model, proto_of_file(path))


def test_torch_metadata_tells_the_layers() -> None:
    def annotated(kind: str) -> ir.Model:
        model = transformer()
        for number, node in enumerate(model.graph):
            path = (node.name or "").strip("/").rpartition("/")[0].replace("/", ".")
            scopes = ["", *([".".join(path.split(".")[:3])] if "layers" in path else []), path, f"n{number}"]
            if kind == "namespace":
                text = "/".join(f"{each}: torch.nn.Thing" for each in scopes)
                node.metadata_props["namespace"] = text
            else:
                node.metadata_props["pkg.torch.onnx.name_scopes"] = repr(scopes)
            node.name = f"node_{number}"
            for value in node.outputs:
                value.name = f"val_{number}"
        return model

    for kind in ("namespace", "name_scopes"):
        result = grouped(annotated(kind))
        assert calls(result) == {"decoder_layer": LAYERS}, kind


def test_the_class_of_a_module_names_its_function() -> None:
    net = Net()
    x = net.x
    for number in range(3):
        x = net(f"h.{number}", "Relu", net.linear(f"h.{number}/fc", x))
    model = net.model(x)
    for node in model.graph:
        scopes = ["", ".".join((node.name or "").split("/")[1].split(".")[:2]), "n"]
        node.metadata_props["pkg.torch.onnx.name_scopes"] = repr(scopes)
        classes = ["my.models.Network", "my.layers.DecoderLayer", "aten.thing"]
        node.metadata_props["pkg.torch.onnx.class_hierarchy"] = repr(classes)
    assert calls(grouped(model)) == {"decoder_layer": 3}


@pytest.mark.parametrize("text", ["[", "[1, 2]", "[{[]: 1}]", "__import__('os')", "[" * 3000, "['a'"])
def test_damaged_metadata_says_nothing(text: str) -> None:
    model = transformer()
    for node in model.graph:
        node.metadata_props["pkg.torch.onnx.name_scopes"] = text
    assert calls(group_repeated(model)) == {"decoder_layer": LAYERS}


# -- what differs ------------------------------------------------------------------------------------------


def test_layers_that_differ_in_an_attribute_are_not_merged() -> None:
    net = Net()
    x = net.x
    for number in range(6):
        x = layer(net, f"layers.{number}", x, slope=0.2 if number == 3 else 0.1)
    result = grouped(net.model(x))
    assert calls(result) == {"layer": 5}
    (kept,) = (node for node in result.graph if node.op_type == "LeakyRelu")
    assert kept.attributes["alpha"].as_float() == pytest.approx(0.2)


def test_parts_of_layers_that_differ_are_still_found() -> None:
    net = Net()
    x = net.x
    for number in range(4):
        x = layer(net, f"layers.{number}", x, slope=0.1 * (number + 1))
    assert calls(grouped(net.model(x))) == {"layer_attn": 4}


def test_constants_that_differ_are_inputs_and_equal_ones_stay_inside() -> None:
    net = Net()
    x = net.x
    for number in range(3):
        x = layer(net, f"layers.{number}", x, scale=0.5)
    inside = only_function(grouped(net.model(x)))
    assert sum(node.op_type == "Constant" for node in inside.graph) == 1
    net = Net()
    x = net.x
    for number in range(3):
        x = layer(net, f"layers.{number}", x, scale=0.5 + number)
    result = grouped(net.model(x))
    outside = only_function(result)
    assert not any(node.op_type == "Constant" for node in outside.graph)
    assert sum(node.op_type == "Constant" for node in result.graph) == 3
    assert len(outside.inputs) == len(inside.inputs) + 1


def test_small_initializers_that_are_equal_are_constants() -> None:
    net = Net()
    x = net.x
    for number in range(3):
        for _ in range(2):
            shape = net.initializer(f"layers.{number}.shape{len(net.weights)}", np.array([-1, WIDTH]))
            x = net(f"layers.{number}", "Reshape", net(f"layers.{number}", "Relu", x), shape)
        x = net.linear(f"layers.{number}/out", x)
    result = grouped(net.model(x))
    assert len(only_function(result).inputs) == 3
    assert all("shape" not in name for name in result.graph.initializers)


def test_tied_weights_are_passed_to_each_call() -> None:
    net = Net()
    tied = net.weight("shared.weight")
    x = net.x
    for number in range(4):
        y = net(f"layers.{number}", "MatMul", x, tied)
        y = net(f"layers.{number}", "Relu", net.linear(f"layers.{number}/fc", y))
        x = net(f"layers.{number}", "Add", x, net(f"layers.{number}", "MatMul", y, tied))
    result = grouped(net.model(x))
    assert calls(result) == {"layer": 4}
    assert [value.name for value in only_function(result).inputs] == [
        "x",
        "shared_weight",
        "fc_weight",
        "fc_bias",
    ]


def test_one_value_in_one_layer_and_two_in_another() -> None:
    net = Net()
    one, two = net.weight("one"), net.weight("two")
    x = net.x
    for number, (first, second) in enumerate([(one, one), (one, two), (two, two)]):
        y = net(f"layers.{number}", "Relu", net(f"layers.{number}", "MatMul", x, first))
        x = net(f"layers.{number}", "Tanh", net(f"layers.{number}", "MatMul", y, second))
    result = grouped(net.model(x))
    assert calls(result) == {"layer": 3}
    assert len(only_function(result).inputs) == 3


def test_a_result_that_one_layer_is_asked_for_is_a_result_of_all() -> None:
    net = Net()
    x = net.x
    extra: list[ir.Value] = []
    for number in range(4):
        hidden = net(f"layers.{number}", "Relu", net.linear(f"layers.{number}/fc", x))
        x = net(f"layers.{number}", "Add", x, hidden)
        extra.append(hidden)
    result = grouped(net.model(x, extra[1], extra[3]))
    assert calls(result) == {"layer": 4}
    assert len(only_function(result).outputs) == 2
    assert [value.name for value in result.graph.outputs] == [x.name, extra[1].name, extra[3].name]
