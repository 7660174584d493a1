"""Repeated layers become one function that is called for each; what is not certainly the same stays as it is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxsmith
from onnxsmith.decompiling.grouping import group_repeated
from tests.decompile.only_onnxsmith import offences
from tests.decompile.round_trip import compile_text, first_difference, proto_of_file

#: Wide enough for biases to be weights, and not literals.
WIDTH = 24
LAYERS = 12
FLOAT = ir.TensorType(ir.DataType.FLOAT)


class Net:
    """A model that is put together node by node, with names or without."""

    def __init__(self, *, named: bool = True, seed: int = 0) -> None:
        self.named = named
        self.nodes: list[ir.Node] = []
        self.weights: list[ir.Value] = []
        self.random = np.random.default_rng(seed)
        self.x = ir.Value(name="x", type=FLOAT, shape=ir.Shape(["N", WIDTH]))

    def __call__(self, scope: str, op: str, *inputs: ir.Value | None, outputs: int = 1, **attrs: Any) -> Any:
        node = ir.Node(
            "",
            op,
            inputs,
            [ir.convenience.convert_attribute(*each) for each in attrs.items()],
            num_outputs=outputs,
        )
        if self.named:
            count = sum(
                each.op_type == op and (each.name or "").startswith(f"/{scope}/") for each in self.nodes
            )
            node.name = f"/{scope}/{op}" + (f"_{count}" if count else "")
        for number, value in enumerate(node.outputs):
            value.name = f"{node.name}_output_{number}" if self.named else f"{len(self.nodes)}_{number}"
        self.nodes.append(node)
        return node.outputs[0] if outputs == 1 else tuple(node.outputs)

    def weight(self, name: str, *shape: int) -> ir.Value:
        return self.initializer(name, self.random.normal(0, 0.3, shape or (WIDTH, WIDTH)).astype(np.float32))

    def initializer(self, name: str, array: Any) -> ir.Value:
        name = name if self.named else f"w{len(self.weights)}"
        tensor = ir.tensor(array, name=name)
        value = ir.Value(
            name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(array.shape), const_value=tensor
        )
        self.weights.append(value)
        return value

    def constant(self, scope: str, array: Any) -> ir.Value:
        return self(scope, "Constant", value=ir.tensor(array))

    def linear(self, scope: str, x: ir.Value) -> ir.Value:
        path = scope.replace("/", ".")
        product = self(scope, "MatMul", x, self.weight(f"{path}.weight"))
        return self(scope, "Add", product, self.weight(f"{path}.bias", WIDTH))

    def model(self, *outputs: ir.Value, ir_version: int = 10, opset: int = 18) -> ir.Model:
        for value in outputs:
            value.type = FLOAT
            value.shape = ir.Shape(["N", WIDTH])
        graph = ir.Graph(
            [self.x],
            outputs,
            nodes=self.nodes,
            initializers=self.weights,
            opset_imports={"": opset},
            name="network",
        )
        return ir.Model(graph, ir_version=ir_version)


def layer(net: Net, scope: str, x: ir.Value, *, slope: float = 0.1, scale: float = 0.5) -> ir.Value:
    """A small pre-norm transformer layer."""
    path = scope.replace("/", ".")
    scales = net.weight(f"{path}.norm.weight", WIDTH), net.weight(f"{path}.norm.bias", WIDTH)
    normed = net(f"{scope}/norm", "LayerNormalization", x, *scales, axis=-1)
    query, key, value = (net.linear(f"{scope}/attn/{each}", normed) for each in ("q", "k", "v"))
    turned = net(f"{scope}/attn", "Transpose", key, perm=[1, 0])
    scores = net(f"{scope}/attn", "MatMul", query, turned)
    scaled = net(f"{scope}/attn", "Mul", scores, net.constant(f"{scope}/attn", np.float32(scale)))
    attended = net(f"{scope}/attn", "MatMul", net(f"{scope}/attn", "Softmax", scaled, axis=-1), value)
    x = net(scope, "Add", x, net.linear(f"{scope}/attn/o", attended))
    hidden = net(f"{scope}/mlp", "LeakyRelu", net.linear(f"{scope}/mlp/up", x), alpha=slope)
    return net(scope, "Add", x, net.linear(f"{scope}/mlp/down", hidden))


def transformer(*, named: bool = True, prefix: str = "decoder/layers.") -> ir.Model:
    net = Net(named=named)
    x = net.linear("embed", net.x)
    for number in range(LAYERS):
        x = layer(net, f"{prefix}{number}", x)
    return net.model(net.linear("head", x))


def run(model: ir.Model | onnx.ModelProto) -> list[Any]:
    import onnxruntime

    proto = ir.to_proto(model) if isinstance(model, ir.Model) else model
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    x = np.random.default_rng(1).normal(size=(5, WIDTH)).astype(np.float32)
    return session.run(None, {"x": x})


def assert_same(model: ir.Model, other: ir.Model | onnx.ModelProto) -> None:
    proto = ir.to_proto(other) if isinstance(other, ir.Model) else other
    onnx.checker.check_model(proto, full_check=True)
    for one, two in zip(run(model), run(proto), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def grouped(model: ir.Model) -> ir.Model:
    """The grouped model, after all that must hold for any: equal results, valid, its text too, nothing changed."""
    before = ir.to_proto(model).SerializeToString(deterministic=True)
    result = group_repeated(model)
    assert ir.to_proto(model).SerializeToString(deterministic=True) == before, "the model itself was changed"
    assert_same(model, result)
    text = onnxsmith.decompile(model, group=True)
    assert not offences(text), text
    again = compile_text(text)
    assert_same(model, again)
    assert first_difference(text, onnxsmith.decompile(again)) is None
    assert [f.name for f in again.functions] == [f.name for f in result.functions.values()]
    return result


def calls(model: ir.Model) -> dict[str, int]:
    """Function -> how often it is called."""
    names = {name for _, name, _ in model.functions}
    return dict(Counter(node.op_type for node in model.graph if node.op_type in names))


def only_function(model: ir.Model) -> ir.Function:
    (function,) = model.functions.values()
    return function


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


# -- order and cycles --------------------------------------------------------------------------------------


def test_a_module_that_is_left_and_entered_again_is_no_call() -> None:
    net = Net()
    x = net.x
    for number in range(3):
        x = net(f"layers.{number}", "Relu", net(f"layers.{number}", "Neg", x))
        x = net("between", ["Sin", "Cos", "Tanh"][number], x)
        x = net(f"layers.{number}", "Abs", net(f"layers.{number}", "Exp", x))
    assert calls(grouped(net.model(x))) == {}


def test_modules_that_wait_for_each_other_are_no_calls() -> None:
    net = Net()
    halves: list[ir.Value] = []
    for number in (0, 1):
        halves.append(net(f"layers.{number}", "Relu", net(f"layers.{number}", "Neg", net.x)))
    ends = [
        net(f"layers.{number}", "Abs", net(f"layers.{number}", "Exp", halves[1 - number]))
        for number in (0, 1)
    ]
    model = net.model(*ends)
    result = grouped(model)
    assert "layer" not in calls(result)


def test_nodes_of_two_layers_may_be_mixed() -> None:
    net = Net()
    left, right = net.x, net.x
    for op in ("Relu", "Exp", "Tanh", "Sin"):
        left, right = net("side.0", op, left), net("side.1", op, right)
    result = grouped(net.model(net("join", "Add", left, right)))
    assert calls(result) == {"side": 2}


def test_a_graph_that_is_out_of_order_is_left_alone() -> None:
    model = transformer()
    nodes = list(model.graph)
    model.graph.remove(nodes[0])
    model.graph.append(nodes[0])
    assert group_repeated(model) is model


# -- no names ----------------------------------------------------------------------------------------------


def test_a_transformer_without_names() -> None:
    assert calls(grouped(transformer(named=False))) == {"block": LAYERS}


def test_nodes_without_names_stay_without() -> None:
    model = ir.from_proto(ir.to_proto(transformer(named=False)))
    for node in model.graph:
        node.name = ""
    result = grouped(model)
    assert {node.name for node in result.graph} == {""}


def residual_network(blocks: Sequence[int]) -> ir.Model:
    """A network of stages of equal residual blocks, with a wider convolution between stages; nothing has a name."""
    net = Net(named=False)
    x = net("", "Unsqueeze", net.x, net.initializer("", np.array([1, 3])))
    x = net("", "Conv", x, net.weight("", 4, 1, 3, 1), kernel_shape=[3, 1], pads=[1, 0, 1, 0])
    for stage, count in enumerate(blocks):
        for _ in range(count):
            y = net("", "Conv", x, net.weight("", 4, 4, 3, 1), kernel_shape=[3, 1], pads=[1, 0, 1, 0])
            y = net("", "Conv", net("", "Relu", y), net.weight("", 4, 4, 1, 1), kernel_shape=[1, 1])
            x = net("", "Relu", net("", "Add", x, y))
        if stage + 1 < len(blocks):
            x = net("", "Tanh", net("", "Conv", x, net.weight("", 4, 4, 5, 1), pads=[2, 0, 2, 0]))
    x = net("", "ReduceMean", x, net.initializer("", np.array([1, 3])), keepdims=0)
    return net.model(x)


@pytest.mark.parametrize("blocks", [[5], [3, 4], [3, 1, 2]])
def test_residual_blocks_without_names(blocks: list[int]) -> None:
    result = grouped(residual_network(blocks))
    function = only_function(result)
    assert calls(result) == {"block": sum(blocks)}
    assert sorted(node.op_type for node in function.graph) == ["Add", "Conv", "Conv", "Relu", "Relu"]
    assert len(function.inputs) == 3
    assert len(function.outputs) == 1


def test_what_does_not_repeat_is_left_as_it_is() -> None:
    net = Net()
    model = net.model(layer(net, "layers.0", net.x))
    result = grouped(model)
    assert not result.functions
    assert onnxsmith.decompile(model, group=True) == onnxsmith.decompile(model)


# -- everything else that models have ----------------------------------------------------------------------


def branching(net: Net, scope: str, x: ir.Value, *, op: str = "Neg") -> ir.Value:
    """A layer with an If whose branches use a value and a weight from outside."""
    weight = net.weight(f"{scope}.weight")
    total = net(scope, "ReduceSum", x, keepdims=0)
    is_large = net(scope, "Greater", total, net.constant(scope, np.float32(0)))
    hidden = net(scope, "Relu", x)

    def branch(name: str, nodes: list[ir.Node]) -> ir.Graph:
        out = nodes[-1].outputs[0]
        for number, node in enumerate(nodes):
            node.outputs[0].name = f"{scope}_{name}_{number}"
        out.type, out.shape = FLOAT, ir.Shape(["N", WIDTH])
        return ir.Graph([], [out], nodes=nodes, name=name)

    product = ir.Node("", "MatMul", [hidden, weight])
    then_branch = branch("then", [product, ir.Node("", op, [product.outputs[0]])])
    else_branch = branch("else", [ir.Node("", "Tanh", [x])])
    chosen = net(scope, "If", is_large, then_branch=then_branch, else_branch=else_branch)
    return net(scope, "Add", chosen, x)


def test_control_flow_inside_layers() -> None:
    net = Net()
    x = net.x
    for number in range(3):
        x = branching(net, f"layers.{number}", x)
    result = grouped(net.model(x))
    assert calls(result) == {"layer": 3}
    assert len(only_function(result).inputs) == 2


def test_branches_that_differ_are_not_merged() -> None:
    net = Net()
    x = net.x
    for number, op in enumerate(("Neg", "Abs", "Neg")):
        x = branching(net, f"layers.{number}", x, op=op)
    assert calls(grouped(net.model(x))) == {"layer": 2}


def test_a_branch_that_gives_a_value_from_outside() -> None:
    net = Net()
    x = net.x
    for number in range(3):
        scope = f"layers.{number}"
        x = branching(net, scope, net(scope, "Relu", x))
        branch = net.nodes[-2].attributes["else_branch"].as_graph()
        branch.remove(branch[0])
        branch.outputs[0] = net.nodes[-2].inputs[0].producer().inputs[0].producer().inputs[0]
    model = net.model(x)
    before = len(model.graph)
    group_repeated(model)
    assert len(model.graph) == before


def test_old_models_list_weights_as_inputs() -> None:
    net = Net()
    x = net.x
    for number in range(3):
        x = net(f"layers.{number}", "Relu", net.linear(f"layers.{number}/fc", x))
    model = net.model(x, ir_version=3, opset=9)
    model.graph.inputs.extend(net.weights)
    result = group_repeated(model)
    assert calls(result) == {"layer": 3}
    assert [value.name for value in result.graph.inputs] == [value.name for value in model.graph.inputs]
    assert_same(model, result)


def test_functions_of_the_model_are_kept_and_their_names_too() -> None:
    net = Net()
    x = net.x
    inner = ir.Value(name="a")
    node = ir.Node("", "Relu", [inner])
    function = ir.Function(
        "this",
        "layer",
        graph=ir.Graph([inner], node.outputs, nodes=[node], opset_imports={"": 18}),
        attributes=(),
    )
    for number in range(3):
        x = net.linear(f"layers.{number}/fc", x)
        call = ir.Node("this", "layer", [x], name=f"/layers.{number}/call")
        net.nodes.append(call)
        x = call.outputs[0]
    model = net.model(x)
    model.opset_imports["this"] = 1
    model.functions[function.identifier()] = function
    result = grouped(model)
    assert calls(result) == {"layer_2": 3}
    assert {name for _, name, _ in result.functions} == {"layer", "layer_2"}


def test_missing_inputs_and_outputs() -> None:
    net = Net()
    x = net.x
    for number in range(3):
        low = net(
            f"layers.{number}", "Clip", net(f"layers.{number}", "Exp", x), None, net.weight(f"m{number}", 1)
        )
        net.weights[-1].const_value = ir.tensor(np.float32(2.0 + number))
        net.weights[-1].shape = ir.Shape([])
        dropped, mask = net(f"layers.{number}", "Dropout", low, outputs=2)
        mask.name = ""
        x = net(f"layers.{number}", "Tanh", dropped)
    model = net.model(x)
    result = group_repeated(model)
    assert calls(result) == {"layer": 3}
    assert_same(model, result)


@pytest.mark.parametrize(
    "name", ["__import__('os')", 'a"b\nc', "def", "Ünï", "0", "a" * 500, "weights", "op"]
)
def test_names_of_modules_are_only_data(name: str) -> None:
    net = Net()
    x = net.x
    for number in range(3):
        scope = f"{name}/{number}"
        x = net(scope, "Relu", net(scope, "Neg", net.linear(scope, x)))
    assert list(calls(grouped(net.model(x))).values()) == [3]


OPERATORS = {"Relu": 1, "Neg": 1, "Tanh": 1, "Add": 2, "Mul": 2, "Max": 2, "MatMul": 2}


@settings(deadline=None, derandomize=True, database=None, max_examples=40)
@given(
    body=st.lists(
        st.tuples(st.sampled_from(sorted(OPERATORS)), st.integers(0, 5), st.integers(0, 5)),
        min_size=3,
        max_size=9,
    ),
    count=st.integers(2, 5),
    named=st.booleans(),
    noise=st.lists(st.integers(0, 40), max_size=3),
)
def test_results_are_equal_whatever_repeats(
    body: list[tuple[str, int, int]], count: int, named: bool, noise: list[int]
) -> None:
    net = Net(named=named)
    seen = [net.x]
    for number in range(count):
        start = len(seen) - 1
        for position, (op, one, two) in enumerate(body):
            scope = f"layers.{number}"
            first = seen[max(0, len(seen) - 1 - one)]
            if op == "MatMul":
                value = net(
                    scope, "Softmax", net(scope, op, first, net.weight(f"{scope}.w{position}")), axis=-1
                )
            elif OPERATORS[op] == 1:
                value = net(scope, op, first)
            else:
                value = net(scope, op, first, seen[max(0, start - two)])
            seen.append(net(scope, "Tanh", value))
            if len(seen) in noise:
                seen.append(net("noise", "Sin", seen[-1]))
    model = net.model(net("end", "Sum", *seen[-3:]))
    assert_same(model, group_repeated(model))
