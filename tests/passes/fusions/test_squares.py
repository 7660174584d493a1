"""Sums of squares are one operator where that is faster, and the same."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import optimize
from tests.passes.agreement import model_of, operators, results


@pytest.mark.parametrize(
    ("kind", "axes", "is_one"),
    [
        ("double", (1,), True),
        ("double", (-1,), True),
        ("double", (0, 1), True),
        ("double", (0,), False),
        ("float", (1,), False),
        ("int64", (1,), False),
    ],
)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_sums_of_squares(kind: str, axes: tuple[int, ...], is_one: bool, keepdims: int) -> None:
    places = ", ".join(map(str, axes))
    shape = ", ".join(["N"] * 2 * keepdims or ["N"] * (2 - len(axes)))
    model = model_of(
        f"""g ({kind}[N, M] x) => ({kind}{f"[{shape}]" if shape else ""} r) {{
        axes = Constant<value = int64[{len(axes)}] {{{places}}}>()
        s = Mul(x, x)
        r = ReduceSum<keepdims = {keepdims}>(s, axes)
    }}"""
    )
    made = optimize(model, opset="keep")
    assert ("ReduceSumSquare" in operators(made)) == is_one
    for size in (0, 1, 3, 17):
        x = (np.random.default_rng(size).normal(size=(size, 5)) * 4).astype(
            kind if kind != "float" else np.float32
        )
        for one, other in zip(results(model, [x]), results(made, [x]), strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(other, one, rtol=1e-14)


def test_a_product_of_two_is_no_square() -> None:
    model = model_of(
        """g (double[N, M] x, double[N, M] y) => (double[N] r) {
        axes = Constant<value = int64[1] {1}>()
        s = Mul(x, y)
        r = ReduceSum<keepdims = 0>(s, axes)
    }"""
    )
    assert "ReduceSumSquare" not in operators(optimize(model))


@pytest.mark.parametrize(("width", "is_one"), [(8, True), (1000, False)])
def test_long_rows_stay_a_product_and_a_sum(width: int, is_one: bool) -> None:
    model = model_of(
        f"""g (double[N, {width}] x) => (double[N] r) {{
        axes = Constant<value = int64[1] {{1}}>()
        s = Mul(x, x)
        r = ReduceSum<keepdims = 0>(s, axes)
    }}"""
    )
    assert ("ReduceSumSquare" in operators(optimize(model))) == is_one
