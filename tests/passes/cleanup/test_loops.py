"""Loops that never run, and what loops carry without a change."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import optimize
from tests.passes.agreement import model_of, operators, optimized

X = np.float32([[1, -2], [3, 4]])
NONE, THREE = np.int64(0), np.int64(3)


def counting(turns: str, condition: str = "") -> str:
    """A loop that carries two values, the second of which stays as it is, and puts two together."""
    return f"""g (float[2,2] x, int64 n, bool go) => (float[2,2] y, float[2,2] u, float[k,2,2] z) {{
        known = Constant<value = int64 {{{turns if turns != "n" else 0}}}>()
        yes = Constant<value = bool {{1}}>()
        no = Constant<value = bool {{0}}>()
        y, u, z, unread = Loop ({"n" if turns == "n" else "known"}, {condition}, x, x)
          <body = b (int64 i, bool c, float[2,2] s, float[2,2] same)
            => (bool d, float[2,2] t, float[2,2] stays, float[2,2] e, float[2,2] f) {{
            d = Identity(c)
            t = Add(s, same)
            stays = Identity(same)
            e = Neg(t)
            f = Abs(e)
        }}>
    }}"""


@pytest.mark.parametrize(("turns", "condition"), [("0", ""), ("-3", "yes"), ("2", "no"), ("0", "go")])
def test_a_loop_without_turns_goes(turns: str, condition: str) -> None:
    small = optimized(model_of(counting(turns, condition)), X, NONE, np.array(True))
    assert operators(small) == ["Identity"] * 3


@pytest.mark.parametrize("turns", [NONE, THREE])
def test_what_stays_as_it_is_is_not_carried(turns: np.ndarray) -> None:
    small = optimized(model_of(counting("n", "go")), X, turns, np.array(True))
    (loop,) = (node for node in small.ir.graph if node.op_type == "Loop")
    assert (len(loop.inputs), len(loop.outputs)) == (3, 2)
    assert operators(small) == ["Add", "Identity", "Identity", "Loop", "Neg"]


def test_a_loop_that_changes_nothing_goes() -> None:
    body = """g (float[2,2] x, int64 n) => (float[2,2] y) {
        s = Loop (n, , x) <body = b (int64 i, bool c, float[2,2] s) => (bool d, float[2,2] t) {
            d = Identity(c)
            t = Identity(s)
        }>
        y = Neg(s)
    }"""
    assert operators(optimized(model_of(body), X, THREE)) == ["Neg"]


def test_values_that_change_places_are_carried() -> None:
    body = """g (float[2,2] x, float[2,2] w, int64 n) => (float[2,2] y, float[2,2] z) {
        y, z = Loop (n, , x, w) <body = b (int64 i, bool c, float[2,2] s, float[2,2] u)
          => (bool d, float[2,2] v, float[2,2] t) {
            d = Identity(c)
            v = Identity(u)
            t = Identity(s)
        }>
    }"""
    assert "Loop" in operators(optimized(model_of(body), X, 2 * X, THREE))


def test_a_size_of_what_nothing_is_known_of_is_not_made_up() -> None:
    """Without a turn nobody says what shape the elements have that are put together."""
    body = """g (float[2,2] x, float[m] w) => (float[k, m] z) {
        none = Constant<value = int64 {0}>()
        y, z = Loop (none, , x) <body = b (int64 i, bool c, float[2,2] s) => (bool d, float[2,2] t, float[m] e) {
            d = Identity(c)
            t = Neg(s)
            e = Neg(w)
        }>
    }"""
    assert "Loop" in operators(optimized(model_of(body), X, X[0]))


def test_bodies_that_lie_about_shapes_are_not_believed() -> None:
    """A body says that what it carries has the size of an input; in fact it grows."""
    body = """g (float[N] x) => (float[M] y) {
        n = Constant<value = int64 {2}>()
        y = Loop (n, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[K] t) {
            d = Identity(c)
            sizes = Shape(s)
            wide = Expand(x, sizes)
            t = Concat<axis=0>(wide, s)
        }>
    }"""
    optimized(model_of(body), X[0, :1])
    fixed = body.replace("N]", "1]")
    optimized(model_of(fixed), X[0, :1])


def test_names_that_hide_others() -> None:
    """A body has a value of the name of one around it, and computes again what that one is."""
    body = """g (bool c, float[2,2] x) => (float[2,2] y) {
        a = Relu(x)
        z = If(c) <then_branch = t () => (float[2,2] r) {
            b = Relu(x)
            a = Neg(x)
            r = Add(a, b)
        }, else_branch = e () => (float[2,2] s) { s = Identity(x) }>
        y = Add(z, a)
    }"""
    model = model_of(body)
    np.testing.assert_array_equal(optimize(model)(np.array(True), X), model(np.array(True), X))
