"""`rewrite` as a whole: fixed point, order of rules, conditions, reports; the given model stays as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import DOUBLE, FLOAT, Model, Rule, opset17, rewrite, trace
from onnxsmith import opset21 as op
from onnxsmith.graphs.origins import SOURCE_KEY

FEWER = Rule(lambda x: op.Relu(op.Relu(x)), lambda x: op.Relu(x), name="relu of relu")


def operators(model: Model) -> list[str]:
    return [node.op_type for node in model.proto.graph.node]


def test_until_nothing_is_found() -> None:
    def many(x: Any) -> Any:
        for _ in range(50):
            x = op.Relu(x)
        return x

    result = rewrite(trace(many, FLOAT["N"]), FEWER)
    assert operators(result) == ["Relu"]
    assert len(result.report.edits) == 49


def test_what_a_rule_makes_others_match() -> None:
    rules = [
        Rule(lambda x: op.Abs(op.Neg(x)), lambda x: op.Abs(x)),
        Rule(lambda x: 0.0 - x, lambda x: op.Neg(x)),
        Rule(lambda x: op.Sqrt(op.Abs(x)), lambda x: op.Softplus(x)),
    ]
    result = rewrite(trace(lambda x: op.Sqrt(op.Abs(0.0 - x)), FLOAT["N"]), rules)
    assert operators(result) == ["Softplus"]


def test_a_reader_that_goes_makes_room() -> None:
    """The inner Neg is read twice until the other rule has removed one reader, four nodes away."""

    def written(x: Any) -> Any:
        inner = op.Neg(x)
        long = op.Relu(op.Abs(op.Exp(inner)))
        return long, op.Identity(op.Floor(inner))

    rules = [
        Rule(lambda x: op.Relu(op.Abs(op.Exp(op.Neg(x)))), lambda x: op.Softplus(x)),
        Rule(lambda x: op.Identity(op.Floor(op.Neg(x))), lambda x: op.Ceil(x)),
        Rule(lambda x: op.Floor(op.Neg(x)), lambda x: op.Ceil(x)),
    ]
    assert sorted(operators(rewrite(trace(written, FLOAT["N"]), rules[:1]))) == sorted(
        operators(trace(written, FLOAT["N"]))
    )
    first = Rule(lambda x: op.Identity(op.Floor(x)), lambda x: op.Ceil(op.Relu(x)))
    assert "Softplus" not in operators(rewrite(trace(written, FLOAT["N"]), [rules[0], first]))


def test_the_first_rule_that_matches() -> None:
    rules = [
        Rule(lambda x: op.Relu(x), lambda x: op.Abs(x), name="first"),
        Rule(lambda x: op.Relu(x), lambda x: op.Neg(x), name="second"),
    ]
    model = trace(lambda x: op.Relu(x), FLOAT["N"])
    assert operators(rewrite(model, rules)) == ["Abs"]
    assert operators(rewrite(model, rules[::-1])) == ["Neg"]


def test_conditions() -> None:
    rule = Rule(
        lambda x, w: op.MatMul(x, w), lambda x, w: op.Gemm(x, w), when=lambda match: match["x"].rank == 2
    )
    assert operators(rewrite(trace(lambda x, w: x @ w, FLOAT["N", 4], FLOAT[4, 2]), rule)) == ["Gemm"]
    assert operators(rewrite(trace(lambda x, w: x @ w, FLOAT["B", "N", 4], FLOAT[4, 2]), rule)) == ["MatMul"]


def test_what_a_condition_sees() -> None:
    seen: list[Any] = []

    def pattern(x: Any, w: onnxsmith.Constant, *xs: Any, axis: int) -> Any:
        return op.Concat(op.MatMul(x, w), *xs, axis=axis)

    def look(match: Any) -> bool:
        seen.append(
            (
                match["x"].shape,
                match["x"].dtype,
                match.array("w").sum(),
                len(match["xs"]),
                match["axis"],
                "y" in match,
            )
        )
        assert match.tensor("w").is_constant
        assert not match.tensor("x").is_constant
        return False

    weight = np.ones((4, 4), np.float32)
    model = trace(lambda x, y: op.Concat(x @ weight, y, x, axis=1), FLOAT["N", 4], FLOAT["N", 4])
    result = rewrite(model, Rule(pattern, lambda x, w, *xs, axis: op.Relu(x), when=look))
    assert not result.report.edits
    assert seen[0] == (("N", 4), FLOAT.dtype, 16.0, 2, 1, False)


def test_a_condition_that_raises_refuses_and_is_reported() -> None:
    rule = Rule(
        lambda x: op.Relu(x), lambda x: op.Abs(x), when=lambda match: match["y"].rank == 2, name="wrong"
    )
    result = rewrite(trace(lambda x: op.Relu(x), FLOAT["N"]), rule)
    assert operators(result) == ["Relu"]
    assert "rule 'wrong' did not apply at 1 node: its condition raised KeyError" in str(result.report)


def test_matches_that_a_condition_refuses_are_counted() -> None:
    def network(x: Any) -> Any:
        return op.Relu(op.Relu(op.Neg(op.Relu(op.Cast(x, to=DOUBLE)))))

    rule = Rule(
        lambda x: op.Relu(x), lambda x: op.Abs(x), when=lambda match: match.node == "relu_1", name="one"
    )
    result = rewrite(trace(network, FLOAT["N"]), rule)
    assert operators(result).count("Relu") == 2
    assert result.report.notes == ["rule 'one' did not apply at 2 nodes: its condition says no"]


def test_a_refusal_is_forgotten_where_the_rule_applies_later() -> None:
    rules = [
        Rule(
            lambda x: op.Relu(x), lambda x: op.Abs(x), when=lambda match: match["x"].name == "x", name="late"
        ),
        Rule(lambda x: op.Neg(op.Neg(x)), lambda x: x, name="first"),
    ]
    result = rewrite(trace(lambda x: op.Neg(op.Relu(op.Neg(op.Neg(x)))), FLOAT["N"]), rules)
    assert operators(result) == ["Abs", "Neg"]
    assert not result.report.notes


def test_rules_that_feed_each_other() -> None:
    rules = [
        Rule(lambda x: op.Relu(x), lambda x: op.Abs(x), name="there"),
        Rule(lambda x: op.Abs(x), lambda x: op.Relu(x), name="back"),
    ]
    result = rewrite(trace(lambda x: op.Relu(x), FLOAT["N"]), rules)
    assert "without end" in str(result.report)
    result.check()


def test_a_rule_that_feeds_itself() -> None:
    rule = Rule(lambda x: op.Relu(x), lambda x: op.Relu(op.Abs(x)), name="growing")
    result = rewrite(trace(lambda x: op.Relu(x), FLOAT["N"]), rule)
    assert "rule 'growing' was stopped after" in str(result.report)
    result.check()


def test_a_rule_that_changes_nothing_is_not_applied() -> None:
    rule = Rule(lambda x: op.Relu(x + 1.0), lambda x: op.Relu(x + 1.0))
    result = rewrite(trace(lambda x: op.Relu(x + 1.0), FLOAT["N"]), rule)
    assert not result.report.edits
    assert not result.report.notes


def test_the_given_model_stays() -> None:
    model = trace(lambda x: op.Relu(op.Relu(x)), FLOAT["N"])
    before = model.proto.SerializeToString(deterministic=True)
    model.rewrite([FEWER])
    assert model.proto.SerializeToString(deterministic=True) == before


def test_the_log_tells_what_became_what() -> None:
    model = trace(lambda x: op.Relu(op.Relu(x)), FLOAT["N"])
    result = model.rewrite(FEWER)
    (edit,) = result.report.edits
    assert edit.rule == "relu of relu"
    assert sorted(str(each) for each in edit.before) == ["Relu 'relu'", "Relu 'relu_1'"]
    assert len(edit.after) == 1
    assert edit.sources
    assert result.ir.graph[0].metadata_props[SOURCE_KEY]
    assert str(result.report) == "2 nodes before, 1 after\n       1 x relu of relu"


def test_types_that_the_model_does_not_declare_are_known() -> None:
    """A condition sees the types that inference finds, and the model declares no more than before."""
    model = trace(lambda x: op.Relu(op.Transpose(x)), FLOAT["N", 4])
    bare = model.proto
    del bare.graph.value_info[:]
    rule = Rule(lambda x: op.Relu(x), lambda x: op.Abs(x), when=lambda match: match["x"].shape == (4, "N"))
    result = rewrite(Model.from_proto(bare), rule)
    assert operators(result) == ["Transpose", "Abs"]
    assert not [each for each in result.proto.graph.value_info if each.name == "transpose"]


@pytest.mark.parametrize("version", [13, 17, 21, 23])
def test_a_rule_of_one_opset_on_models_of_others(version: int) -> None:
    own = onnxsmith.Opset("", version)
    rule = Rule(lambda x: opset17.Relu(x * 2.0 + 1.0), lambda x: opset17.Abs(x) * 2.0)
    model = trace(lambda x: own.Relu(own.Add(own.Mul(x, 2.0), 1.0)), FLOAT["N"], opset_version=version)
    result = rewrite(model, rule)
    assert operators(result) == ["Abs", "Mul"]
    assert result.opset_imports[""] == version
    result.check()


def test_verification_names_the_rule_that_made_a_difference() -> None:
    wrong = Rule(lambda x: op.Exp(x), lambda x: op.Neg(x), name="no exponential")
    model = trace(lambda x: op.Abs(op.Exp(op.Relu(op.Relu(x)))), FLOAT["N"])
    with pytest.raises(onnxsmith.errors.VerificationError) as caught:
        rewrite(model, [FEWER, wrong], verify=True)
    assert "output 'abs' differs" in caught.value.message
    assert "by the rule 'no exponential': Exp 'exp' -> Neg" in caught.value.message
    # On what it happens to be right for, it passes.
    assert rewrite(model, FEWER, verify=[np.float32([1, -2])]).report.verification == (
        "verified: equal results for x [2]"
    )


def test_a_model_that_only_others_run_is_not_verified() -> None:
    acme = onnxsmith.Opset("com.acme", 1)
    model = trace(lambda x: op.Relu(op.Relu(acme.Swish(x))), FLOAT["N"])
    told = rewrite(model, FEWER, verify=True).report.verification
    assert told is not None
    assert told.startswith("not verified: the model cannot run as it was")


def test_inputs_to_verify_with_are_checked_before_anything_is_made() -> None:
    model = trace(lambda x: op.Relu(op.Relu(x)), FLOAT["N"])
    with pytest.raises(onnxsmith.errors.ModelInputError, match="no value for the input 'x'"):
        rewrite(model, FEWER, verify={"typo": np.zeros(2, np.float32)})


def test_a_function_that_calls_itself_is_left_alone() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "d" : 1]>
    g (float[N] x) => (float[N] y) { z = Relu(x) y = d.f(z) }
    <domain: "d", opset_import: ["" : 21, "d" : 1]> f (x) => (y) { y = d.f(x) }"""
    rule = Rule(lambda x: op.Relu(x), lambda x: op.Abs(x))
    made = rewrite(Model.from_proto(onnx.parser.parse_model(text)), rule)
    assert [node.op_type for node in made.ir.graph] == ["Abs", "f"]
