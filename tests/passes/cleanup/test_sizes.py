"""Sizes that are computed from shapes become constants where they are known, and stay open where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.agreement import model_of, operators, optimized

HEADS = """
    s = Shape(x) zero = Constant<value_int=0>() one = Constant<value_int=1>() axes = Constant<value_ints=[0]>()
    b = Gather(s, zero) l = Gather(s, one) bu = Unsqueeze(b, axes) lu = Unsqueeze(l, axes)
    h = Constant<value_ints=[2]>() w = Constant<value_ints=[4]>() t = Concat<axis=0>(bu, lu, h, w) y = Reshape(x, t)
"""
FLAT = """
    s = Shape<end=1>(x) m = Constant<value_ints=[-1]>() t = Concat<axis=0>(s, m) y = Reshape(x, t)
"""
HALF = """
    s = Shape(x) i = Constant<value_int=2>() w = Gather(s, i) two = Constant<value_int=2>() h = Div(w, two)
    axes = Constant<value_ints=[0]>() hu = Unsqueeze(h, axes) z = Constant<value_ints=[0]>()
    a = Constant<value_ints=[2]>() y = Slice(x, z, hu, a)
"""
SAME = """
    s = Shape(x) a = Relu(x) y = Reshape(a, s)
"""

CASES = {
    "heads": ("float[B, L, 2, 4] y", HEADS, ["Reshape"]),
    "flat": ("float[B, M] y", FLAT, ["Reshape"]),
    "half": ("float[B, L, 4] y", HALF, ["Slice"]),
    "same": ("float[B, L, 8] y", SAME, ["Relu"]),
}


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (2, 0)])
@pytest.mark.parametrize(("output", "body", "left"), CASES.values(), ids=CASES)
def test_shape_arithmetic(output: str, body: str, left: list[str], sizes: tuple[int, int]) -> None:
    model = model_of(f"g (float[B, L, 8] x) => ({output}) {{ {body} }}")
    x = np.random.default_rng(0).standard_normal((*sizes, 8)).astype(np.float32)
    assert operators(optimized(model, x)) == left


def test_two_open_sizes_are_not_guessed() -> None:
    # The sizes are swapped: neither stands where the tensor has it, and only one may be told as -1.
    body = "s = Shape(x) i = Constant<value_ints=[1, 0]>() t = Gather(s, i) y = Reshape(x, t)"
    model = model_of(f"g (float[B, L] x) => (float[L, B] y) {{ {body} }}")
    small = optimized(model, np.arange(6, dtype=np.float32).reshape(2, 3))
    assert "Reshape" in operators(small)
    assert len(operators(small)) > 1


def test_a_model_that_lies_about_its_shapes_is_not_believed() -> None:
    body = "s = Constant<value_ints=[3]>() a = Neg(x) y = Expand(a, s)"
    text = f"g (float[N] x) => (float[M] y) <float[3] a> {{ {body} }}"
    optimized(model_of(text), np.ones(1, np.float32))


def test_a_constant_that_a_body_gives_is_left_alone() -> None:
    model = model_of("""g (bool c) => (int64 y) {
        one = Constant<value = int64 {1}>()
        two = Constant<value = int64 {2}>()
        y = If (c) <then_branch = t () => (int64 a) { a = Identity(one) },
                    else_branch = f () => (int64 b) { b = Identity(two) }>
    }""")
    small = optimized(model, np.array(True))
    assert not [each for each in small.report.edits if each.rule == "known sizes"]
