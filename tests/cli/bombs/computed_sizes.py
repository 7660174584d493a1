"""Bombs of sizes that a model computes: from shapes, in a row of operators that let them grow."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import TensorProto, helper

from tests.cli.bombs.making import bomb, call, info, model, tensor

#: How often a size grows.
_STEPS = 120


def _grown(steps: Sequence[onnx.NodeProto], size: str, shape: Sequence[int | str]) -> onnx.ModelProto:
    """A model that computes a size from a shape, and expands its input to it."""
    nodes = [call("Shape", ["x"], "s0"), *steps, call("Expand", ["x", size])]
    return model(nodes, [tensor("two", [2])], inputs=[info("x", shape=shape)])


def _polynomial(n: int) -> list[onnx.NodeProto]:
    return [call("Mul", [f"s{n}", f"s{n}"], f"t{n}"), call("Add", [f"t{n}", f"s{n}"], f"s{n + 1}")]


@bomb()
def polynomial_of_a_size() -> onnx.ModelProto:
    """N*N + N, of which the same is made again: written out, it has 2**120 terms."""
    return _grown([node for n in range(_STEPS) for node in _polynomial(n)], f"s{_STEPS}", ["N"])


@bomb()
def polynomial_of_a_known_size() -> onnx.ModelProto:
    """The number has 2**120 digits."""
    return _grown([node for n in range(_STEPS) for node in _polynomial(n)], f"s{_STEPS}", [3])


@bomb()
def powers_of_a_size() -> onnx.ModelProto:
    steps = [call("Pow", [f"s{n}", "two"], f"s{n + 1}") for n in range(_STEPS)]
    return _grown(steps, f"s{_STEPS}", ["N"])


@bomb()
def quotients_and_remainders_of_a_size() -> onnx.ModelProto:
    steps: list[onnx.NodeProto] = []
    for n in range(_STEPS):
        steps += [
            call("Mul", [f"s{n}", f"s{n}"], f"m{n}"),
            call("Div", [f"m{n}", "two"], f"q{n}"),
            call("Mod", [f"m{n}", "two"], f"r{n}"),
            call("Sub", [f"q{n}", f"r{n}"], f"d{n}"),
            call("Max", [f"d{n}", f"s{n}"], f"s{n + 1}"),
        ]
    return _grown(steps, f"s{_STEPS}", ["N"])


@bomb()
def product_of_doubled_sizes() -> onnx.ModelProto:
    """Each step multiplies twice as many sizes as the one before, and that by itself."""
    steps: list[onnx.NodeProto] = []
    for n in range(_STEPS):
        steps += [
            call("Concat", [f"s{n}", f"s{n}"], f"c{n}", axis=0),
            call("ReduceProd", [f"c{n}"], f"s{n + 1}", keepdims=1),
        ]
    return _grown(steps, f"s{_STEPS}", ["N"])


@bomb()
def polynomial_of_a_size_in_a_function() -> onnx.ModelProto:
    imports = [helper.make_opsetid("", 21)]
    inside = [node for n in range(_STEPS) for node in _polynomial(n)]
    nodes = [call("Shape", ["a"], "s0"), *inside, call("Identity", [f"s{_STEPS}"], "r")]
    function = helper.make_function("local", "grown", ["a"], ["r"], nodes, imports)
    called = [call("grown", ["x"], "s", domain="local"), call("Expand", ["x", "s"])]
    return model(called, inputs=[info("x", shape=["N"])], functions=[function], domains=["local"])


@bomb()
def polynomial_of_a_size_in_a_branch() -> onnx.ModelProto:
    nodes = [node for n in range(_STEPS) for node in _polynomial(n)]
    nodes.append(call("Expand", ["x", f"s{_STEPS}"], "u"))
    then = helper.make_graph(nodes, "then", [], [info("u", shape=["M"])])
    otherwise = helper.make_graph([call("Relu", ["x"], "v")], "else", [], [info("v", shape=["N"])])
    condition = info("c", TensorProto.BOOL)
    chosen = call("If", ["c"], then_branch=then, else_branch=otherwise)
    return model([call("Shape", ["x"], "s0"), chosen], inputs=[info("x", shape=["N"]), condition])
