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

#: A graph, the opset, and the operators that are left: each node that may be left out beside one that may not.
BESIDE = {
    "flatten": ("float[N, 4] y", "a = Flatten<axis = -1>(x) y = Relu(a)", 21, ["Relu"]),
    "flatten to a row": ("float[1, M] y", "a = Flatten<axis = 0>(x) y = Relu(a)", 21, ["Flatten", "Relu"]),
    "tile twice": (
        "float[N, 8] y",
        "s = Constant<value_ints=[1, 2]>() a = Tile(x, s) y = Relu(a)",
        21,
        ["Relu", "Tile"],
    ),
    "pad by one": (
        "float[N, 5] y",
        "s = Constant<value_ints=[0, 0, 0, 1]>() a = Pad(x, s) y = Relu(a)",
        21,
        ["Pad", "Relu"],
    ),
    "pad of old": ("float[N, 4] y", "a = Pad<pads = [0, 0, 0, 0]>(x) y = Relu(a)", 10, ["Relu"]),
    "pad by one of old": (
        "float[N, 5] y",
        "a = Pad<pads = [0, 0, 0, 1]>(x) y = Relu(a)",
        10,
        ["Pad", "Relu"],
    ),
    "slice of old": (
        "float[N, 4] y",
        "a = Slice<starts = [0], ends = [4], axes = [1]>(x) y = Relu(a)",
        9,
        ["Relu"],
    ),
    "slice of old, less": (
        "float[N, 3] y",
        "a = Slice<starts = [0], ends = [3], axes = [1]>(x) y = Relu(a)",
        9,
        ["Relu", "Slice"],
    ),
    "slice to the end": (
        "float[N, 4] y",
        "z = Constant<value_ints=[0, 0]>() e = Constant<value_ints=[2147483647, 9]>() a = Slice(x, z, e) y = Relu(a)",
        21,
        ["Relu"],
    ),
    "slice of every second": (
        "float[N, 2] y",
        "z = Constant<value_ints=[0]>() e = Constant<value_ints=[9]>() i = Constant<value_ints=[1]>()"
        " t = Constant<value_ints=[2]>() a = Slice(x, z, e, i, t) y = Relu(a)",
        21,
        ["Relu", "Slice"],
    ),
    "slice of rows that may be more": (
        "float[M, 4] y",
        "z = Constant<value_ints=[0]>() e = Constant<value_ints=[9]>() a = Slice(x, z, e) y = Relu(a)",
        21,
        ["Relu", "Slice"],
    ),
    "sum of two": ("float[N, 4] y", "a = Sum(x, x) y = Relu(a)", 21, ["Relu", "Sum"]),
    "max of one": ("float[N, 4] y", "a = Max(x) y = Relu(a)", 21, ["Relu"]),
    "concat of two": ("float[N, 8] y", "a = Concat<axis=1>(x, x) y = Relu(a)", 21, ["Concat", "Relu"]),
    "split of one": ("float[N, 4] y", "a = Split<axis=1, num_outputs=1>(x) y = Relu(a)", 21, ["Relu"]),
    "minus zero": (
        "float[N, 4] y",
        "z = Constant<value_float=0.0>() a = Sub(x, z) y = Relu(a)",
        21,
        ["Relu"],
    ),
    "zero minus": (
        "float[N, 4] y",
        "z = Constant<value_float=0.0>() a = Sub(z, x) y = Relu(a)",
        21,
        ["Relu", "Sub"],
    ),
    "plus one": (
        "float[N, 4] y",
        "z = Constant<value_float=1.0>() a = Add(x, z) y = Relu(a)",
        21,
        ["Add", "Relu"],
    ),
    "plus zeros and one": (
        "float[N, 4] y",
        "z = Constant<value_floats=[0.0, 0.0, 1.0, 0.0]>() a = Add(x, z) y = Relu(a)",
        21,
        ["Add", "Relu"],
    ),
    "one times": ("float[N, 4] y", "o = Constant<value_float=1.0>() a = Mul(o, x) y = Relu(a)", 21, ["Relu"]),
    "one by": (
        "float[N, 4] y",
        "o = Constant<value_float=1.0>() a = Div(o, x) y = Relu(a)",
        21,
        ["Div", "Relu"],
    ),
    "to the power of one": (
        "float[N, 4] y",
        "o = Constant<value_float=1.0>() a = Pow(x, o) y = Relu(a)",
        21,
        ["Relu"],
    ),
    "abs of abs": ("float[N, 4] y", "a = Abs(x) y = Abs(a)", 21, ["Abs"]),
    "abs of sign": ("float[N, 4] y", "a = Sign(x) y = Abs(a)", 21, ["Abs", "Sign"]),
    "sign of sign": ("float[N, 4] y", "a = Sign(x) y = Sign(a)", 21, ["Sign"]),
    "floor of floor": ("float[N, 4] y", "a = Floor(x) y = Floor(a)", 21, ["Floor"]),
    "reduced by nothing": (
        "float[N, 4] y",
        "a = ReduceSum<noop_with_empty_axes = 1>(x) y = Relu(a)",
        21,
        ["Relu"],
    ),
    "reduced by all": ("float[1, 1] y", "a = ReduceSum(x) y = Relu(a)", 21, ["ReduceSum", "Relu"]),
    "reduced by one": (
        "float[N, 1] y",
        "i = Constant<value_ints=[1]>() a = ReduceMax<noop_with_empty_axes = 1>(x, i) y = Relu(a)",
        21,
        ["ReduceMax", "Relu"],
    ),
    "squeezed nothing": (
        "float[N, 4] y",
        "i = Constant<value = int64[0] {}>() a = Squeeze(x, i) y = Relu(a)",
        21,
        ["Relu"],
    ),
    "unsqueezed nothing, of old": (
        "float[N, 4] y",
        "a = Unsqueeze<axes = [0]>(x) b = Squeeze<axes = [0]>(a) y = Relu(b)",
        11,
        ["Relu"],
    ),
    "resized by one": (
        "float[1, 1, N, 4] y",
        "i = Constant<value_ints=[0, 1]>() b = Unsqueeze(x, i) s = Constant<value_floats=[1.0, 1.0, 1.0, 1.0]>()"
        " a = Resize(b, , s) y = Relu(a)",
        21,
        ["Relu", "Unsqueeze"],
    ),
    "resized by two": (
        "float[1, 1, M, 4] y",
        "i = Constant<value_ints=[0, 1]>() b = Unsqueeze(x, i) s = Constant<value_floats=[1.0, 1.0, 2.0, 1.0]>()"
        " a = Resize(b, , s) y = Relu(a)",
        21,
        ["Relu", "Resize", "Unsqueeze"],
    ),
    "where of the other": (
        "float[N, 4] y",
        "c = Constant<value=bool[1] {0}>() n = Neg(x) a = Where(c, n, x) y = Relu(a)",
        21,
        ["Relu"],
    ),
    "where of both": (
        "float[N, 4] y",
        "c = Constant<value=bool[4] {1, 0, 0, 1}>() n = Neg(x) a = Where(c, x, n) y = Relu(a)",
        21,
        ["Neg", "Relu", "Where"],
    ),
    "expand to more": (
        "float[2, N, 4] y",
        "s = Constant<value_ints=[2, 1, 1]>() a = Expand(x, s) y = Relu(a)",
        21,
        ["Expand", "Relu"],
    ),
    "expand to ones": (
        "float[N, 4] y",
        "s = Constant<value_ints=[1]>() a = Expand(x, s) y = Relu(a)",
        21,
        ["Relu"],
    ),
    "reshape to others": (
        "float[M, 2] y",
        "s = Constant<value_ints=[-1, 2]>() a = Reshape(x, s) y = Relu(a)",
        21,
        ["Relu", "Reshape"],
    ),
    "transpose of rows and columns": (
        "float[4, N] y",
        "a = Transpose(x) y = Relu(a)",
        21,
        ["Relu", "Transpose"],
    ),
    "cast like": (
        "float[N, 4] y",
        "c = Constant<value_float=1.0>() a = CastLike(x, c) y = Relu(a)",
        21,
        ["Relu"],
    ),
    "cast like another": (
        "double[N, 4] y",
        "c = Constant<value=double {1.0}>() a = CastLike(x, c) y = Neg(a)",
        21,
        ["Cast", "Neg"],
    ),
    "clip of floats": ("float[N, 4] y", "a = Clip(x) y = Relu(a)", 21, ["Clip", "Relu"]),
    "clip of integers": ("int64[N, 4] y", "i = Cast<to=7>(x) a = Clip(i) y = Neg(a)", 21, ["Cast", "Neg"]),
    "dropout of old": ("float[N, 4] y", "a = Dropout<is_test = 1>(x) y = Relu(a)", 6, ["Relu"]),
    "dropout whose mask is read": (
        "float[N, 4] y, bool[N, 4] m",
        "a, m = Dropout(x) y = Relu(a)",
        21,
        ["Dropout", "Relu"],
    ),
    "not of not": ("bool[N, 4] y", "c = Cast<to=9>(x) a = Not(c) b = Not(a) y = Identity(b)", 21, ["Cast"]),
}


