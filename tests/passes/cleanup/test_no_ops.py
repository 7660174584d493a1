"""Nodes that give what they are given are left out, and only those."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.passes import optimize
from tests.passes.agreement import model_of, operators, optimized

X = np.arange(-6, 6, dtype=np.float32).reshape(3, 4)

LEFT_OUT = {
    "identity": "a = Identity(x) y = Relu(a)",
    "cast": "a = Cast<to=1>(x) y = Relu(a)",
    "cast and back": "a = Cast<to=11>(x) b = Cast<to=1>(a) y = Relu(b)",
    "dropout": "a = Dropout(x) y = Relu(a)",
    "transpose": "a = Transpose<perm=[0, 1]>(x) y = Relu(a)",
    "transposes": "a = Transpose(x) b = Transpose<perm=[1, 0]>(a) y = Relu(b)",
    "reshape": "s = Constant<value_ints=[0, -1]>() a = Reshape(x, s) y = Relu(a)",
    "expand": "s = Constant<value_ints=[1, 4]>() a = Expand(x, s) y = Relu(a)",
    "tile": "s = Constant<value_ints=[1, 1]>() a = Tile(x, s) y = Relu(a)",
    "pad": "s = Constant<value_ints=[0, 0, 0, 0]>() a = Pad(x, s) y = Relu(a)",
    "slice": "z = Constant<value_ints=[0]>() e = Constant<value_ints=[9]>() i = Constant<value_ints=[1]>()"
    " a = Slice(x, z, e, i) y = Relu(a)",
    "concat": "a = Concat<axis=0>(x) y = Relu(a)",
    "sum": "a = Sum(x) y = Relu(a)",
    "plus zeros": "z = Constant<value_floats=[0.0, 0.0, 0.0, 0.0]>() a = Add(z, x) y = Relu(a)",
    "times one": "o = Constant<value_float=1.0>() a = Mul(x, o) y = Relu(a)",
    "by one": "o = Constant<value_float=1.0>() a = Div(x, o) y = Relu(a)",
    "neg of neg": "a = Neg(x) b = Neg(a) y = Relu(b)",
    "relu of relu": "a = Relu(x) y = Relu(a)",
    "squeeze and back": "i = Constant<value_ints=[0]>() a = Unsqueeze(x, i) b = Squeeze(a, i) y = Relu(b)",
    "where": "c = Constant<value=bool[1] {1}>() n = Neg(x) a = Where(c, x, n) y = Relu(a)",
}

#: What stays: the output, the nodes, and the operators that are left.
KEPT = {
    "a cast that loses": ("float[N, 4] y", "a = Cast<to=6>(x) y = Cast<to=1>(a)", ["Cast", "Cast"]),
    "zeros that widen": (
        "float[2, N, 4] y",
        "z = Constant<value=float[2,1,1] {0.0, 0.0}>() a = Add(x, z) y = Relu(a)",
        ["Add", "Relu"],
    ),
    "a slice of less": (
        "float[M, 4] y",
        "z = Constant<value_ints=[1]>() e = Constant<value_ints=[9]>() a = Slice(x, z, e) y = Relu(a)",
        ["Relu", "Slice"],
    ),
}


@pytest.mark.parametrize("body", LEFT_OUT.values(), ids=LEFT_OUT)
def test_left_out(body: str) -> None:
    model = model_of(f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}")
    small = optimized(model, X)
    assert operators(small) == ["Relu"]
    assert small.report.nodes_after == 1


@pytest.mark.parametrize(("output", "body", "left"), KEPT.values(), ids=KEPT)
def test_kept(output: str, body: str, left: list[str]) -> None:
    model = model_of(f"g (float[N, 4] x) => ({output}) {{ {body} }}")
    assert operators(optimized(model, X)) == left


def test_a_dropout_that_trains_stays() -> None:
    body = "r = Constant<value_float=0.5>() t = Constant<value=bool {1}>() a = Dropout<seed=1>(x, r, t) y = Mul(a, x)"
    model = model_of(f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}")
    assert operators(optimize(model)) == ["Dropout", "Mul"]  # two runs draw different numbers


def test_an_output_that_is_an_input_keeps_its_copy() -> None:
    model = model_of(
        "g (float[N, 4] x) => (float[N, 4] y, float[N, 4] z) { y = Identity(x) z = Identity(y) }"
    )
    assert operators(optimized(model, X)) == ["Identity", "Identity"]


def test_names_of_outputs_stay() -> None:
    model = model_of("g (float[N, 4] x) => (float[N, 4] y) { a = Relu(x) b = Identity(a) y = Identity(b) }")
    small = optimized(model, X)
    assert operators(small) == ["Relu"]
    assert [port.name for port in small.outputs] == ["y"]
