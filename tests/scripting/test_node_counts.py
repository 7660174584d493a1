"""Graphs a person would write: scripts have at most one node more than the same model by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset21 as op


@script
def gelu(x: FLOAT["N"]):
    return 0.5 * x * (1 + op.Erf(x / math.sqrt(2)))


@script
def layernorm(x: FLOAT["B", "D"], w: FLOAT["D"], b: FLOAT["D"]):
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    variance = (centred**2).mean(-1, keepdims=True)
    return centred / op.Sqrt(variance + 1e-5) * w + b


@script
def branch(x: FLOAT["N"]):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return y


@script
def squares(x: FLOAT["N"]):
    s = 0.0
    for v in x:
        s = s + v * v
    return s


@script
def doubled(x: FLOAT):
    while x < 100:
        x = x * 2
    return x


@script
def rnn(x: FLOAT["T", "D"], h: FLOAT["H"], w: FLOAT["D", "H"], u: FLOAT["H", "H"]):
    for v in x:
        h = op.Tanh(v @ w + h @ u)
    return h


@script
def for_break(x: FLOAT["N"]):
    s = 0.0
    for v in x:
        if v < 0:
            break
        s = s + v
    return s


@script
def early_return(x: FLOAT["N"]):
    for v in x:
        if v > 10:
            return v
    return x.sum()


@script
def first_index(x: FLOAT["N"], y: FLOAT):
    for i in range(len(x)):
        if x[i] == y:
            return i
    return -1


@script
def sign(x: FLOAT):
    if x < 0:
        return -1
    return 1


@script
def floor_quotient(a: INT64["N"], b: INT64["N"]):
    return a // b


@script
def remainder(a: INT64["N"], b: INT64["N"]):
    return a % b


@script
def known_remainder(a: INT64["N"]):
    return a % np.array([3, -5, 7, -2])


@script
def part(x: FLOAT["N", "M"]):
    return x[1:, ::2]


@script
def reshaped(x: FLOAT["N"], m: INT64, n: INT64):
    return x.reshape(m, n)


@script
def turned(x: FLOAT["M", "N"]):
    m, n = x.shape
    return x.reshape(n, m)


@script
def gcd(a: INT64, b: INT64):
    while b != 0:
        a, b = b, a % b
    return a


def _float(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


_ROOT = f"{math.sqrt(2):.9f}"
_LOOP = "shape = Shape(x) zero = Constant <value = int64 {0}> () n = Gather(shape, zero)"
_TRUE = "true = Constant <value = bool {1}> ()"

#: The script, the model by hand in ONNX's text form, and inputs. Constants by hand are `Constant` nodes, which do not
#: count: a script has initializers for them.
_CASES: dict[str, tuple[Any, str, list[Any]]] = {
    "gelu": (
        gelu,
        "(float[N] x) => (float[N] y) { half = Constant <value = float {0.5}> ()"
        f" root = Constant <value = float {{{_ROOT}}}> () one = Constant <value = float {{1}}> ()"
        " a = Div(x, root) e = Erf(a) s = Add(e, one) h = Mul(half, x) y = Mul(h, s) }",
        [_float(-1, 0, 2)],
    ),
    "layernorm": (
        layernorm,
        "(float[B, D] x, float[D] w, float[D] b) => (float[B, D] y) { axes = Constant <value = int64[1] {-1}> ()"
        " two = Constant <value = float {2}> () epsilon = Constant <value = float {0.00001}> ()"
        " mean = ReduceMean(x, axes) c = Sub(x, mean) p = Pow(c, two) v = ReduceMean(p, axes) e = Add(v, epsilon)"
        " r = Sqrt(e) q = Div(c, r) m = Mul(q, w) y = Add(m, b) }",
        [_float(1, 2, 4, 3, 1, 0).reshape(2, 3), _float(1, 2, 3), _float(0, 1, 0)],
    ),
    "if": (
        branch,
        "(float[N] x) => (float[N] y) { zero = Constant <value = float {0}> () one = Constant <value = float {1}> ()"
        " s = ReduceSum <keepdims = 0> (x) c = Greater(s, zero)"
        " y = If (c) <then_branch = t () => (float[N] a) { a = Add(x, one) },"
        " else_branch = e () => (float[N] b) { b = Sub(x, one) }> }",
        [_float(1, -2)],
    ),
    "for": (
        squares,
        f"(float[N] x) => (float s) {{ {_LOOP} {_TRUE} start = Constant <value = float {{0}}> ()"
        " s = Loop (n, true, start) <body = b (int64 i, bool go, float before) => (bool on, float after)"
        " { on = Identity(go) v = Gather(x, i) p = Mul(v, v) after = Add(before, p) }> }",
        [_float(1, 2, 3)],
    ),
    "while": (
        doubled,
        "(float x) => (float y) { most = Constant <value = float {100}> () two = Constant <value = float {2}> ()"
        ' c = Less(x, most) y = Loop ("", c, x) <body = b (int64 i, bool go, float before) => (bool on, float after)'
        " { after = Mul(before, two) on = Less(after, most) }> }",
        [np.float32(3)],
    ),
    "rnn": (
        rnn,
        f"(float[T, D] x, float[H] h, float[D, H] w, float[H, H] u) => (float[H] y) {{ {_LOOP} {_TRUE}"
        " y = Loop (n, true, h) <body = b (int64 i, bool go, float[H] before) => (bool on, float[H] after)"
        " { on = Identity(go) v = Gather(x, i) p = MatMul(v, w)"
        " q = MatMul(before, u) s = Add(p, q) after = Tanh(s) }> }",
        [
            _float(1, 2, 3, 4).reshape(2, 2),
            _float(0, 1),
            np.eye(2, dtype=np.float32),
            np.eye(2, dtype=np.float32),
        ],
    ),
    "for-break": (
        for_break,
        f"(float[N] x) => (float s) {{ {_LOOP} {_TRUE} nothing = Constant <value = float {{0}}> ()"
        " s = Loop (n, true, nothing) <body = b (int64 i, bool go, float before) => (bool on, float after)"
        " { v = Gather(x, i) c = Less(v, nothing) on = Not(c) t = Add(before, v) after = Where(c, before, t) }> }",
        [_float(1, 2, -1, 4)],
    ),
    "early return": (
        early_return,
        f"(float[N] x) => (float y) {{ {_LOOP} {_TRUE} ten = Constant <value = float {{10}}> ()"
        " false = Constant <value = bool {0}> () nothing = Constant <value = float {0}> ()"
        " found, value = Loop (n, true, false, nothing) <body = b (int64 i, bool go, bool f, float u)"
        " => (bool on, bool c, float v) { v = Gather(x, i) c = Greater(v, ten) on = Not(c) }>"
        " y = If (found) <then_branch = t () => (float a) { a = Identity(value) },"
        " else_branch = e () => (float s) { s = ReduceSum <keepdims = 0> (x) }> }",
        [_float(1, 11, 12)],
    ),
    "early return of an index": (
        first_index,
        f"(float[N] x, float y) => (int64 p) {{ {_LOOP} {_TRUE} false = Constant <value = bool {{0}}> ()"
        " none = Constant <value = int64 {-1}> ()"
        " found, value = Loop (n, true, false, zero) <body = b (int64 i, bool go, bool f, int64 u)"
        " => (bool on, bool c, int64 at) { v = Gather(x, i) c = Equal(v, y) on = Not(c) at = Identity(i) }>"
        " p = Where(found, value, none) }",
        [_float(1, 11, 12), np.float32(11)],
    ),
    "choice": (
        sign,
        "(float x) => (int64 y) { zero = Constant <value = float {0}> () a = Constant <value = int64 {-1}> ()"
        " b = Constant <value = int64 {1}> () c = Less(x, zero) y = Where(c, a, b) }",
        [np.float32(-3)],
    ),
    "//": (
        floor_quotient,
        "(int64[N] a, int64[N] b) => (int64[N] y) { q = Div(a, b) m = Mod(a, b) r = Mod <fmod = 1> (a, b)"
        " d = Sub(m, r) less = Div(d, b) y = Sub(q, less) }",
        [np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])],
    ),
    "%": (
        remainder,
        "(int64[N] a, int64[N] b) => (int64[N] y) { y = Mod(a, b) }",
        [np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])],
    ),
    "% of what is known": (
        known_remainder,
        "(int64[N] a) => (int64[N] y) { b = Constant <value = int64[4] {3, -5, 7, -2}> () y = Mod(a, b) }",
        [np.array([7, -7, 7, -7])],
    ),
    "slice": (
        part,
        "(float[N, M] x) => (float[P, Q] y) { from = Constant <value = int64[2] {1, 0}> ()"
        " to = Constant <value = int64[2] {99, 99}> () axes = Constant <value = int64[2] {0, 1}> ()"
        " steps = Constant <value = int64[2] {1, 2}> () y = Slice(x, from, to, axes, steps) }",
        [_float(*range(12)).reshape(3, 4)],
    ),
    "reshape": (
        reshaped,
        "(float[N] x, int64 m, int64 n) => (float[P, Q] y) { zero = Constant <value = int64[1] {0}> ()"
        " a = Unsqueeze(m, zero) b = Unsqueeze(n, zero) s = Concat <axis = 0> (a, b) y = Reshape(x, s) }",
        [_float(*range(6)), np.int64(2), np.int64(3)],
    ),
    "reshape to sizes of its own": (
        turned,
        "(float[M, N] x) => (float[N, M] y) { first = Constant <value = int64[1] {0}> ()"
        " second = Constant <value = int64[1] {1}> () shape = Shape(x) m = Gather(shape, first)"
        " n = Gather(shape, second) s = Concat <axis = 0> (n, m) y = Reshape(x, s) }",
        [_float(*range(6)).reshape(2, 3)],
    ),
    "gcd": (
        gcd,
        "(int64 a, int64 b) => (int64 x) { zero = Constant <value = int64 {0}> () e = Equal(b, zero) c = Not(e)"
        ' x, y = Loop ("", c, a, b) <body = l (int64 i, bool go, int64 p, int64 q) => (bool on, int64 r, int64 s)'
        " { s = Mod(p, q) d = Equal(s, zero) on = Not(d) r = Identity(q) }> }",
        [np.int64(12), np.int64(18)],
    ),
}


def _count(graph: Any) -> int:
    """The nodes of a graph and of those in it, without constants."""
    inner = [each.g for node in graph.node for each in node.attribute if each.HasField("g")]
    return sum(node.op_type != "Constant" for node in graph.node) + sum(map(_count, inner))


@pytest.mark.parametrize("name", _CASES)
def test_at_most_one_node_more_than_by_hand(name: str) -> None:
    written, text, arrays = _CASES[name]
    by_hand = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {text}')
    onnx.checker.check_model(by_hand)
    session = onnxruntime.InferenceSession(by_hand.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {port.name: np.asarray(each) for port, each in zip(session.get_inputs(), arrays, strict=True)}
    expected = session.run(None, feeds)[0]
    model = written.to_model()
    for result in (model(*arrays), written(*arrays)):
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)
    assert _count(model.proto.graph) <= _count(by_hand.graph) + 1
