"""What takes the place of a match: types of literals, opsets, weights, and when it does not stand there."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import DOUBLE, FLOAT, FLOAT16, Constant, Model, Rule, opset17, rewrite, trace
from onnxsmith import opset21 as op


def operators(model: Model) -> list[str]:
    return [node.op_type for node in model.proto.graph.node]


def parsed(text: str) -> Model:
    return Model.from_proto(parser.parse_model(text))


@pytest.mark.parametrize("kind", [FLOAT["N"], DOUBLE["N"], FLOAT16["N"]])
def test_literals_take_the_type_that_is_there(kind: Any) -> None:
    rule = Rule(lambda x: op.Neg(op.Neg(x)), lambda x: x * 1.0 + 0.0)
    result = rewrite(trace(lambda x: op.Neg(op.Neg(x)), kind), rule)
    result.check()
    assert operators(result) == ["Mul", "Add"]
    assert result.outputs[0].type == kind


def test_a_parameter_may_be_all_that_is_left() -> None:
    rule = Rule(lambda x: op.Identity(x), lambda x: x)
    model = trace(lambda x: op.Relu(op.Identity(op.Identity(x))), FLOAT["N"])
    result = rewrite(model, rule)
    assert operators(result) == ["Relu"]
    whole = rewrite(trace(lambda x: op.Identity(x), FLOAT["N"]), rule)
    whole.check()
    assert np.array_equal(whole(np.ones(2, np.float32)), np.ones(2, np.float32))


def test_a_constant_may_be_all_that_is_left() -> None:
    result = rewrite(
        trace(lambda x: x - x, FLOAT[3]), Rule(lambda x: x - x, lambda x: np.zeros(3, np.float32))
    )
    assert np.array_equal(result(np.ones(3, np.float32)), np.zeros(3, np.float32))


def test_constants_are_arrays_in_the_replacement() -> None:
    def pattern(x: Any, a: Constant, b: Constant) -> Any:
        return (x * a) * b

    def replacement(x: Any, a: Constant, b: Constant) -> Any:
        assert isinstance(a, np.ndarray)
        assert not a.flags.writeable
        return x * (a * b)

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((4,)).astype(np.float32) for _ in range(2))
    model = trace(lambda x: x * a * b, FLOAT["N", 4])
    result = rewrite(model, Rule(pattern, replacement))
    assert operators(result) == ["Mul"]
    x = rng.standard_normal((2, 4)).astype(np.float32)
    np.testing.assert_allclose(result(x), model(x), rtol=1e-6)


def test_an_array_that_stays_as_it_is_is_the_same_weight() -> None:
    def pattern(x: Any, w: Constant, b: Constant) -> Any:
        return op.MatMul(x, w) + b

    def replacement(x: Any, w: Constant, b: Constant) -> Any:
        return op.Gemm(x, w, b)

    weight, bias = np.ones((64, 64), np.float32), np.ones(64, np.float32)
    model = trace(lambda x: x @ weight + bias, FLOAT["N", 64])
    result = rewrite(model, Rule(pattern, replacement))
    assert operators(result) == ["Gemm"]
    assert result.report.weight_bytes_before == result.report.weight_bytes_after
    assert {each.name for each in result.proto.graph.initializer} == {"weight", "bias"}
    held = next(each for each in result.ir.graph.initializers.values() if each.name == "weight")
    assert held.const_value is model.ir.graph.initializers["weight"].const_value


def test_new_domains_are_imported() -> None:
    custom = onnxsmith.Opset("acme", 3)
    result = rewrite(
        trace(lambda x: op.Relu(x), FLOAT["N"]), Rule(lambda x: op.Relu(x), lambda x: custom.Act(x))
    )
    assert result.opset_imports["acme"] == 3


def test_domains_that_are_gone_are_not_imported() -> None:
    custom = onnxsmith.Opset("acme", 3)
    model = trace(lambda x: custom.Swish(op.Relu(x)), FLOAT["N"])
    result = rewrite(model, Rule(lambda x: custom.Swish(x), lambda x: x * op.Sigmoid(x)))
    assert "acme" not in result.opset_imports
    assert operators(result) == ["Relu", "Sigmoid", "Mul"]


def test_an_operator_that_the_models_opset_has_not() -> None:
    rule = Rule(lambda x: op.Relu(op.Neg(x)), lambda x: op.Gelu(x), name="newer")
    result = rewrite(trace(lambda x: opset17.Relu(opset17.Neg(x)), FLOAT["N"]), rule)
    assert operators(result) == ["Neg", "Relu"]
    assert (
        "rule 'newer' did not apply at 1 node: Gelu is from opset 20 on, and the model has opset 17"
        in str(result.report)
    )


def test_operators_that_mean_the_same_in_the_models_opset() -> None:
    """Reshape-21 takes more types than Reshape-14, and is the same for floats."""
    rule = Rule(lambda x: op.Flatten(x), lambda x: op.Reshape(x, [0, -1]))
    result = rewrite(trace(lambda x: opset17.Flatten(x), FLOAT[2, 3]), rule)
    assert (operators(result), result.opset_imports[""]) == (["Reshape"], 17)
    result.check()


def test_results_that_do_not_fit_are_refused() -> None:
    def pattern(x: Any, *, to: int) -> Any:
        return op.Cast(x, to=to)

    rule = Rule(pattern, lambda x, *, to: op.Relu(x), name="wrong")
    result = rewrite(trace(lambda x: op.Cast(x, to=DOUBLE), FLOAT["N"]), rule)
    assert operators(result) == ["Cast"]
    assert "rule 'wrong' did not apply at 1 node: its result is float32" in str(result.report)


def test_a_replacement_may_decline() -> None:
    def pattern(x: Any, *, axis: int) -> Any:
        return op.Softmax(x, axis=axis)

    rule = Rule(pattern, lambda x, *, axis: None if axis == 0 else op.LogSoftmax(x, axis=axis))
    model = trace(lambda x: op.Softmax(op.Softmax(x, axis=0), axis=1), FLOAT[2, 3])
    assert operators(rewrite(model, rule)) == ["Softmax", "LogSoftmax"]


def test_what_a_replacement_makes_and_does_not_return_is_not_there() -> None:
    def replacement(x: Any) -> Any:
        op.Exp(x)
        return op.Abs(x)

    assert operators(
        rewrite(trace(lambda x: op.Relu(x), FLOAT["N"]), Rule(lambda x: op.Relu(x), replacement))
    ) == ["Abs"]


def test_names_and_types_of_outputs_stay() -> None:
    model = trace(lambda x: op.Relu(op.Relu(x)), FLOAT["N"], output_names=["y"])
    result = rewrite(model, Rule(lambda x: op.Relu(op.Relu(x)), lambda x: op.Relu(x)))
    assert repr(result.outputs) == repr(model.outputs)


def test_inside_functions_and_branches() -> None:
    model = parsed("""<ir_version: 8, opset_import: ["": 17, "f": 1]>
        g (float[N] x, bool c) => (float[N] z) {
            y = If (c) <then_branch = t () => (float[N] a) { r = Relu(x)  a = Relu(r) },
                        else_branch = e () => (float[N] b) { b = Neg(x) }>
            z = f.twice(y)
        }
        <domain: "f", opset_import: ["": 17]>
        twice (p) => (q) { k = Constant <value_float = 1.0> ()  s = Relu(p)  u = Relu(s)  q = Add(u, k) }""")
    rule = Rule(lambda x: op.Relu(op.Relu(x)), lambda x: op.Max(x, 0.0))
    result = rewrite(model, rule)
    assert len(result.report.edits) == 2
    assert {edit.before[0].path for edit in result.report.edits} == {("If",), ("twice",)}
    onnx.checker.check_model(result.proto)
    x = np.array([-1.0, 2.0], np.float32)
    for condition in (True, False):
        np.testing.assert_array_equal(result(x, np.array(condition)), model(x, np.array(condition)))


def test_functions_that_nothing_calls_any_more_are_gone() -> None:
    model = parsed("""<ir_version: 8, opset_import: ["": 17, "f": 1]>
        g (float[N] x) => (float[N] z) { z = f.swish(x) }
        <domain: "f", opset_import: ["": 17]>
        swish (p) => (q) { s = Sigmoid(p)  q = Mul(p, s) }""")
    function = onnxsmith.Opset("f", 1)
    result = rewrite(model, Rule(lambda x: function.swish(x), lambda x: op.Relu(x)))
    assert not result.proto.functions
    assert "f" not in result.opset_imports


def test_readers_before_the_replacement_are_moved() -> None:
    """The first output is read before the second node stands there."""

    def written(x: Any, w: Any, v: Any) -> Any:
        first = op.MatMul(x, w)
        early = op.Relu(first)
        late = op.Abs(early)
        second = op.MatMul(x, v)
        return late + second

    def together(x: Any, w: Any, v: Any) -> Any:
        return tuple(op.Split(op.MatMul(x, op.Concat(w, v, axis=1)), num_outputs=2, axis=1))

    rule = Rule(lambda x, w, v: (op.MatMul(x, w), op.MatMul(x, v)), together)
    model = trace(written, FLOAT["N", 4], FLOAT[4, 4], FLOAT[4, 4])
    result = rewrite(model, rule)
    assert len(result.report.edits) == 1
    result.check()
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((3, 4), (4, 4), (4, 4))]
    np.testing.assert_allclose(result(*arrays), model(*arrays), rtol=1e-5)


def test_an_array_around_the_replacement_is_one_weight() -> None:
    weight = np.ones((32, 32), np.float32)
    rule = Rule(lambda x: op.Relu(op.Neg(x)), lambda x: x @ weight)
    model = trace(lambda x: op.Relu(op.Neg(op.Abs(op.Relu(op.Neg(x))))), FLOAT["N", 32])
    result = rewrite(model, rule)
    assert len(result.report.edits) == 2
    assert [each.name for each in result.proto.graph.initializer] == ["weight"]
