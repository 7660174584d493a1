"""Loops as the nodes of their turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, Model, errors, optimize, script
from onnxsmith import opset21 as op
from onnxsmith.passes import unrolling
from tests.passes.agreement import model_of, operators, results

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def unrolled(model: Model, most: int, *inputs: np.ndarray) -> Model:
    """The model with its loops unrolled, which is valid and gives the same."""
    small = optimize(model, unroll=most)
    onnx.checker.check_model(small.proto, full_check=True)
    for wanted, found in zip(results(model, inputs), results(small, inputs), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(found, wanted)
    return small


def loop_of(turns: int, goes_on: str = "c", number: str = "int64 i", *, random: bool = False) -> Model:
    drawn = "f = RandomUniformLike<seed = 1.0>(p)" if random else "f = Identity(p)"
    return model_of(
        f"""g (float[3,2] x) => (float[3,2] y, float[k,3,2] z) {{
        turns = Constant<value = int64 {{{turns}}}>()
        yes = Constant<value = bool {{1}}>()
        y, z = Loop (turns, yes, x) <body = b ({number}, bool c, float[3,2] s)
          => (bool d, float[3,2] t, float[3,2] e) {{
            d = Identity({goes_on})
            j = Cast<to=1>(i)
            p = Add(s, j)
            {drawn}
            t = Tanh(f)
            e = Neg(t)
        }}>
    }}"""
    )


@pytest.mark.parametrize("turns", [1, 2, 4])
def test_a_loop_of_few_turns(turns: int) -> None:
    small = unrolled(loop_of(turns), 4, X)
    assert operators(small).count("Tanh") == turns
    assert "Loop" not in operators(small)


@pytest.mark.parametrize(
    ("model", "most"),
    [
        pytest.param(loop_of(5), 4, id="too many turns"),
        pytest.param(loop_of(5), 0, id="not asked for"),
    ],
)
def test_a_loop_that_stays(model: Model, most: int) -> None:
    assert "Loop" in operators(unrolled(model, most, X))


def test_draws_are_not_repeated() -> None:
    """A node with a seed draws other numbers in each turn; two nodes with one seed draw the same."""
    assert "Loop" in operators(optimize(loop_of(2, random=True), unroll=4))
    # A function that is called draws, too.
    called = Model.from_proto(
        onnx.parser.parse_model(
            """<ir_version: 9, opset_import: ["": 18, "f": 1]>
            g (float[4] x) => (float[N, 4] y) <int64 n = {3}, bool t = {1}> {
                y = Loop (n, t) <body = turn (int64 i, bool c) => (bool go, float[4] v) {
                    go = Identity (c)
                    v = f.R (x)
                }>
            }
            <domain: "f", opset_import: ["": 18]> R (x) => (y) { y = RandomNormalLike<seed = 7.0> (x) }"""
        )
    )
    assert "Loop" in operators(optimize(called, unroll=4, inline=False))


def test_the_number_of_the_turn_may_have_a_dimension() -> None:
    assert "Loop" not in operators(unrolled(loop_of(2, number="int64[1] i"), 4, X))


def test_a_loop_that_may_end_early_stays() -> None:
    body = """g (float[3,2] x) => (float[3,2] y) {
        turns = Constant<value = int64 {3}>()
        y = Loop (turns, , x) <body = b (int64 i, bool c, float[3,2] s) => (bool d, float[3,2] t) {
            t = Add(s, s)
            total = ReduceSum<keepdims = 0>(t)
            bound = Constant<value = float {40}>()
            d = Less(total, bound)
        }>
    }"""
    assert "Loop" in operators(unrolled(model_of(body), 8, X))


@pytest.mark.parametrize("ways_in", [0, 1])
@pytest.mark.parametrize("ways_out", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("opset", [11, 21])
def test_scan(ways_in: int, ways_out: int, axis: int, opset: int) -> None:
    size = 2 if axis == 0 else 3
    body = f"""g (float[3,2] x, float[{size}] w) => (float[{size}] y, float[a, b] z) {{
        y, z = Scan <num_scan_inputs = 1, scan_input_axes = [{axis}], scan_input_directions = [{ways_in}],
            scan_output_axes = [{axis}], scan_output_directions = [{ways_out}],
            body = b (float[{size}] s, float[{size}] u) => (float[{size}] t, float[{size}] v) {{
            t = Add(s, u)
            v = Mul(t, u)
        }}>(w, x)
    }}"""
    small = unrolled(model_of(body, opset=opset, ir_version=6), 3, X, X[:size, 0] if size == 3 else X[0])
    assert "Scan" not in operators(small)


def test_loops_in_loops_and_in_scripts() -> None:
    @script
    def grid(x: FLOAT[3, 2]):
        total = x
        for row in range(3):
            for column in range(2):
                total = op.Tanh(total * op.Cast(row, to=1) + op.Cast(column, to=1))
        return total

    model = grid.to_model()
    small = unrolled(model, 3, X)
    assert not {"Loop", "Scan"} & set(operators(small))


def test_sizes_that_change_from_turn_to_turn() -> None:
    body = """g (float[N] x) => (float[M] y) {
        turns = Constant<value = int64 {2}>()
        y = Loop (turns, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[K] t) {
            d = Identity(c)
            sizes = Shape(s)
            wide = Expand(x, sizes)
            twice = Concat<axis=0>(wide, s)
            shape = Shape(twice)
            t = Reshape(twice, shape)
        }>
    }"""
    assert "Loop" not in operators(unrolled(model_of(body), 2, X[0, :1]))


def test_loops_that_would_unroll_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops in loops, each of eight turns, are a few lines and would be millions of nodes."""
    monkeypatch.setattr(unrolling, "MOST_NODES", 300)
    inner = "t0 = Neg(s0)"
    for depth in range(8):
        inner = f"""t{depth + 1} = Loop (turns, , s{depth + 1})
            <body = b (int64 i{depth}, bool c{depth}, float[2] s{depth}) => (bool d{depth}, float[2] t{depth}) {{
            d{depth} = Identity(c{depth})
            {inner}
        }}>"""
    body = f"""g (float[2] s8) => (float[2] y) {{
        turns = Constant<value = int64 {{8}}>()
        {inner}
        y = Neg(t8)
    }}"""
    small = optimize(model_of(body), unroll=8)
    assert "Loop" in operators(small)
    assert small.report.nodes_after < 1000
    assert any("too many nodes" in note for note in small.report.notes)


@pytest.mark.parametrize("unroll", [-1, True, "all", 2.0])
def test_what_is_no_number_of_turns_is_refused(unroll: Any) -> None:
    with pytest.raises(errors.AttributeValueError, match="unroll is the most turns"):
        optimize(loop_of(2), unroll=unroll)


def test_what_cannot_be_put_together_stays_in_its_loop() -> None:
    # A Loop gives float8, which Concat does not take.
    model = model_of("""g (float[2] x) => (float8e5m2[T, 2] y) {
        n = Constant<value = int64 {2}>()
        go = Constant<value = bool {1}>()
        y = Loop (n, go) <body = b (int64 i, bool c) => (bool d, float8e5m2[2] z) {
            d = Identity(c)
            z = Cast<to = 19>(x)
        }>
    }""")
    small = optimize(model, unroll=4)
    assert "Loop" in operators(small)
    onnx.checker.check_model(small.proto, full_check=True)
