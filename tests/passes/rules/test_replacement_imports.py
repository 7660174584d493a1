"""Scripts that rules call: their functions come into the model once, and their operators are part of a pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from onnxsmith import FLOAT, Model, Rule, Tensor, explain_match, opset13, opset17, rewrite, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import VerificationError

X = np.linspace(-2, 2, 6, dtype=np.float32)
WEIGHT = np.arange(600, dtype=np.float32)


@script
def half(x: Tensor, *, by: float = 2.0):
    return x / by


@script
def smooth(x: Tensor):
    return half(x) * (1.0 + op.Tanh(x))


def operators(model: Model) -> list[str]:
    return [node.op_type for node in model.proto.graph.node]


def functions(model: Model) -> dict[str, list[str]]:
    return {each.name: [node.op_type for node in each.node] for each in model.proto.functions}


def run(model: Model, *given: np.ndarray) -> Any:
    """The result of a model that the checker takes, on ONNX Runtime and on the reference evaluator alike."""
    model.check()
    names = [each.name for each in model.inputs]
    [wanted] = ReferenceEvaluator(model.proto).run(None, dict(zip(names, given, strict=True)))
    found = model(*given)
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-5, atol=1e-6)
    return found


def test_a_script_of_a_replacement_is_one_function() -> None:
    rule = Rule(lambda x: op.Relu(x), lambda x: smooth(x), name="smoother")
    result = rewrite(trace(lambda x: op.Relu(op.Neg(op.Relu(x))), FLOAT["N"]), rule)
    assert operators(result) == ["smooth", "Neg", "smooth"]
    assert list(functions(result)) == ["half", "smooth"]
    y = X / 2 * (1 + np.tanh(X))
    np.testing.assert_allclose(run(result, X), -y / 2 * (1 + np.tanh(-y)), rtol=1e-5)


def test_attributes_are_passed_to_a_script() -> None:
    def pattern(x: Tensor, *, alpha: float) -> Any:
        return op.LeakyRelu(x, alpha=alpha)

    rule = Rule(pattern, lambda x, *, alpha: half(x, by=alpha))
    result = rewrite(trace(lambda x: op.LeakyRelu(op.LeakyRelu(x, alpha=4.0)), FLOAT["N"]), rule)
    assert operators(result) == ["half", "half"]
    np.testing.assert_allclose(run(result, X), X / 4 / 0.01, rtol=1e-5)


def test_a_function_that_is_there_already_is_the_same_one() -> None:
    model = trace(lambda x: op.Relu(smooth(x)), FLOAT["N"])
    result = rewrite(model, Rule(lambda x: op.Relu(x), lambda x: smooth(x)))
    assert operators(result) == ["smooth", "smooth"]
    assert list(functions(result)) == ["half", "smooth"]
    run(result, X)


def test_another_function_of_the_name_stays_another() -> None:
    @script(name="smooth")
    def other(x: Tensor):
        return op.Sigmoid(x)

    model = trace(lambda x: op.Relu(other(x)), FLOAT["N"])
    result = rewrite(model, Rule(lambda x: op.Relu(x), lambda x: smooth(x)))
    assert operators(result) == ["smooth", "smooth_1"]
    assert functions(result)["smooth"] == ["Sigmoid"]
    y = 1 / (1 + np.exp(-X))
    np.testing.assert_allclose(run(result, X), y / 2 * (1 + np.tanh(y)), rtol=1e-5)


def test_a_function_does_not_come_to_call_itself() -> None:
    @script
    def activation(x: Tensor):
        return op.Relu(x) * 2.0

    rule = Rule(lambda x: op.Relu(x), lambda x: activation(x))
    result = rewrite(trace(lambda x: op.Relu(x), FLOAT["N"]), rule)
    assert operators(result) == ["activation"]
    assert functions(result)["activation"][0] == "Relu"
    np.testing.assert_allclose(run(result, X), np.maximum(X, 0) * 2)


def test_functions_that_two_rules_would_send_in_a_circle() -> None:
    @script
    def first(x: Tensor):
        return op.Neg(x)

    @script
    def second(x: Tensor):
        return op.Relu(x)

    rules = [
        Rule(lambda x: op.Relu(x), lambda x: first(x), name="one"),
        Rule(lambda x: op.Neg(x), lambda x: second(x), name="other"),
    ]
    run(rewrite(trace(lambda x: op.Relu(x), FLOAT["N"]), rules), X)


def test_weights_of_a_script_are_weights_of_the_model() -> None:
    @script
    def weighted(x: Tensor):
        return x * WEIGHT

    model = trace(lambda x: op.Relu(op.Relu(x)), FLOAT[600])
    rule = Rule(lambda x: op.Relu(x), lambda x: weighted(x))
    result = rewrite(model, rule)
    np.testing.assert_allclose(run(result, WEIGHT), WEIGHT**3, rtol=1e-5)
    assert result.report.weight_bytes_after <= WEIGHT.nbytes


def test_a_script_in_a_function_of_the_model() -> None:
    @script
    def outer(x: Tensor):
        return op.Relu(x) + 1.0

    result = rewrite(trace(lambda x: outer(x), FLOAT["N"]), Rule(lambda x: op.Relu(x), lambda x: smooth(x)))
    assert list(functions(result)) == ["half", "smooth", "outer"]
    np.testing.assert_allclose(run(result, X), X / 2 * (1 + np.tanh(X)) + 1, rtol=1e-5)


def test_a_branch_in_a_script_of_a_replacement() -> None:
    @script
    def by_sign(x: Tensor):
        if op.ReduceSum(x, keepdims=0) > 0.0:
            y = x * 2.0
        else:
            y = x * 3.0
        return y

    result = rewrite(
        trace(lambda x: op.Relu(x), FLOAT["N"]), Rule(lambda x: op.Relu(x), lambda x: by_sign(x))
    )
    np.testing.assert_allclose(run(result, X + 1), (X + 1) * 2)
    np.testing.assert_allclose(run(result, X - 1), (X - 1) * 3)


def test_a_script_that_the_models_opset_has_no_operator_for() -> None:
    @script
    def newer(x: Tensor):
        return op.Gelu(x)

    model = trace(lambda x: opset17.Relu(x), FLOAT["N"])
    result = rewrite(model, Rule(lambda x: opset17.Relu(x), lambda x: newer(x), name="gelu"))
    assert operators(result) == ["Relu"]
    assert "rule 'gelu' did not apply at 1 node: Gelu is from opset 20 on, and the model has opset 17" in str(
        result.report
    )


def test_a_script_is_of_the_models_opset() -> None:
    result = rewrite(
        trace(lambda x: opset13.Relu(x), FLOAT["N"]), Rule(lambda x: op.Relu(x), lambda x: smooth(x))
    )
    assert {each.version for each in result.proto.opset_import if not each.domain} == {13}
    for function in result.proto.functions:
        assert {each.version for each in function.opset_import if not each.domain} == {13}
    run(result, X)


def test_functions_that_are_not_needed_any_more_go() -> None:
    model = trace(lambda x: smooth(x), FLOAT["N"])
    rules = [
        Rule(lambda x: op.Relu(x), lambda x: half(x)),
        Rule(lambda x: op.Tanh(x), lambda x: op.Relu(x)),
    ]
    assert list(functions(rewrite(model, rules))) == ["half", "smooth"]


def test_verification_names_the_rule_that_calls_a_wrong_script() -> None:
    model = trace(lambda x: op.Relu(smooth(op.Abs(x))), FLOAT["N"])
    right = Rule(lambda x: op.Abs(x), lambda x: op.Max(x, op.Neg(x)), name="right")
    wrong = Rule(lambda x: smooth(x), lambda x: half(x, by=3.0), name="wrong")
    with pytest.raises(VerificationError, match="by the rule 'wrong'"):
        rewrite(model, [right, wrong], verify=True)


def spelled_out(x: Any) -> Any:
    return (x / 2.0) * (1.0 + op.Tanh(x))


WHOLE = Rule(lambda x: smooth(x), lambda x: op.Neg(x), name="smooth")


def test_the_operators_of_a_script_are_those_of_a_pattern() -> None:
    model = trace(spelled_out, FLOAT["N"])
    assert not rewrite(model, Rule(lambda x: op.Relu(half(x)), lambda x: op.Neg(x))).report.edits
    assert operators(rewrite(model, WHOLE)) == ["Neg"]
    assert explain_match(model, "mul", WHOLE).matches


def test_a_call_of_a_script_is_a_call_of_its_function() -> None:
    model = trace(lambda x: op.Relu(smooth(op.Abs(x))), FLOAT["N"])
    result = rewrite(model, WHOLE)
    assert (operators(result), functions(result)) == (["Abs", "Neg", "Relu"], {})
    inner = Rule(lambda x: op.Relu(smooth(x)), lambda x: op.Exp(x))
    assert operators(rewrite(model, inner)) == ["Abs", "Exp"]


def test_a_call_in_a_model_of_another_opset() -> None:
    model = trace(lambda x: opset17.Relu(half(x)), FLOAT["N"])
    assert model.opset_imports[""] == 17
    rule = Rule(lambda x: op.Relu(half(x)), lambda x: op.Neg(x))
    assert operators(rewrite(model, rule)) == ["Neg"]


def test_a_call_of_another_function_of_the_name_is_no_match() -> None:
    @script(name="smooth")
    def other(x: Tensor):
        return op.Sigmoid(x)

    model = trace(lambda x: other(x), FLOAT["N"])
    assert not rewrite(model, WHOLE).report.edits
    assert "calls another function of that name" in str(explain_match(model, "smooth", WHOLE))


def test_the_attribute_of_a_call_is_captured() -> None:
    def pattern(x: Tensor, *, by: float) -> Any:
        return op.Relu(half(x, by=by))

    rule = Rule(pattern, lambda x, *, by: op.Relu(x) * (1.0 / by))
    result = rewrite(trace(lambda x: op.Relu(half(x, by=4.0)), FLOAT["N"]), rule)
    assert (operators(result), functions(result)) == (["Relu", "Mul"], {})
    np.testing.assert_allclose(run(result, X), np.maximum(X, 0) / 4)


def test_captured_attributes_go_into_a_script_of_a_pattern() -> None:
    def pattern(x: Tensor, *, by: float) -> Any:
        return op.Relu(half(x, by=by))

    rule = Rule(pattern, lambda x, *, by: op.Relu(x) * (1.0 / by))
    result = rewrite(trace(lambda x: op.Relu(x / 4.0), FLOAT["N"]), rule)
    assert operators(result) == ["Relu", "Mul"]
    np.testing.assert_allclose(run(result, X), np.maximum(X, 0) / 4)


def test_what_a_rule_made_is_no_place_where_it_did_not_apply() -> None:
    @script
    def silu(x: Tensor):
        return x * op.Sigmoid(x)

    rule = Rule(
        lambda x: x * op.Sigmoid(x), lambda x: silu(x), when=lambda match: match["x"].rank == 2, name="silu"
    )
    result = rewrite(trace(lambda x: x * op.Sigmoid(x), FLOAT["N", 4]), rule)
    assert operators(result) == ["silu"]
    assert result.report.notes == []
    both = rewrite(
        trace(lambda x, y: (x * op.Sigmoid(x), y * op.Sigmoid(y)), FLOAT["N", 4], FLOAT["N"]), rule
    )
    assert both.report.notes == ["rule 'silu' did not apply at 1 node: its condition says no"]
