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


NUMBERS = "".join(
    f"c{k} = Constant<value_ints=[{k}]>() s{k} = Constant<value_int={k}>() " for k in (0, 1, 2, 3, 7)
)
#: What is computed of a tensor of B rows with 6 columns and 4 channels, as a vector of one: known, or left as it is.
ARITHMETIC = {
    "gather": ("t = Gather(s, c1)", True),
    "gather from the end": ("m = Constant<value_ints=[-1]>() t = Gather(s, m)", True),
    "gather of what is open": ("t = Gather(s, c0)", False),
    "slice": ("t = Slice(s, c1, c2)", True),
    "slice of what is open": ("t = Slice(s, c0, c1)", False),
    "slice from the end": ("m = Constant<value_ints=[-1]>() t = Slice(s, m, c3)", True),
    "slice by steps": ("a = Slice(s, c1, c3, c0, c2) t = Identity(a)", True),
    "part of the shape": ("t = Shape<start=1, end=2>(x)", True),
    "part of the shape from the end": ("t = Shape<start=-1>(x)", True),
    "a part that is open": ("t = Shape<end=1>(x)", False),
    "all but the last": ("a = Shape<start=-2, end=-1>(x) t = Add(a, c0)", True),
    "sum": ("a = Gather(s, c1) t = Add(a, c7)", True),
    "difference": ("a = Gather(s, c1) t = Sub(c7, a)", True),
    "product": ("a = Gather(s, c1) b = Gather(s, c2) t = Mul(a, b)", True),
    "quotient": ("a = Gather(s, c1) t = Div(a, c2)", True),
    "quotient, rounded": ("a = Gather(s, c1) n = Neg(c7) b = Add(a, n) d = Sub(b, c7) t = Div(d, c2)", True),
    "greatest": ("a = Gather(s, c1) t = Max(a, c7)", True),
    "least": ("a = Gather(s, c1) t = Min(a, c7)", True),
    "nothing times what is open": ("a = Gather(s, c0) t = Mul(a, c0)", True),
    "one times what is open": ("a = Gather(s, c0) t = Mul(a, c1)", False),
    "product of a part": ("a = Slice(s, c1, c3) t = ReduceProd(a)", True),
    "product of all": ("t = ReduceProd(s)", False),
    "product of all by what is open": ("a = Size(x) b = Reshape(a, c1) t = Mul(b, c0)", True),
    "scalar": ("a = Gather(s, s1) b = Mul(a, s2) t = Unsqueeze(b, c0)", True),
    "cast": ("a = Gather(s, c1) b = Cast<to=6>(a) d = Cast<to=7>(b) t = Add(d, c1)", True),
    "cast to a float and back": ("a = Gather(s, c1) b = Cast<to=1>(a) t = Cast<to=7>(b)", True),
    "joined": ("a = Gather(s, c1) b = Gather(s, c2) d = Concat<axis=0>(a, b) t = ReduceProd(d)", True),
    "joined with what is open": (
        "a = Gather(s, c0) b = Gather(s, c2) d = Concat<axis=0>(a, b) t = Gather(d, c1)",
        True,
    ),
    "one of many": ("a = Add(s, c1) t = Gather(a, c2)", True),
}


@pytest.mark.parametrize(("body", "is_known"), ARITHMETIC.values(), ids=ARITHMETIC)
def test_arithmetic_on_sizes(body: str, is_known: bool) -> None:
    text = (
        f"g (float[B, 6, 4] x, int64[1] k) => (int64[1] y) {{ {NUMBERS} s = Shape(x) {body} y = Mod(t, k) }}"
    )
    x = np.zeros((3, 6, 4), np.float32)
    small = optimized(model_of(text), x, np.array([5]))
    assert (operators(small) == ["Mod"]) == is_known


#: Shapes for `Reshape` and `Expand` that are computed of sizes of a tensor [B, L, 8]: the operators that are left.
SHAPES = {
    "the last two in one": (
        "Reshape",
        "float[B, M] y",
        "b = Gather(s, c0) m = Constant<value_ints=[-1]>() t = Concat<axis=0>(b, m)",
        1,
    ),
    "the first two in one": (
        "Reshape",
        "float[M, 8] y",
        "b = Gather(s, c0) l = Gather(s, c1) p = Mul(b, l) w = Gather(s, c2) t = Concat<axis=0>(p, w)",
        1,
    ),
    "a size that is doubled and halved": (
        "Reshape",
        "float[B, L, 8] y",
        "b = Gather(s, c0) l = Gather(s, c1) d = Mul(l, c2) h = Div(d, c2) w = Gather(s, c2)"
        " t = Concat<axis=0>(b, h, w)",
        0,
    ),
    "its own shape": ("Reshape", "float[B, L, 8] y", "t = Identity(s)", 0),
    "expanded to its own": ("Expand", "float[B, L, 8] y", "t = Identity(s)", 0),
    "expanded to more": ("Expand", "float[3, B, L, 8] y", "t = Concat<axis=0>(c3, s)", None),
}


@pytest.mark.parametrize(("operator", "output", "body", "count"), SHAPES.values(), ids=SHAPES)
def test_shapes_that_are_computed(operator: str, output: str, body: str, count: int | None) -> None:
    text = f"g (float[B, L, 8] x) => ({output}) {{ {NUMBERS} s = Shape(x) {body} z = {operator}(x, t) y = Relu(z) }}"
    small = optimized(model_of(text), np.arange(48, dtype=np.float32).reshape(2, 3, 8))
    if count is None:
        assert operators(small).count(operator) == 1
    else:
        assert operators(small) == sorted(["Relu", *[operator] * count])


def test_nothing_is_copied_where_a_size_may_be_zero() -> None:
    """`allowzero` gives 0 another meaning: then a shape is left as it is computed."""
    text = (
        "g (float[B, L] x) => (float[B, L] y) { s = Shape(x) a = Relu(x) y = Reshape<allowzero = 1>(a, s) }"
    )
    optimized(model_of(text), np.zeros((0, 3), np.float32))


def test_long_sizes_are_given_up() -> None:
    steps = " ".join(f"a{k + 1} = Add(a{k}, a{k})" for k in range(70))
    text = f"g (float[B] x, int64[1] k) => (int64[1] y) {{ a0 = Shape(x) {steps} y = Mod(a70, k) }}"
    assert len(operators(optimized(model_of(text), np.zeros(0, np.float32), np.array([5])))) > 1
