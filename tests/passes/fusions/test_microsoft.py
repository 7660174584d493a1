"""Fusions to operators of ONNX Runtime's own domain, which are made on request alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, errors, optimize, trace
from tests.passes.agreement import CLOSE, model_of, results
from tests.passes.fusions.test_fusions import attention

X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((2, 3, 4)).astype(np.float32)
ENDS = "g (float[2,3,4] x, float[2,3,4] w) => (float[a,b,c] y)"
#: `w` as a matrix that `x` is multiplied with as it is.
RIGHT = "o = Constant<value_ints = [2, 4, 3]>() r = Reshape(w, o)"
FUSED = {
    "swish": ("s = Sigmoid(x) y = Mul(s, x)", ["QuickGelu"]),
    "quick gelu": (
        "k = Constant<value = float {1.702}>() m = Mul(x, k) s = Sigmoid(m) y = Mul(x, s)",
        ["QuickGelu"],
    ),
    "turned right": ("t = Transpose<perm=[0,2,1]>(w) y = MatMul(x, t)", ["FusedMatMul"]),
    "turned left": ("t = Transpose<perm=[0,2,1]>(x) y = MatMul(t, w)", ["FusedMatMul"]),
    "scaled": (
        "k = Constant<value = float {0.5}>() t = Transpose<perm=[0,2,1]>(w) p = MatMul(x, t) y = Mul(p, k)",
        ["FusedMatMul"],
    ),
    "divided": (
        "k = Constant<value = float {4.0}>() t = Transpose<perm=[0,2,1]>(w) p = MatMul(x, t) y = Div(p, k)",
        ["FusedMatMul"],
    ),
    "quick gelu of the product, last": (
        "k = Constant<value = float {0.5}>() m = Mul(k, x) s = Sigmoid(m) y = Mul(s, x)",
        ["QuickGelu"],
    ),
    "scaled as it is": (
        f"k = Constant<value = float {{0.5}}>() {RIGHT} p = MatMul(x, r) y = Mul(k, p)",
        ["Reshape", "FusedMatMul"],
    ),
    "divided as it is": (
        f"k = Constant<value = float {{4.0}}>() {RIGHT} p = MatMul(x, r) y = Div(p, k)",
        ["Reshape", "FusedMatMul"],
    ),
    "scaled and divided": (
        f"k = Constant<value = float {{3.0}}>() {RIGHT} p = MatMul(x, r) q = Mul(p, k) z = Div(q, k) y = Mul(z, k)",
        ["Reshape", "FusedMatMul"],
    ),
    "turned both, divided twice": (
        f"k = Constant<value = float {{4.0}}>() {RIGHT} u = Transpose<perm=[0,2,1]>(r) t = Transpose<perm=[0,2,1]>(x)"
        " p = MatMul(t, u) q = Div(p, k) y = Div(q, k)",
        ["Reshape", "FusedMatMul"],
    ),
}
KEPT = {
    "a gate of something else": ("s = Sigmoid(w) y = Mul(s, x)", ["Mul", "Sigmoid"]),
    "batches are turned as well": (
        "t = Transpose<perm=[2,1,0]>(w) y = MatMul(x, t)",
        ["MatMul", "Transpose"],
    ),
    "a factor that is no number": ("t = Abs(w) s = Mul(t, x) y = Neg(s)", ["Abs", "Mul", "Neg"]),
}


@pytest.mark.parametrize("name", FUSED)
def test_on_request(name: str) -> None:
    body, wanted = FUSED[name]
    model = model_of(f"{ENDS} {{ {body} }}")
    inputs = [X, W]
    assert "com.microsoft" not in optimize(model).proto.SerializeToString(deterministic=True).decode("latin1")
    small = optimize(model, domains=["com.microsoft"])
    assert [node.op_type for node in small.ir.graph] == wanted
    assert {each.domain: each.version for each in small.proto.opset_import}["com.microsoft"] == 1
    assert "operators of com.microsoft are in it now: it runs on ONNX Runtime alone" in small.report.notes
    onnx.checker.check_model(small.proto)
    (expected,), (found,) = results(model, inputs), results(small, inputs)
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE * np.abs(expected).max())
    assert optimize(small, domains=["com.microsoft"]).report.edits == ()


@pytest.mark.parametrize("name", KEPT)
def test_what_is_something_else_stays(name: str) -> None:
    body, wanted = KEPT[name]
    square = f"{ENDS} {{ {body} }}".replace("[2,3,4]", "[3,3,3]")
    small = optimize(model_of(square), domains=["com.microsoft"])
    assert sorted(node.op_type for node in small.ir.graph) == wanted
    assert small.report.notes == []


@pytest.mark.parametrize(
    ("ends", "body"),
    [
        ("g (float[3,4] x, float[3] w) => (float[a] y)", "t = Transpose<perm=[1,0]>(x) y = MatMul(t, w)"),
        ("g (float[4] x, float[3,4] w) => (float[a] y)", "t = Transpose<perm=[1,0]>(w) y = MatMul(x, t)"),
        ("g (float[...] x, float[3,4] w) => (float[...] y)", "t = Transpose<perm=[1,0]>(w) y = MatMul(x, t)"),
    ],
)
def test_a_vector_beside_a_turned_matrix_stays(ends: str, body: str) -> None:
    """ONNX Runtime computes something else for it."""
    model = model_of(f"{ends.replace('[...]', '[]')} {{ {body} }}")
    small = optimize(model, domains=["com.microsoft"])
    assert [node.op_type for node in small.ir.graph] == ["Transpose", "MatMul"]


def test_attention_comes_first() -> None:
    """What is an operator of ONNX stays one: nothing of it is turned into products of the runtime's own."""
    model = trace(lambda x: attention(x, 2, None, "scores"), FLOAT["N", 5, 8])
    small = optimize(model, domains=["com.microsoft"])
    assert "Attention" in [node.op_type for node in small.ir.graph]


@pytest.mark.parametrize("domains", ["com.microsoft", ["com.example"], 3, None])
def test_domains_that_are_none_are_refused(domains: Any) -> None:
    with pytest.raises(errors.AttributeValueError, match=r"domains is a list|no fusions to operators"):
        optimize(model_of(f"{ENDS} {{ y = Neg(x) }}"), domains=domains)
