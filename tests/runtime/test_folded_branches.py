"""Branches inside bodies give the same whether ONNX Runtime could choose them before a run or not."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import pytest

from onnxsmith import DOUBLE, INT64, Model, script
from onnxsmith import opset21 as op
from onnxsmith.runtime.folded_branches import keep_from_folding

_HEAD = '<ir_version: 10, opset_import: ["" : 21, "own" : 1]>'
#: A condition that is constant, follows from a shape, or is known by a run only.
CONDITIONS = {
    "constant": "yes = Constant<value = bool {1}>()",
    "by a shape": "size = Size(x) none = Constant<value = int64 {0}>() yes = Greater(size, none)",
    "by a run": "sum = ReduceSum<keepdims = 0>(x) low = Constant<value = double {-9.0}>() yes = Greater(sum, low)",
}
_BRANCH = """r = If (yes) <
    then_branch: graph = a () => (double[?] r1) { r1 = Neg(u) },
    else_branch: graph = b () => (double[?] r2) { r2 = Identity(x) }
>"""
#: What reads the result; `q` is what comes out.
READERS = {
    "shape first": "t = Shape(r) q = Exp(r)",
    "shape last": "q = Exp(r) t = Shape(r)",
    "shape of another": "k = Cos(r) t = Shape(k) q = Exp(r)",
    "shapes of another": "k = Cos(r) t = Shape(k) t2 = Shape(k) q = Exp(r)",
    "shape behind two": "k = Cos(r) k2 = Sin(r) p = Add(k, k2) t = Shape(p) q = Exp(r)",
    "shape of a part": "k, k2 = Split<num_outputs = 2>(r) t = Shape(k) q = Exp(r)",
    "by a branch": """t = Shape(r) q = If (yes) <
        then_branch: graph = d () => (double[?] q1) { q1 = Exp(r) },
        else_branch: graph = e () => (double[?] q2) { q2 = Cos(r) }
    >""",
    "one reader": "e = Exp(r) t = Shape(e) q = Neg(e)",
    "no shape": "e = Exp(r) q = Add(e, r)",
}
#: The sizes that are not those of all.
_SIZES = {"shape of a part": 2}
_BODY = "u = Sin(x) {condition} {branch} {readers} f = Cast<to = 11>({shape}) w = Add(q, f)"
#: Where the branch stands.
PLACES = {
    "main graph": "g (double[N] x, bool c, int64 n) => (double[?] w) {{ {body} }}",
    "branch": """g (double[N] x, bool c, int64 n) => (double[?] y) {{ y = If (c) <
        then_branch: graph = h () => (double[?] w) {{ {body} }},
        else_branch: graph = i () => (double[?] w2) {{ w2 = Identity(x) }}
    > }}""",
    "loop": """g (double[N] start, bool c, int64 n) => (double[?] y) {{ y = Loop (n, c, start) <
        body: graph = h (int64 i, bool c1, double[N] x) => (bool c2, double[?] w) {{ c2 = Identity(c1) {body} }}
    > }}""",
    "function in a loop": """g (double[N] start, bool c, int64 n) => (double[?] y) {{ y = Loop (n, c, start) <
        body: graph = h (int64 i, bool c1, double[N] z) => (bool c2, double[?] v) {{
            c2 = Identity(c1) v = own.f(z)
        }}
    > }}
    <domain: "own", opset_import: ["" : 21]> f (x) => (w) {{ {body} }}""",
}


def parsed(place: str, condition: str, readers: str, size: str) -> onnx.ModelProto:
    shape = "t" if "t = " in READERS[readers] else "x"
    body = _BODY.format(
        condition=CONDITIONS[condition], branch=_BRANCH, readers=READERS[readers], shape=shape
    )
    text = PLACES[place].format(body=body).replace("double[N]", f"double[{size}]")
    return onnx.parser.parse_model(f"{_HEAD}\n{text}")


def wanted(place: str, readers: str, x: np.ndarray) -> np.ndarray:
    for _ in range(2 if "loop" in place else 1):
        r = -np.sin(x)
        q = {"one reader": -np.exp(r), "no shape": np.exp(r) + r}.get(readers, np.exp(r))
        x = q + (x if readers == "no shape" else _SIZES.get(readers, 3))
    return x


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("size", ["3", "N"])
def test_every_reader_of_a_branch_has_its_result(place: str, size: str) -> None:
    x = np.array([1.0, 2.0, 3.0])
    for condition, readers in itertools.product(CONDITIONS, READERS):
        model = Model.from_proto(parsed(place, condition, readers, size))
        found = model(x, np.array(True), np.array(2))
        np.testing.assert_allclose(
            found, wanted(place, readers, x), rtol=1e-12, err_msg=f"{condition}, {readers}"
        )


def test_only_what_would_be_folded_wrongly_is_changed() -> None:
    changed = {
        (place, condition, readers)
        for place, condition, readers in itertools.product(PLACES, CONDITIONS, READERS)
        if keep_from_folding(parsed(place, condition, readers, "3")).edits
    }
    assert {place for place, _, _ in changed} == {*PLACES} - {"main graph"}
    assert {condition for place, condition, _ in changed if place != "function in a loop"} == {
        "constant",
        "by a shape",
    }
    assert {readers for _, _, readers in changed} == {*READERS} - {"one reader", "no shape"}


@script
def of_known_sizes(x: DOUBLE[3], m: DOUBLE[3, 3], n: INT64):
    v = x
    for i in range(n):
        row = m[i % 3]
        both = op.Concat(op.Tanh(op.MatMul(m, v)), row, axis=0)
        v = op.Sin(op.CumSum(both, 0))[0:3] + row
    return v


def test_checks_of_a_script_with_known_sizes() -> None:
    """Checks in the body of its loop are such branches."""
    x, m = np.array([0.5, -0.2, 0.1]), np.arange(9.0).reshape(3, 3) / 8
    v = x
    for i in range(4):
        v = np.sin(np.cumsum(np.concatenate([np.tanh(m @ v), m[i % 3]])))[:3] + m[i % 3]
    np.testing.assert_allclose(of_known_sizes.to_model()(x, m, np.int64(4)), v, rtol=1e-12)


_LOOP = """w = Loop (trips, yes, v) <body: graph = l (int64 i, bool c, float s) => (bool co, float so) {
    co = Identity(c) so = Add(s, x)
}>"""


@pytest.mark.parametrize("inner", ["yes", "b"])
def test_a_loop_in_chosen_branches_that_reads_what_they_read(inner: str) -> None:
    """A bare session ends the process on it where both conditions are constant (ONNX Runtime 1.31)."""
    model = Model.from_proto(
        onnx.parser.parse_model(f"""{_HEAD} g (float x, float y, bool b) => (float r)
        <int64 trips = {{2}}, bool yes = {{1}}> {{ r = If (yes) <
            then_branch: graph = h () => (float p) {{ p = If ({inner}) <
                then_branch: graph = j () => (float o1) {{ v = Max(x, x) {_LOOP} o1 = Max(w, w) }},
                else_branch: graph = k () => (float o2) {{ o2 = Min(x, y) }}
            > }},
            else_branch: graph = m () => (float o3) {{ o3 = Max(y, y) }}
        > }}""")
    )
    changed = keep_from_folding(model.proto).edits
    assert bool(changed) == (inner == "yes")
    assert model(np.float32(2), np.float32(1), np.bool_(True)) == 6.0
