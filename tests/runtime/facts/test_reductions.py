"""Sums and products of integers: exact everywhere, and at no cost where their operands are small."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from onnxsmith import opset21 as op
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import adapt
from onnxsmith.runtime.facts import reductions
from tests.runtime.facts.probing import wrong_probes

HEADER = '<ir_version: 10, opset_import: ["" : 21]> '


def rules(text: str) -> set[str]:
    return {edit.rule for edit in adapt(parser.parse_model(HEADER + text), onnxruntime_api.version()).edits}


@pytest.mark.parametrize(
    "text",
    [
        "g (float[N, M] x) => (int64 y) { s = Shape(x)  y = ReduceProd <keepdims = 0> (s) }",
        "g (float[N, M] x) => (int64 y) { s = Shape(x)  y = ReduceSum <keepdims = 0> (s) }",
        "g (float[N, M] x) => (int64 y) { s = Shape(x)  t = Identity(s)  y = ReduceProd <keepdims = 0> (t) }",
        "g (bool[N, M] x) => (int64 y) { c = Cast <to = 7> (x)  y = ReduceSum <keepdims = 0> (c) }",
        "g (int16[N, M] x) => (int64 y) { c = Cast <to = 7> (x)  d = Abs(c)  y = ReduceL1 <keepdims = 0> (d) }",
        "g (bool[4, 4] x) => (int32 y) { c = Cast <to = 6> (x)  y = ReduceSumSquare <keepdims = 0> (c) }",
        "g (float[N, 8] x) => (int64 y) { z = ArgMax <axis = 0> (x)  y = ReduceSum <keepdims = 0> (z) }",
    ],
)
def test_small_operands_cost_nothing(text: str) -> None:
    assert not {each for each in rules(text) if "as-doubles" in each}


@pytest.mark.parametrize(
    "text",
    [
        "g (int64[N, M] x) => (int64 y) { y = ReduceSum <keepdims = 0> (x) }",
        "g (double[N, M] x) => (int64 y) { c = Cast <to = 7> (x)  y = ReduceSum <keepdims = 0> (c) }",
        "g (int32[N, M] x) => (int64 y) { c = Cast <to = 7> (x)  y = ReduceSum <keepdims = 0> (c) }",
        "g (bool[N, M] x, int64[N, M] z) => (int64 y) { w = Where(x, z, z)  y = ReduceProd <keepdims = 0> (w) }",
        # A dimension that is taken three times is none of one tensor.
        "g (float[N, M] x, int64[K] i) => (int64 y)"
        " { s = Shape(x)  t = Gather(s, i)  y = ReduceProd <keepdims = 0> (t) }",
    ],
)
def test_others_are_looked_after(text: str) -> None:
    assert any("as-doubles" in each for each in rules(text))


def test_a_name_of_a_body_hides_what_is_called_so_outside() -> None:
    text = """g (float[N, M] x, int64 n, bool t, int64[K] v) => (int64[K] w) { s = Shape(x)
        w = Loop (n, t, v) <body = b (int64 i, bool c, int64[K] s) => (bool d, int64[K] e)
            { d = Identity(c)  y = ReduceSum(s)  e = Add(s, y) }> }"""
    assert "added-as-doubles-reducesum" in rules(text)


def test_more_elements_than_a_double_has_room_for() -> None:
    # 2**23 numbers of 31 bits: past 2**53 in a double, as halves of 32 bits would be.
    many = np.full(2**23, 2**31 - 1, np.int64) + (np.arange(2**23) % 2 << 32)
    assert int(op.ReduceSum(many, keepdims=0)) == int(many.sum())


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(reductions) == []
