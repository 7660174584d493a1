"""Nodes that compute the same are one; nodes that only look alike are not."""

from __future__ import annotations

import numpy as np

from onnxsmith.passes import optimize
from tests.passes.agreement import model_of, operators, optimized

X = np.arange(-4, 4, dtype=np.float32).reshape(2, 4)


def test_equal_nodes_are_shared() -> None:
    body = "a = Exp(x) b = Exp(x) c = Neg(a) d = Neg(b) y = Add(c, d)"
    model = model_of(f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}")
    assert operators(optimized(model, X)) == ["Add", "Exp", "Neg"]


def test_constants_are_shared_by_content() -> None:
    body = "c = Constant<value_float=2.0>() d = Constant<value_float=2.0>() a = Mul(x, c) b = Mul(x, d) y = Add(a, b)"
    model = model_of(f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}")
    assert operators(optimized(model, X)) == ["Add", "Mul"]


def test_other_attributes_are_other_nodes() -> None:
    body = "a = Softmax<axis=0>(x) b = Softmax<axis=1>(x) y = Add(a, b)"
    model = model_of(f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}")
    assert operators(optimized(model, X)) == ["Add", "Softmax", "Softmax"]


def test_each_draw_is_its_own() -> None:
    body = "a = RandomUniformLike(x) b = RandomUniformLike(x) y = Sub(a, b)"
    model = model_of(f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}", opset=15)
    assert operators(optimize(model)) == ["RandomUniformLike", "RandomUniformLike", "Sub"]


def test_a_branch_sees_what_was_computed_before_it_and_not_the_other_branch() -> None:
    body = """
        e = Exp(x)
        y = If(c) <
            then_branch = t () => (float[N, 4] a) { p = Exp(x) q = Abs(x) a = Add(p, q) },
            else_branch = f () => (float[N, 4] b) { r = Abs(x) b = Sub(e, r) }
        >
    """
    model = model_of(f"g (float[N, 4] x, bool c) => (float[N, 4] y) {{ {body} }}")
    for condition in (True, False):
        small = optimized(model, X, np.array(condition))
        assert operators(small) == ["Abs", "Abs", "Add", "Exp", "If", "Sub"]