@pytest.mark.parametrize(("output", "body", "opset", "left"), BESIDE.values(), ids=BESIDE)
def test_what_may_be_left_out_beside_what_may_not(
    output: str, body: str, opset: int, left: list[str]
) -> None:
    model = model_of(
        f"g (float[N, 4] x) => ({output}) {{ {body} }}", opset=opset, ir_version=10 if opset > 9 else 4
    )
    found = optimize(model) if opset < 7 else optimized(model, X)
    assert operators(found) == left


NUMBERS = {
    **{f"int{bits}": code for bits, code in ((8, 3), (16, 5), (32, 6), (64, 7))},
    **{f"uint{bits}": code for bits, code in ((8, 2), (16, 4), (32, 12), (64, 13))},
    "float16": 10,
    "float32": 1,
    "float64": 11,
}


def loses_nothing(source: str, middle: str) -> bool:
    """As numpy says it, but for 64 bits in a double, which it lets pass."""
    if np.dtype(source).kind in "iu" and np.dtype(middle).kind == "f" and np.dtype(source).itemsize == 8:
        return False
    return np.can_cast(source, middle, "safe")


@pytest.mark.parametrize("middle", NUMBERS)
def test_a_cast_and_back_is_left_out_where_nothing_is_lost(middle: str) -> None:
    names = {"float16": "float16", "float32": "float", "float64": "double"}
    found: dict[str, bool] = {}
    for source, code in NUMBERS.items():
        kind = names.get(source, source)
        body = f"a = Cast<to={NUMBERS[middle]}>(x) b = Cast<to={code}>(a) y = Identity(b)"
        small = optimize(model_of(f"g ({kind}[N] x) => ({kind}[N] y) {{ {body} }}"))
        found[source] = operators(small) in ([], ["Identity"])
    assert found == {source: source == middle or loses_nothing(source, middle) for source in NUMBERS}


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
