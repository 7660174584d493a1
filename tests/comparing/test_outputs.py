"""Outputs that differ in number, kind, type or text, and outputs that no matched value explains."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxsmith import compare
from onnxsmith.errors import RuntimeSupportWarning
from tests.comparing.zoo import graph

X = np.float32([-1, 2, 3, 4])
BOTH = "g (float[4] x) => (float[4] y, float[4] z) { y = Relu(x) z = Neg(x) }"
SWAPPED = "g (float[4] x) => (float[4] y, float[4] z) { y = Neg(x) z = Relu(x) }"
ONE = "g (float[4] x) => (float[4] y) { y = Relu(x) }"
SEQUENCE = "g (float[4] x) => (seq(float[4]) s) { n = Neg(x) s = SequenceConstruct(%s) }"
RESHAPED = "g (float[4] x) => (float[1, 4] y) <int64[1] a = {0}> { r = Relu(x) y = Unsqueeze(r, a) }"
WIDER = "g (float[4] x) => (double[4] y) { r = Relu(x) y = Cast<to = 11>(r) }"
WHOLE = "g (float[4] x) => (int32[4] y) { r = Relu(x) y = Cast<to = 6>(r) }"
TEXT = 'g (string[2] x) => (string[2] y) { y = StringNormalizer<case_change_action = "%s">(x) }'
LOOP = """g (int64 n, float[4] x) => (float[4] y) <int64 one = {1}, bool t = {1}> {
  m = Add(n, one)
  y = Loop(%s, t, x) <body = b (int64 i, bool c, float[4] v) => (bool d, float[4] w) {
    d = Identity(c)  w = Add(v, v)
  }>
}"""
LONGER = """g (bool c, float[4] x) => (float[N] y) {
  m = %s(c)
  y = If(m) <then_branch = a () => (float[M] p) { p = Neg(x) },
             else_branch = b () => (float[K] q) { q = Concat<axis = 0>(x, x) }>
}"""
IF = """g (bool c, float[4] x) => (float[4] y) {
  m = %s(c)
  y = If(m) <then_branch = a () => (float[4] p) { p = Neg(x) }, else_branch = b () => (float[4] q) { q = Relu(x) }>
}"""
TURNS = {"n": np.int64(3), "x": X}
NONE = {"n": np.int64(0), "x": X}


@pytest.mark.parametrize(
    ("left", "right", "inputs", "named", "said"),
    [
        pytest.param(BOTH, ONE, [X], None, "output 'z': an output, and nothing", id="missing"),
        pytest.param(ONE, BOTH, [X], None, "output 'z': nothing, and an output", id="one more"),
        pytest.param(
            SEQUENCE % "x, x", SEQUENCE % "x, n", [X], "SequenceConstruct", "at [1, 3]", id="sequence"
        ),
        pytest.param(
            SEQUENCE % "x", SEQUENCE % "x, x", [X], "SequenceConstruct", "a sequence of 1, and", id="longer"
        ),
        pytest.param(ONE, RESHAPED, [X], "Relu", "shape (4,), and float32 of shape (1, 4)", id="shape"),
        pytest.param(ONE, WHOLE, [X], "Relu", "float32 of shape (4,), and int32", id="type"),
        pytest.param(
            TEXT % "UPPER",
            TEXT % "LOWER",
            [np.array(["aB", "c"], object)],
            "StringNormalizer",
            "2 of 2 elements differ: AB and ab",
            id="text",
        ),
        pytest.param(BOTH, SWAPPED, [X], "Relu", "output 'z'", id="swapped"),
        pytest.param(LOOP % "n", LOOP % "m", TURNS, "Loop", "3 turns, and 4 turns", id="turns"),
        pytest.param(LOOP % "n", LOOP % "m", NONE, "Loop", "they part at Loop", id="none"),
        pytest.param(
            IF % "Identity",
            IF % "Not",
            {"c": np.array(True), "x": X},
            "Neg",
            "in the other: Relu (node 1.else_branch.0)",
            id="branch",
        ),
        pytest.param(
            LONGER % "Identity",
            LONGER % "Not",
            {"c": np.array(True), "x": X},
            "If",
            "the then branch, and the else branch",
            id="shape of a branch",
        ),
    ],
)
def test_outputs_differ(
    left: str, right: str, inputs: Any, named: str | None, said: str, tmp_path: Path
) -> None:
    # What is written to reproduce it is as it was given, and ONNX Runtime gets that operator wrong.
    is_wrong = named == "StringNormalizer"
    with pytest.warns(RuntimeSupportWarning, match=named) if is_wrong else nullcontext():
        found = compare(graph(left), graph(right), inputs, reproduce=tmp_path)
    assert not found
    assert said in str(found)
    assert (found.node and found.node.node.op_type) == named, found


@pytest.mark.parametrize("text", [BOTH, SEQUENCE % "x, n", RESHAPED, WIDER])
def test_outputs_of_a_model_equal_themselves(text: str) -> None:
    found = compare(graph(text), graph(text), [X])
    assert found
    assert not found.notes


def test_a_wider_type_is_said() -> None:
    found = compare(graph(ONE), graph(WIDER), [X])
    assert found
    assert "output 'y' is float32 of shape (4,) in the first, and float64 of shape (4,) in the second" in str(
        found
    )
