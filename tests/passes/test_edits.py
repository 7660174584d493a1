"""The log of passes tells all that they did: replayed on the nodes of a model, it gives those of the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import onnx
import pytest
from hypothesis import given, settings

from onnxsmith import FLOAT, Model, Rule, Tensor, script, trace
from onnxsmith import opset21 as op
from onnxsmith.graphs.edits import NodeNote
from onnxsmith.graphs.report import PassedModel
from onnxsmith.passes.edits import noted_model, replayed
from tests.passes.surgery.runnable_models import runnable_models
from tests.passes.surgery.test_laws import LENIENT

RULES = [
    Rule(lambda a, b: op.Mul(a, b), lambda a, b: op.Mul(b, op.Identity(a)), name="product"),
    Rule(lambda a: op.Relu(a), lambda a: op.Max(a, 0.0), name="relu"),
]


@script
def kinked(a: Tensor):
    return op.Relu(a) + op.Abs(a)


@script
def doubled(a: Tensor):
    return kinked(a) * 2.0


SCRIPTS = [
    Rule(lambda a: op.Relu(a), lambda a: doubled(a), name="relu"),
    Rule(lambda a, b: op.Add(a, b), lambda a, b: kinked(op.Sub(a, b)), name="sum"),
    Rule(lambda a: kinked(a), lambda a: op.Tanh(a), name="kink"),
]
PASSES: dict[str, Callable[[Model], PassedModel]] = {
    "optimize": lambda model: model.optimize(opset="keep"),
    "optimize in a newer opset": lambda model: model.optimize(),
    "optimize without inlining": lambda model: model.optimize(inline=False),
    "rewrite": lambda model: model.rewrite(RULES),
    "rewrite by scripts": lambda model: model.rewrite(SCRIPTS[:2]),
    "rewrite by scripts and back": lambda model: model.rewrite(SCRIPTS),
    "outline what repeats": lambda model: model.outline(),
    "outline by names": lambda model: model.outline(
        by=lambda node: ("a", "b/c", "b", None)[len(node.outputs[0].name) % 4]
    ),
    "convert to 13": lambda model: model.convert_version(13),
    "convert to 9": lambda model: model.convert_version(9),
}


def known(nodes: list[NodeNote]) -> Counter[tuple[str, ...]]:
    return Counter(("/".join(each.path), each.operator, *each.outputs) for each in nodes)


@pytest.mark.parametrize("name", PASSES)
@settings(LENIENT, max_examples=30)
@given(proto=runnable_models())
def test_replayed_edits_give_the_nodes_of_the_result(name: str, proto: onnx.ModelProto) -> None:
    model = Model.from_proto(proto)
    result = PASSES[name](model)
    found = replayed(noted_model(model.ir), result.report.edits)
    assert known(found) == known(noted_model(result.ir))


def test_a_record_names_pass_rule_nodes_and_places() -> None:
    model = trace(lambda x: op.Relu(op.Neg(op.Neg(x))), FLOAT["N"])
    rule = Rule(lambda x: op.Neg(op.Neg(x)), lambda x: op.Identity(x), name="twice negative")
    (edit,) = model.rewrite(rule).report.edits
    assert (edit.pass_name, edit.rule) == ("rules", "twice negative")
    assert [each.operator for each in edit.before] == ["Neg", "Neg"]
    assert [each.outputs for each in edit.before] == [("neg_1",), ("neg",)]
    assert [(each.operator, each.outputs) for each in edit.after] == [("Identity", ("neg_1",))]
    assert all(each.source is not None and "test_edits.py" in each.source for each in edit.before)
    assert edit.sources
    assert str(edit) == "twice negative: Neg 'neg_1' + Neg 'neg' -> Identity 'identity_neg_1'"


def test_a_record_tells_of_the_functions_that_came_and_went() -> None:
    model = trace(lambda x: op.Exp(op.Relu(op.Relu(x))), FLOAT["N"])
    result = model.rewrite(SCRIPTS[0])
    first, second = result.report.edits
    assert {each.path for each in first.after} == {(), ("doubled",), ("kinked",)}
    assert {each.path for each in second.after} == {()}
    back = result.rewrite(Rule(lambda x: doubled(x), lambda x: op.Relu(x), name="back"))
    assert [each.rule for each in back.report.edits[:2]] == ["back", "back"]
    assert {each.rule for each in back.report.edits[2:]} == {"function that nothing calls"}
    assert not back.proto.functions


def test_an_output_that_gets_another_name_is_told() -> None:
    model = trace(lambda x: op.Identity(op.Neg(x)), FLOAT["N"])
    (edit,) = model.optimize().report.edits
    assert [each.outputs for each in edit.before] == [("identity",), ("neg",)]
    assert [each.outputs for each in edit.after] == [("identity",)]
