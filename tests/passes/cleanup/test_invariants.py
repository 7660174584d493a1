"""What is moved in front of loops, and what stays in them."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import optimize
from tests.passes.agreement import model_of, operators, optimized

X = np.float32([[1, -2], [3, 4]])
NONE, THREE = np.int64(0), np.int64(3)


def loop_of(nodes: str, turns: str = "n", condition: str = "", result: str = "v") -> str:
    return f"""g (float[2,2] x, int64 n, int64 far, bool go) => (float[2,2] y) {{
        three = Constant<value = int64 {{3}}>()
        y = Loop ({turns}, {condition}, x) <body = b (int64 i, bool c, float[2,2] s) => (bool d, float[2,2] t) {{
            d = Identity(c)
            {nodes}
            t = Add(s, {result})
        }}>
    }}"""


def outside(body: str, turns: np.ndarray = THREE, far: int = 0) -> list[str]:
    """The operators beside the loop, in the optimised model, which runs as before."""
    small = optimized(model_of(body), X, turns, np.int64(far), np.array(True))
    return [node.op_type for node in small.ir.graph if node.op_type != "Loop"]


CHEAP = {
    "an element at a time": ("v = Tanh(x)", ["Tanh"]),
    "a chain": ("u = Exp(x) v = Neg(u)", ["Exp", "Neg"]),
    "a size": ("u = Size(x) v = Cast<to=1>(u)", []),
    "equal shapes": ("u = Exp(x) v = Mul(u, x)", ["Exp", "Mul"]),
    "a quotient of floats": ("u = Exp(x) v = Div(x, u)", ["Exp", "Div"]),
    "turned": ("v = Transpose<perm=[1, 0]>(x)", ["Transpose"]),
}
COSTLY = {
    "a product of matrices": ("v = MatMul(x, x)", ["MatMul"]),
    "out of range, perhaps": ("v = Gather(x, far)", ["Gather"]),
    "a quotient of integers": ("u = Div(n, far) v = Cast<to=1>(u)", ["Div", "Cast"]),
}


@pytest.mark.parametrize("name", CHEAP)
def test_what_is_cheap_and_cannot_fail_is_moved(name: str) -> None:
    nodes, moved = CHEAP[name]
    for turns in (NONE, THREE):
        assert outside(loop_of(nodes), turns) == moved


@pytest.mark.parametrize("name", COSTLY)
def test_the_rest_is_moved_where_the_loop_surely_runs(name: str) -> None:
    nodes, moved = COSTLY[name]
    far = 1
    assert outside(loop_of(nodes), THREE, far) == []
    assert outside(loop_of(nodes, "three"), THREE, far) == moved
    assert outside(loop_of(nodes, "three", "go"), THREE, far) == []


def test_what_would_fail_is_not_run_where_no_turn_is_taken() -> None:
    assert outside(loop_of("v = Gather(x, far)"), NONE, far=99) == []


def test_draws_stay_in_the_loop() -> None:
    body = loop_of("v = RandomUniformLike(x)", "three")
    assert [node.op_type for node in optimize(model_of(body)).ir.graph] == ["Loop"]


def test_what_depends_on_a_turn_stays() -> None:
    assert outside(loop_of("u = Cast<to=1>(i) v = Mul(u, x)", "three")) == []


def test_out_of_two_loops_at_once() -> None:
    inner = """v = Loop (three, , s) <body = inner (int64 j, bool e, float[2,2] p) => (bool f, float[2,2] q) {
        f = Identity(e)
        m = MatMul(x, x)
        k = MatMul(m, s)
        q = Add(p, k)
    }>"""
    small = optimized(model_of(loop_of(inner, "three")), X, THREE, NONE, np.array(True))
    assert [node.op_type for node in small.ir.graph] == ["MatMul", "Loop"]
    (body,) = (node.attributes["body"].as_graph() for node in small.ir.graph if node.op_type == "Loop")
    assert [node.op_type for node in body] == ["Identity", "MatMul", "Loop", "Add"]


def test_what_the_body_gives_stays_as_a_copy() -> None:
    body = """g (float[2,2] x) => (float[2,2] y, float[3,2,2] z) {
        three = Constant<value = int64 {3}>()
        y, z = Loop (three, , x) <body = b (int64 i, bool c, float[2,2] s) => (bool d, float[2,2] t, float[2,2] e) {
            d = Identity(c)
            t = Neg(s)
            e = MatMul(x, x)
        }>
    }"""
    small = optimized(model_of(body), X)
    assert operators(small) == ["Identity", "Identity", "Loop", "MatMul", "Neg"]
    assert small.ir.graph[0].op_type == "MatMul"


def test_names_that_two_bodies_share() -> None:
    """Two loops call what they compute the same: in front of them it cannot have one name."""
    body = """g (float[2,2] x) => (float[2,2] y, float[2,2] z) {
        three = Constant<value = int64 {3}>()
        y = Loop (three, , x) <body = b (int64 i, bool c, float[2,2] s) => (bool d, float[2,2] t) {
            d = Identity(c)
            v = Exp(x)
            t = Add(s, v)
        }>
        z = Loop (three, , x) <body = b (int64 i2, bool c2, float[2,2] s2) => (bool d2, float[2,2] t2) {
            d2 = Identity(c2)
            v = Neg(x)
            t2 = Add(s2, v)
        }>
    }"""
    assert operators(optimized(model_of(body), X)).count("Loop") == 2


def test_scans_of_known_length() -> None:
    body = """g (float[L,2] w, float[2] x) => (float[2] y, float[L,2] z) {
        y, z = Scan <num_scan_inputs=1, body = b (float[2] s, float[2] u) => (float[2] t, float[2] v) {
            e = ReduceSum<keepdims=0>(x)
            t = Add(s, u)
            v = Mul(t, e)
        }>(x, w)
    }"""
    known = optimized(model_of(body.replace("[L,2]", "[2,2]")), X, X[0])
    assert [node.op_type for node in known.ir.graph] == ["ReduceSum", "Scan"]
    open_length = optimized(model_of(body), X, X[0])
    assert [node.op_type for node in open_length.ir.graph] == ["Scan"]


def test_text_that_a_body_gives_is_computed_in_each_turn() -> None:
    # From a copy of what is outside the loop, ONNX Runtime gives the text in the first turn alone.
    model = model_of("""g (string x) => (string[T] y) {
        n = Constant<value = int64 {3}>()
        go = Constant<value = bool {1}>()
        y = Loop (n, go) <body = b (int64 i, bool c) => (bool d, string z) {
            d = Identity(c)
            z = StringConcat(x, x)
        }>
    }""")
    small = optimize(model)
    assert list(np.asarray(small(np.array("a", object)))) == ["aa", "aa", "aa"]
