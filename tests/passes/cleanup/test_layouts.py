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
    "transposes backwards": ("float[N, 2, 4] y", "a = Transpose(x) y = Transpose(a)", []),
    "a transpose backwards and another": (
        "float[4, N, 2] y",
        "a = Transpose(x) y = Transpose<perm=[0, 2, 1]>(a)",
        ["Transpose"],
    ),
    "reshape that keeps sizes": (
        "float[N, 4, 2] y",
        "s = Constant<value_ints=[0, 8]>() t = Constant<value_ints=[0, 4, 2]>() a = Reshape(x, s) y = Reshape(a, t)",
        ["Reshape"],
    ),
    "reshape that keeps another size": (
        "float[M, 8] y",
        "s = Constant<value_ints=[-1, 8]>() t = Constant<value_ints=[-1, 4, 2]>() u = Constant<value_ints=[-1, 8]>()"
        " a = Reshape(x, t) y = Reshape(a, u)",
        ["Reshape"],
    ),
    "reshape of squeeze": (
        "float[M] y",
        "i = Constant<value_ints=[0]>() t = Constant<value_ints=[-1]>() a = Unsqueeze(x, i) y = Reshape(a, t)",
        ["Reshape"],
    ),
    "squeeze of unsqueeze from the end": (
        "float[N, 2, 4] y",
        "i = Constant<value_ints=[-1]>() j = Constant<value_ints=[3]>() a = Unsqueeze(x, i) b = Squeeze(a, j)"
        " y = Relu(b)",
        ["Relu"],
    ),
    "squeeze of two axes in another order": (
        "float[N, 2, 4] y",
        "i = Constant<value_ints=[0, 2]>() j = Constant<value_ints=[-3, 0]>() a = Unsqueeze(x, i) b = Squeeze(a, j)"
        " y = Relu(b)",
        ["Relu"],
    ),
    "squeeze of another axis": (
        "float[N, 2, 4, 1] y",
        "i = Constant<value_ints=[0, 4]>() j = Constant<value_ints=[0]>() a = Unsqueeze(x, i) y = Squeeze(a, j)",
        ["Squeeze", "Unsqueeze"],
    ),
    "unsqueeze of unsqueeze from the end": (
        "float[1, N, 2, 1, 4, 1] y",
        "i = Constant<value_ints=[-2]>() j = Constant<value_ints=[0, -1]>() a = Unsqueeze(x, i) y = Unsqueeze(a, j)",
        ["Unsqueeze"],
    ),
    "concat along another axis": (
        "float[N, 4, 8] y",
        "a = Concat<axis=2>(x, x) y = Concat<axis=1>(a, a)",
        ["Concat", "Concat"],
    ),
    "concat that is read twice": (
        "float[N, 2, 16] y",
        "a = Concat<axis=2>(x, x) y = Concat<axis=2>(a, a)",
        ["Concat", "Concat"],
    ),
    "concat of concats in the middle": (
        "float[N, 2, 16] y",
        "r = Relu(x) a = Concat<axis=2>(r, x) y = Concat<axis=2>(x, a, r)",
        ["Concat", "Relu"],
    ),
    "slices of one axis": (
        "float[N, 2, 2] y",
        "o = Constant<value_ints=[1]>() t = Constant<value_ints=[9]>() e = Constant<value_ints=[2]>()"
        " z = Constant<value_ints=[0]>()"
        " a = Slice(x, o, t, e) y = Slice(a, z, e, e)",
        ["Slice", "Slice"],
    ),
    "slices of two axes by steps": (
        "float[N, 1, 2] y",
        "o = Constant<value_ints=[1]>() t = Constant<value_ints=[9]>() e = Constant<value_ints=[2]>()"
        " m = Constant<value_ints=[-1]>()"
        " a = Slice(x, o, t, o) y = Slice(a, o, t, m, e)",
        ["Slice"],
    ),
    "a slice of a slice that is read twice": (
        "float[N, 1, 2] y, float[N, 1, 4] z",
        "o = Constant<value_ints=[1]>() t = Constant<value_ints=[9]>() e = Constant<value_ints=[2]>()"
        " a = Slice(x, o, t, o) z = Relu(a) y = Slice(a, e, t, e)",
        ["Relu", "Slice", "Slice"],
    ),
}


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize(("output", "body", "left"), CASES.values(), ids=CASES)
def test_fewer_nodes(output: str, body: str, left: list[str], size: int) -> None:
    model = model_of(f"g (float[N, 2, 4] x) => ({output}) {{ {body} }}")
    x = np.arange(size * 8, dtype=np.float32).reshape(size, 2, 4)
    assert [each for each in operators(optimized(model, x)) if each != "Identity"] == left


def test_matrices_that_are_turned_while_their_batches_are_one() -> None:
    body = (
        "j = Constant<value_ints=[-1, 3, 4]>() a = Reshape(x, j) b = Transpose<perm=[0, 2, 1]>(a)"
        " p = Constant<value_ints=[-1, 2, 4, 3]>() y = Reshape(b, p)"
    )
    model = model_of(f"g (float[N, 2, 3, 4] x) => (float[N, 2, 4, 3] y) {{ {body} }}")
    x = np.arange(48, dtype=np.float32).reshape(2, 2, 3, 4)
    assert operators(optimized(model, x)) == ["Transpose"]


#: Transposes of a fixed shape [1, 3, 1, 4].
FIXED = {
    "sizes of 1 alone": ("float[3, 1, 1, 4] y", "[1, 0, 2, 3]", "Reshape"),
    "another size": ("float[1, 4, 1, 3] y", "[0, 3, 2, 1]", "Transpose"),
    "both": ("float[4, 1, 1, 3] y", "[3, 0, 2, 1]", "Transpose"),
}


@pytest.mark.parametrize(("output", "order", "left"), FIXED.values(), ids=FIXED)
def test_transposes_of_sizes_of_one(output: str, order: str, left: str) -> None:
    model = model_of(
        f"g (float[1, 3, 1, 4] x) => ({output}) {{ a = Transpose<perm={order}>(x) y = Relu(a) }}"
    )
    small = optimized(model, np.arange(12, dtype=np.float32).reshape(1, 3, 1, 4))
    assert operators(small) == sorted(["Relu", left])


def test_axes_of_an_older_opset() -> None:
    body = "a = Unsqueeze<axes = [0]>(x) b = Unsqueeze<axes = [3]>(a) y = Relu(b)"
    model = model_of(f"g (float[N, 4] x) => (float[1, N, 4, 1] y) {{ {body} }}", opset=11)
    assert operators(optimized(model, np.ones((2, 4), np.float32))) == ["Relu", "Unsqueeze"]
    body = "a = Unsqueeze<axes = [0]>(x) b = Squeeze<axes = [0]>(a) y = Relu(b)"
    model = model_of(f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}", opset=11)
    assert operators(optimized(model, np.ones((2, 4), np.float32))) == ["Relu"]
