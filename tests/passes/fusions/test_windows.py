"""Reductions of all windows of a vector give the same without the windows, at every width and length."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, Model, optimize
from tests.passes.agreement import model_of, operators, results

_VIEW = np.lib.stride_tricks.sliding_window_view
_NUMPYS = {"float": np.float32, "double": np.float64, "int64": np.int64, "int32": np.int32, "uint8": np.uint8}


def windowed(width: int, kind: str, after: str, result: str = "", limit: str = "Sub(size, most)") -> Model:
    """A model of something that is done with all windows `w` of x."""
    places = ", ".join(map(str, range(width)))
    return model_of(
        f"""g ({kind}[N] x) => ({result or kind + "[M]"} r) {{
        none = Constant<value = int64 {{0}}>()
        one = Constant<value = int64 {{1}}>()
        most = Constant<value = int64 {{{width - 1}}}>()
        row = Constant<value = int64[{width}] {{{places}}}>()
        upright = Constant<value = int64[2] {{-1, 1}}>()
        last = Constant<value = int64[1] {{-1}}>()
        shape = Shape(x)
        size = Gather(shape, none)
        limit = {limit}
        starts = Range(none, limit, one)
        column = Reshape(starts, upright)
        all = Add(column, row)
        w = Gather(x, all)
        {after}
    }}"""
    )


def reduced(operator: str, width: int, kind: str = "double", keepdims: int = 0) -> Model:
    result = f"{kind}[M, 1]" if keepdims else ""
    return windowed(width, kind, f"r = {operator}<keepdims = {keepdims}>(w, last)", result)


def compare(model: Model, kind: str, tolerance: float = 1e-12) -> None:
    """Both give the same, also where there is no window."""
    made = optimize(model, opset="keep")
    for size in (0, 1, 2, 5, 8, 33):
        x = (np.random.default_rng(size).normal(size=size) * 3).astype(_NUMPYS[kind])
        (wanted,), (found,) = results(model, [x]), results(made, [x])
        assert (wanted.dtype, wanted.shape) == (found.dtype, found.shape)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("width", [2, 3, 4, 5, 7, 8, 15, 32])
@pytest.mark.parametrize("operator", ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"])
def test_reductions_need_no_windows(operator: str, width: int) -> None:
    model = reduced(operator, width)
    compare(model, "double")
    assert operator not in operators(optimize(model, opset="keep"))


@pytest.mark.parametrize(
    ("operator", "kind"),
    [
        *(("ReduceSum", kind) for kind in ("float", "int64", "int32")),
        *(("ReduceMax", kind) for kind in ("float", "int64", "int32", "uint8")),
        *(("ReduceMin", kind) for kind in ("float", "int64", "int32", "uint8")),
    ],
)
def test_all_element_types_give_the_same(operator: str, kind: str) -> None:
    compare(reduced(operator, 6, kind, keepdims=1), kind, 1e-5)


@pytest.mark.parametrize(
    "after",
    [
        "s = Mul(w, w) \n r = ReduceSum<keepdims = 0>(s, last)",
        "two = Constant<value = double {2}>() \n s = Pow(w, two) \n t = Abs(s) \n r = ReduceMax<keepdims = 0>(t, last)",
        """ones = Constant<value = double[6, 1] {1, 1, 1, 1, 1, 1}>() \n s = MatMul(w, ones)
        r = Squeeze(s, last)""",
    ],
)
def test_what_is_done_with_each_element_is_done_before(after: str) -> None:
    model = windowed(6, "double", after)
    compare(model, "double")
    made = operators(optimize(model, opset="keep"))
    assert "MatMul" not in made
    assert not any(each.startswith("Reduce") for each in made)


#: What is no reduction of the windows of x alone.
OTHERS = {
    "windows of the first half": ("r = ReduceSum<keepdims = 0>(w, last)", "Div(size, most)"),
    "along the starts": (
        "first = Constant<value = int64[1] {0}>() \n r = ReduceMax<keepdims = 0>(w, first)",
        "",
    ),
    "weights": ("k = Constant<value = double[3] {1, 2, 1}>() \n r = MatMul(w, k)", ""),
    "weights of elements": (
        "k = Constant<value = double[3] {1, 2, 1}>() \n s = Mul(w, k) \n r = ReduceSum<keepdims = 0>(s, last)",
        "",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_looks_like_windows_is_left_as_it_is(name: str) -> None:
    after, limit = OTHERS[name]
    model = windowed(3, "double", after, limit=limit or "Sub(size, most)")
    made = optimize(model, opset="keep")
    x = np.random.default_rng(0).normal(size=9)
    for one, other in zip(results(model, [x]), results(made, [x]), strict=True):
        np.testing.assert_array_equal(other, one)
    assert {"MatMul", "ReduceSum", "ReduceMax"} & set(operators(made))


def test_windows_of_numpy_code_are_never_made() -> None:
    def measures(x):
        windows = _VIEW(x, 9)
        return (
            windows.mean(axis=-1),
            windows.max(axis=1),
            (windows > 0).sum(axis=1),
            (windows < 0).any(axis=1),
        )

    fast = xp.jit(measures)
    for size in (9, 10, 50):
        x = np.random.default_rng(size).normal(size=size)
        x[size // 2] = np.nan if size == 50 else 0
        for ours, theirs in zip(fast(x), measures(x), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    made = operators(xp.to_model(measures, DOUBLE["N"]).optimize())
    assert not any(each.startswith("Reduce") or each in ("Range", "MatMul") for each in made)
