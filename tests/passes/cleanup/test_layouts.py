"""Nodes that only move elements become fewer, for every size of what is open."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.agreement import model_of, operators, optimized

CASES = {
    "transposes that make one": (
        "float[4, 2, N] y",
        "a = Transpose<perm=[1, 0, 2]>(x) y = Transpose<perm=[2, 0, 1]>(a)",
        ["Transpose"],
    ),
    "reshape of reshape": (
        "float[M] y",
        "s = Constant<value_ints=[-1, 4]>() t = Constant<value_ints=[-1]>() a = Reshape(x, s) y = Reshape(a, t)",
        ["Reshape"],
    ),
    "reshape of flatten": (
        "float[N, 8] y",
        "t = Constant<value_ints=[-1, 8]>() a = Flatten(x) y = Reshape(a, t)",
        ["Flatten"],
    ),
    "unsqueeze of unsqueeze": (
        "float[1, N, 1, 2, 4] y",
        "i = Constant<value_ints=[0]>() j = Constant<value_ints=[2]>() a = Unsqueeze(x, i) y = Unsqueeze(a, j)",
        ["Unsqueeze"],
    ),
    "concat of concat": (
        "float[N, 2, 12] y",
        "a = Concat<axis=2>(x, x) y = Concat<axis=-1>(a, x)",
        ["Concat"],
    ),
    "a shape that is known but for one size": (
        "float[M, 4] y",
        "k = Constant<value_ints=[4]>() n = Size(x) s = Constant<value_ints=[1]>() m = Reshape(n, s)"
        " r = Div(m, k) t = Concat<axis=0>(r, k) y = Reshape(x, t)",
        ["Reshape"],
    ),
    "slices of two axes": (
        "float[N, 1, 2] y",
        "o = Constant<value_ints=[1]>() t = Constant<value_ints=[2]>() z = Constant<value_ints=[0]>()"
        " a = Slice(x, o, t, o) y = Slice(a, z, t, t)",
        ["Slice"],
    ),
}


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize(("output", "body", "left"), CASES.values(), ids=CASES)
def test_fewer_nodes(output: str, body: str, left: list[str], size: int) -> None:
    model = model_of(f"g (float[N, 2, 4] x) => ({output}) {{ {body} }}")
    x = np.arange(size * 8, dtype=np.float32).reshape(size, 2, 4)
    assert operators(optimized(model, x)) == left


def test_matrices_that_are_turned_while_their_batches_are_one() -> None:
    body = (
        "j = Constant<value_ints=[-1, 3, 4]>() a = Reshape(x, j) b = Transpose<perm=[0, 2, 1]>(a)"
        " p = Constant<value_ints=[-1, 2, 4, 3]>() y = Reshape(b, p)"
    )
    model = model_of(f"g (float[N, 2, 3, 4] x) => (float[N, 2, 4, 3] y) {{ {body} }}")
    x = np.arange(48, dtype=np.float32).reshape(2, 2, 3, 4)
    assert operators(optimized(model, x)) == ["Transpose"]
