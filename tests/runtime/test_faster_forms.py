"""Quicker operators give the same bits, also of what is not finite, and only where a number is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxsmith.runtime.faster_forms import quicker
from onnxsmith.runtime.model_session import load_on_onnxruntime


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


def bounded(kind: str, between: str, lower: float, upper: float, number: float) -> onnx.ModelProto:
    text = f"""<ir_version: 10, opset_import: ["" : 21]> g ({kind}[N] x) => ({kind}[N] y)
    <{kind} l = {{{lower}}}, {kind} u = {{{upper}}}, {kind} c = {{{number}}}>
    {{ a = Max(x, l) \n {between} \n y = Min(b, u) }}"""
    return parser.parse_model(text)


def hostile(dtype: Any, size: int) -> Any:
    x = (np.random.default_rng(size).normal(size=size) * 3).astype(dtype)
    x[::7], x[1::11], x[2::13], x[3::17] = np.nan, np.inf, -np.inf, np.finfo(dtype).max
    return x


@pytest.mark.parametrize("between", ["b = Add(a, c)", "b = Sub(a, c)", "b = Abs(a)"])
@pytest.mark.parametrize(("kind", "dtype"), [("float", np.float32), ("double", np.float64)])
@pytest.mark.parametrize("seed", range(6))
def test_one_clip_bounds_from_both_sides(between: str, kind: str, dtype: Any, seed: int) -> None:
    """Numbers with few digits, whose sums are exact, and any others: the result has the same bits."""
    draw = np.random.default_rng(seed)
    digits = 4 if seed % 2 else 2**40
    lower, upper, number = (
        float(dtype(round(each * digits) / digits)) or 1.0 for each in draw.normal(size=3)
    )
    for low, high in ((lower, upper), (upper, lower), (-2.5, 3.25)):
        given = bounded(kind, between, low, high, number)
        made = quicker(given)
        onnx.checker.check_model(made, full_check=True)
        for size in (1, 8, 1001):
            x = hostile(dtype, size)
            (wanted,), (found,) = load_on_onnxruntime(given)([x]), load_on_onnxruntime(made)([x])
            np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))


def test_bounds_are_joined_where_the_sum_is_exact() -> None:
    def kinds(*arguments: Any) -> list[str]:
        return [each.op_type for each in quicker(bounded("double", *arguments)).graph.node]

    assert kinds("b = Sub(a, c)", 0.5, 3, 0.25) == ["Clip", "Sub"]
    assert kinds("b = Add(a, c)", 0.5, 3, 0.1) in (["Clip", "Add"], ["Clip", "Add", "Clip"])
    assert kinds("b = Sub(a, c)", 0.5, 3, 1e17) == ["Clip", "Sub", "Clip"]  # 3 + 1e17 is 1e17: another bound
    assert kinds("b = Sub(c, a)", 0.5, 3, 0.25) == ["Clip", "Sub", "Clip"]  # it falls where the number rises
    assert kinds("b = Sub(a, c)", 4, 3, 0.25) == ["Clip", "Sub", "Clip"]  # nothing is between the bounds
    assert kinds("b = Mul(a, c)", 0.5, 3, 0.25) == ["Clip", "Mul", "Clip"]


def test_what_is_read_elsewhere_is_bounded_as_it_was() -> None:
    given = bounded("double", "b = Sub(a, c)", 0.5, 3, 0.25)
    given.graph.output.add().CopyFrom(given.graph.output[0])
    given.graph.output[1].name = "b"
    assert [each.op_type for each in quicker(given).graph.node] == ["Clip", "Sub", "Clip"]
