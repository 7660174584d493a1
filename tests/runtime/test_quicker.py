"""Quicker operators give the same bits, also of what is not finite, and only where a number is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxsmith.runtime.model_session import load_on_onnxruntime
from onnxsmith.runtime.quicker import quicker


def model(kind: str, expression: str, number: str) -> onnx.ModelProto:
    text = f"""<ir_version: 10, opset_import: ["" : 21]> g ({kind}[N] x) => ({kind}[N] y)
    <{kind} c = {{{number}}}> {{ a = Neg(x) \n b = Neg(a) \n y = {expression} }}"""
    return parser.parse_model(text)


def operators(made: onnx.ModelProto) -> list[str]:
    return [each.op_type for each in made.graph.node[2:]]


@pytest.mark.parametrize(
    ("expression", "number", "operator"),
    [
        ("Max(b, c)", "0.5", "Clip"),
        ("Max(c, b)", "-2.25", "Clip"),
        ("Min(b, c)", "0.5", "Clip"),
        ("Min(c, b)", "-1", "Clip"),
        ("Div(b, c)", "64", "Mul"),
        ("Div(b, c)", "-0.125", "Mul"),
    ],
)
@pytest.mark.parametrize(("kind", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_the_same_bits(expression: str, number: str, operator: str, kind: str, dtype: Any) -> None:
    given = model(kind, expression, number)
    made = quicker(given)
    assert operators(made) == [operator]
    onnx.checker.check_model(made, full_check=True)
    tiny = np.finfo(dtype).smallest_subnormal
    for size in (1, 3, 8, 33, 1001):
        x = np.random.default_rng(size).normal(size=size).astype(dtype)
        x[::3], x[1::5], x[2::7] = np.nan, np.inf, -np.inf
        x[3::11], x[4::11], x[5::11], x[6::11] = -0.0, 0.0, 3 * tiny, np.finfo(dtype).max
        (wanted,), (found,) = load_on_onnxruntime(given)([x]), load_on_onnxruntime(made)([x])
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
        np.testing.assert_array_equal(np.signbit(np.asarray(found)), np.signbit(np.asarray(wanted)))


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("Div(b, c)", "3"),
        ("Div(c, b)", "2"),
        ("Max(b, x)", "1"),
        ("Max(b, x, c)", "1"),
        ("Div(b, c)", "0"),
        ("Max(b, c)", "0"),
    ],
)
def test_the_rest_stays(expression: str, number: str) -> None:
    given = model("double", expression, number)
    assert quicker(given) is given
