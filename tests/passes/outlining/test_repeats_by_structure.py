"""Grouping by structure alone, and in models that have everything that models can have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxsmith
from onnxsmith.passes.outlining import group_repeated
from tests.passes.outlining.layered_nets import (
    FLOAT,
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


@settings(derandomize=True, database=None, max_examples=40)
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
