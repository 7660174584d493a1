"""How far a rule gets, in words."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, Constant, Rule, explain_match, opset17, trace
from onnxsmith import opset21 as op


def said(model: Any, node: str, rule: Rule) -> str:
    return str(explain_match(model, node, rule))


def text(written: str) -> str:
    return textwrap.dedent(written).strip()


GELU = Rule(lambda x: 0.5 * x * (1.0 + op.Erf(x / 2.0)), lambda x: op.Gelu(x), name="gelu")


def test_a_match() -> None:
    model = trace(lambda x: x * 0.5 * (op.Erf(x / 2.0) + 1.0), FLOAT["N"])
    explained = explain_match(model, "mul_1", GELU)
    assert explained.matches
    assert str(explained) == text("""
        rule 'gelu' matches at Mul 'mul_1'
          ✓ Mul 'mul_1'
            ✓ Mul 'mul'
              ✓ 0.5
              ✓ x = 'x'
            ✓ Add 'add'
              ✓ 1.0
              ✓ Erf 'erf'
                ✓ Div 'div'
                  ✓ x = 'x'
                  ✓ 2.0
          ✓ becomes Gelu
    """)


def test_another_operator() -> None:
    model = trace(lambda x: x * 0.5 * (op.Tanh(x / 2.0) + 1.0), FLOAT["N"])
    explained = explain_match(model, "mul_1", GELU)
    assert not explained.matches
    assert explained.reason == "Tanh 'tanh' is no Erf"
    assert "✗ Erf: Tanh 'tanh' is no Erf" in str(explained)


def test_another_number() -> None:
    model = trace(lambda x: x * 0.5 * (op.Erf(x / 3.0) + 1.0), FLOAT["N"])
    assert "✗ 2.0: 'const" in said(model, "mul_1", GELU)
    assert "is 3.0" in said(model, "mul_1", GELU)


def test_another_operand() -> None:
    model = trace(lambda x, y: x * 0.5 * (op.Erf(y / 2.0) + 1.0), FLOAT["N"], FLOAT["N"])
    assert "x is 'x' elsewhere, and 'y' here" in said(model, "mul_1", GELU) or "x is 'y' elsewhere" in said(
        model, "mul_1", GELU
    )


def test_an_attribute() -> None:
    rule = Rule(lambda x: op.Relu(op.Softmax(x)), lambda x: op.Relu(x), name="softmax")
    model = trace(lambda x: op.Relu(op.Softmax(x, axis=0)), FLOAT[2, 3])
    assert said(model, "relu", rule) == text("""
        rule 'softmax' does not match at Relu 'relu'
          ✓ Relu 'relu'
            ✗ Softmax: Softmax 'softmax': axis is 0, not -1
              · x
    """)


def test_read_elsewhere_and_returned() -> None:
    rule = Rule(lambda x: op.Relu(op.Neg(x)), lambda x: op.Relu(x), name="relu of neg")

    def shared(x: Any) -> Any:
        inner = op.Neg(x)
        return op.Relu(inner) + op.Abs(inner)

    assert "✗ Neg 'neg': 'neg' is also read by Abs 'abs'" in said(trace(shared, FLOAT["N"]), "relu", rule)

    def returned(x: Any) -> Any:
        inner = op.Neg(x)
        return op.Relu(inner), inner

    assert "✗ Neg 'neg': 'neg' is an output of the graph" in said(trace(returned, FLOAT["N"]), "relu", rule)


def test_the_condition() -> None:
    model = trace(lambda x: op.Relu(x), FLOAT["N"])
    no = Rule(lambda x: op.Relu(x), lambda x: op.Abs(x), when=lambda match: False, name="never")
    assert "✗ its condition says no" in said(model, "relu", no)
    wrong = Rule(lambda x: op.Relu(x), lambda x: op.Abs(x), when=lambda match: 1 / 0 > 0, name="wrong")
    assert "✗ its condition raised ZeroDivisionError" in said(model, "relu", wrong)


def test_the_replacement() -> None:
    model = trace(lambda x: opset17.Relu(opset17.Neg(x)), FLOAT["N"])
    rule = Rule(lambda x: op.Relu(op.Neg(x)), lambda x: op.Gelu(x), name="newer")
    assert "✗ its replacement: Gelu is from opset 20 on, and the model has opset 17" in said(
        model, "relu", rule
    )


def test_types_constants_and_the_rest() -> None:
    def pattern(x: FLOAT["N", 4], w: Constant, *xs: Any, axis: int) -> Any:
        return op.Concat(op.MatMul(x, w), *xs, axis=axis)

    rule = Rule(pattern, lambda x, w, *xs, axis: op.Relu(x), name="typed", when=lambda match: False)
    weight = np.ones((5, 5), np.float32)
    wrong = trace(lambda x: op.Concat(x @ weight, x, axis=1), FLOAT["N", 5])
    assert "✗ x: 'x': dimension 1 is 5, not 4" in said(wrong, "concat", rule)
    open_weight = trace(lambda x, w: op.Concat(x @ w, x, axis=1), FLOAT["N", 4], FLOAT[4, 4])
    assert "✗ w: 'w' is no constant" in said(open_weight, "concat", rule)
    weight = np.ones((4, 4), np.float32)
    right = trace(lambda x: op.Concat(x @ weight, x, x, axis=1), FLOAT["N", 4])
    assert "✓ *xs = 'x', 'x'" in said(right, "concat", rule)
    assert "✓ Concat 'concat' (axis=1)" in said(right, "concat", rule)


def test_the_alternative_that_got_farthest() -> None:
    rule = Rule([lambda x: op.Relu(op.Neg(x)), lambda x: op.Abs(op.Neg(x))], lambda x: op.Abs(x), name="two")
    assert "✓ Abs 'abs'" in said(trace(lambda x: op.Abs(op.Exp(x)), FLOAT["N"]), "abs", rule)


def test_nothing_is_changed() -> None:
    model = trace(lambda x: x * 0.5 * (op.Erf(x / 2.0) + 1.0), FLOAT["N"])
    before = model.proto.SerializeToString(deterministic=True)
    explain_match(model, "mul_1", GELU)
    assert model.proto.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("swapped", [False, True])
def test_operands_that_commute_are_compared_with_what_they_are_like(swapped: bool) -> None:
    def pattern(x: Any) -> Any:
        return 1.0 + op.Erf(x)

    rule = Rule(pattern, lambda x: op.Erf(x), name="r")
    model = trace(lambda a: (2.0 + op.Erf(a)) if swapped else (op.Erf(a) + 2.0), FLOAT["N"])
    assert str(explain_match(model, "add", rule)).splitlines() == [
        "rule 'r' does not match at Add 'add'",
        "  ✓ Add 'add'",
        "    ✗ 1.0: 'const' is 2.0",
        "    ✓ Erf 'erf'",
        "      ✓ x = 'a'",
    ]


def test_what_it_shows_of_a_match_is_what_a_rewrite_takes() -> None:
    seen: list[str] = []
    rule = Rule(
        lambda x, y: x + op.Relu(y),
        lambda x, y: x - y,
        when=lambda match: seen.append(f"{match['x'].name} {match['y'].name}") or True,
    )
    model = trace(lambda a, b: op.Relu(a) + op.Relu(b), FLOAT["N"], FLOAT["N"])
    shown = explain_match(model, "add", rule)
    model.rewrite(rule)
    assert shown.matches
    assert len(set(seen)) == 1
