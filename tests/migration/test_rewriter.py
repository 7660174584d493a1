"""Rules written for onnxscript's rewriter: they do here what they do there, or are refused by name."""

from __future__ import annotations

import importlib.util
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import onnxsmith
from onnxsmith import FLOAT, opset21, rewriter, trace
from onnxsmith.errors import CallError, RuleError
from onnxsmith.rewriter import pattern

HEADER = '<ir_version: 8, opset_import: ["": 18, "my.domain": 1]>'


def model_of(body: str, inputs: str = "float[4, 4] x, float[4, 4] y") -> onnx.ModelProto:
    """A model of nodes in onnx's text; it gives z."""
    return onnx.parser.parse_model(f"{HEADER} agraph ({inputs}) => (float[N, M] z) {{ {body} }}")


# -- what both rewriters give --------------------------------------------------------------------------
# Each case is a function of a module `pattern`, ours or onnxscript's, that gives the rules.


def two_signs(pattern: Any) -> Any:
    return [pattern.RewriteRule(lambda op, x: op.Neg(op.Neg(x)), lambda op, x: op.Identity(x))]


def any_attributes(pattern: Any) -> Any:
    return [pattern.RewriteRule(lambda op, x: op.Transpose(x), lambda op, x: op.Identity(x))]


def no_other_attributes(pattern: Any) -> Any:
    def transpose(op: Any, x: Any) -> Any:
        return op.Transpose(x, _allow_other_attributes=False)

    return [pattern.RewriteRule(transpose, lambda op, x: op.Identity(x))]


def any_cast(pattern: Any) -> Any:
    """`to` is required in a model, and may be left out in a pattern."""
    return [pattern.RewriteRule(lambda op, x: op.Relu(op.Cast(x)), lambda op, x: op.Relu(x))]


def other_inputs(pattern: Any) -> Any:
    def clip(op: Any, x: Any) -> Any:
        return op.Clip(x, _allow_other_inputs=True)

    return [pattern.RewriteRule(clip, lambda op, x: op.Relu(x))]


def no_other_inputs(pattern: Any) -> Any:
    return [pattern.RewriteRule(lambda op, x: op.Clip(x), lambda op, x: op.Relu(x))]


def scaled(op: Any, x: Any) -> Any:
    return 2.0 * op.Sigmoid(x)


def fast(op: Any, x: Any) -> Any:
    return op.FastScale(x, _domain="my.domain")


def in_order(pattern: Any) -> Any:
    return pattern.RewriteRuleSet([pattern.RewriteRule(scaled, fast)])


def in_any_order(pattern: Any) -> Any:
    return pattern.RewriteRuleSet([pattern.RewriteRule(scaled, fast)], commute=True)


def of_a_domain(pattern: Any) -> Any:
    return [pattern.RewriteRule(fast, lambda op, x: op.Relu(x))]


def attribute_variable(pattern: Any) -> Any:
    """The condition and the replacement get an attribute of onnx-ir."""

    def reversed_axes(context: Any, x: ir.Value, perm: ir.Attr) -> bool:
        return perm.as_ints() == (1, 0)

    def gemm(op: Any, x: Any, perm: ir.Attr) -> Any:
        return op.Relu(op.Transpose(x, perm=perm))

    def first(op: Any, x: Any, perm: Any) -> Any:
        return op.Transpose(op.Relu(x), perm=perm)

    return [pattern.RewriteRule(first, gemm, reversed_axes)]


def constants_in_conditions(pattern: Any) -> Any:
    """A condition reads constants of nodes and the sizes of inputs."""

    def adds_nothing(context: Any, x: ir.Value, zero: ir.Value) -> bool:
        known = zero.const_value
        assert x.shape is not None
        return known is not None and not known.numpy().any() and x.shape.numpy() == (4, 4)

    return [
        pattern.RewriteRule(
            lambda op, x, zero: op.Add(x, zero), lambda op, x, **_: op.Identity(x), adds_nothing
        )
    ]


def failing_condition(pattern: Any) -> Any:
    def never(context: Any, **_: Any) -> Any:
        return pattern.MatchResult().fail("for a reason")

    return [pattern.RewriteRule(lambda op, x: op.Neg(op.Neg(x)), lambda op, x: op.Identity(x), never)]


def replacement_says_no(pattern: Any) -> Any:
    return [pattern.RewriteRule(lambda op, x: op.Neg(op.Neg(x)), lambda op, x: None)]


def tagged(pattern: Any) -> Any:
    def either(op: Any, x: Any, y: Any) -> Any:
        found = pattern.OrValue([op.Add(x, y), op.Sub(x, y)], tag_var="sign", tag_values=["plus", "minus"])
        return op.Relu(found)

    def fused(op: Any, x: Any, y: Any, sign: str) -> Any:
        return op.Fused(x, y, sign=sign, _domain="my.domain")

    return [pattern.RewriteRule(either, fused)]


def untagged(pattern: Any) -> Any:
    def either(op: Any, x: Any, y: Any) -> Any:
        return op.Relu(pattern.OrValue([op.Add(x, y), op.Sub(x, y)]))

    return [pattern.RewriteRule(either, lambda op, x, y: op.Fused(x, y, _domain="my.domain"))]


def two_results(pattern: Any) -> Any:
    def split(op: Any, x: Any) -> Any:
        return op.Split(x, num_outputs=2, axis=0, _outputs=2)

    def halves(op: Any, x: Any) -> Any:
        return op.Halves(x, _domain="my.domain", _outputs=["upper", "lower"])

    return [pattern.RewriteRule(split, halves)]


def as_a_class(pattern: Any) -> Any:
    class Scaled(pattern.RewriteRuleClassBase):
        def __init__(self, name: str, factor: float) -> None:
            super().__init__(name)
            self.factor = factor

        def pattern(self, op: Any, x: Any) -> Any:
            return self.factor * op.Sigmoid(x)

        def check(self, context: Any, x: ir.Value) -> bool:
            return x.shape is not None

        def rewrite(self, op: Any, x: Any) -> Any:
            return op.FastScale(x, _domain="my.domain")

    return [Scaled.rule("scaled", 2.0), Scaled.rule("scaled by three", 3.0)]


def new_weights(pattern: Any) -> Any:
    def doubled(op: Any, x: Any) -> Any:
        factor = op.initializer(ir.tensor(np.array([2.0], np.float32)), name="factor")
        return op.Mul(x, factor)

    return [pattern.RewriteRule(lambda op, x: op.Add(x, x), doubled)]


def literal_first(pattern: Any) -> Any:
    """A literal is met before the first operator says which opset is meant."""
    return [
        pattern.RewriteRule(lambda op, x: op.Erf(x / 2.0), lambda op, x: op.Fused(x, _domain="my.domain"))
    ]


def read_elsewhere(pattern: Any) -> Any:
    return [pattern.RewriteRule(lambda op, x: op.Neg(op.Abs(x)), lambda op, x: op.Identity(x))]


TWO = "two = Constant <value_float: float = 2.0> ()"
CASES: list[tuple[Callable[[Any], Any], str, list[str]]] = [
    (two_signs, "a = Neg(x) z = Neg(a)", ["Identity"]),
    (two_signs, "a = Neg(x) b = Abs(a) z = Neg(b)", ["Neg", "Abs", "Neg"]),
    (any_attributes, "z = Transpose <perm = [1, 0]> (x)", ["Identity"]),
    (any_attributes, "z = Transpose(x)", ["Identity"]),
    (no_other_attributes, "z = Transpose <perm = [1, 0]> (x)", ["Transpose"]),
    (no_other_attributes, "z = Transpose(x)", ["Identity"]),
    (any_cast, "a = Cast <to = 1> (x) z = Relu(a)", ["Relu"]),
    (other_inputs, f"{TWO} z = Clip(x, two)", ["Relu"]),
    (other_inputs, "z = Clip(x)", ["Relu"]),
    (no_other_inputs, f"{TWO} z = Clip(x, two)", ["Constant", "Clip"]),
    (in_order, f"{TWO} a = Sigmoid(x) z = Mul(two, a)", ["FastScale"]),
    (in_order, f"{TWO} a = Sigmoid(x) z = Mul(a, two)", ["Constant", "Sigmoid", "Mul"]),
    (in_any_order, f"{TWO} a = Sigmoid(x) z = Mul(a, two)", ["FastScale"]),
    (of_a_domain, "z = my.domain.FastScale(x)", ["Relu"]),
    (of_a_domain, "a = Relu(x) z = Sigmoid(a)", ["Relu", "Sigmoid"]),
    (attribute_variable, "a = Relu(x) z = Transpose <perm = [1, 0]> (a)", ["Transpose", "Relu"]),
    (attribute_variable, "a = Relu(x) z = Transpose <perm = [0, 1]> (a)", ["Relu", "Transpose"]),
    (constants_in_conditions, "o = Constant <value = float[1] {0.0}> () z = Add(x, o)", ["Identity"]),
    (constants_in_conditions, "o = Constant <value = float[1] {1.0}> () z = Add(x, o)", ["Constant", "Add"]),
    (constants_in_conditions, "z = Add(x, y)", ["Add"]),
    (failing_condition, "a = Neg(x) z = Neg(a)", ["Neg", "Neg"]),
    (replacement_says_no, "a = Neg(x) z = Neg(a)", ["Neg", "Neg"]),
    (tagged, "a = Add(x, y) z = Relu(a)", ["Fused"]),
    (tagged, "a = Sub(x, y) z = Relu(a)", ["Fused"]),
    (tagged, "a = Mul(x, y) z = Relu(a)", ["Mul", "Relu"]),
    (untagged, "a = Sub(x, y) z = Relu(a)", ["Fused"]),
    (two_results, "z, w = Split <num_outputs = 2, axis = 0> (x)", ["Halves"]),
    (two_results, "z, w = Split <num_outputs = 2, axis = 1> (x)", ["Split"]),
    (as_a_class, f"{TWO} a = Sigmoid(x) z = Mul(two, a)", ["FastScale"]),
    (as_a_class, "c = Constant <value_float: float = 3.0> () a = Sigmoid(x) z = Mul(c, a)", ["FastScale"]),
    (new_weights, "z = Add(x, x)", ["Mul"]),
    (new_weights, "z = Add(x, y)", ["Add"]),
    (literal_first, f"{TWO} a = Div(x, two) z = Erf(a)", ["Fused"]),
    (read_elsewhere, "a = Abs(x) b = Neg(a) z = Add(a, b)", ["Abs", "Neg", "Add"]),
]  # fmt: skip
IDS = [f"{make.__name__}-{number}" for number, (make, _, _) in enumerate(CASES)]


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize(("make", "body", "expected"), CASES, ids=IDS)
def test_a_rule_gives(make: Callable[[Any], Any], body: str, expected: list[str]) -> None:
    given = model_of(body)
    before = given.SerializeToString()
    assert operators(rewriter.rewrite(given, pattern_rewrite_rules=make(pattern))) == expected
    assert given.SerializeToString() == before


@pytest.mark.skipif(importlib.util.find_spec("onnxscript") is None, reason="compares with onnxscript")
@pytest.mark.parametrize(("make", "body", "expected"), CASES, ids=IDS)
def test_onnxscript_gives_the_same(make: Callable[[Any], Any], body: str, expected: list[str]) -> None:
    peer = importlib.import_module("onnxscript.rewriter")
    assert operators(peer.rewrite(model_of(body), pattern_rewrite_rules=make(peer.pattern))) == expected


def test_the_tag_says_which_alternative_it_was() -> None:
    for operator, sign in (("Add", b"plus"), ("Sub", b"minus")):
        changed = rewriter.rewrite(model_of(f"a = {operator}(x, y) z = Relu(a)"), tagged(pattern))
        assert changed.graph.node[0].attribute[0].s == sign


def test_the_result_computes_the_same() -> None:
    values = np.arange(16, dtype=np.float32).reshape(4, 4) - 7
    for make, body in (
        (new_weights, "z = Add(x, x)"),
        (attribute_variable, "a = Relu(x) z = Transpose <perm = [1, 0]> (a)"),
    ):
        given = model_of(body)
        changed = rewriter.rewrite(given, make(pattern))
        onnx.checker.check_model(changed, full_check=True)
        before, after = (onnxsmith.Model.from_proto(each)(values, values) for each in (given, changed))
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("version", [13, 17, 21])
def test_patterns_are_of_the_opset_of_the_model(version: int) -> None:
    """Axes of ReduceSum are an input from 13 on, and those of ReduceMean from 18 on."""
    op = getattr(onnxsmith, f"opset{version}")
    axes: dict[str, Any] = {"axes": [1]} if version < 18 else {}
    inputs = () if version < 18 else ([1],)

    def mean(x: Any) -> Any:
        return op.ReduceMean(op.Relu(x), *inputs, **axes)

    def found(op: Any, x: Any) -> Any:
        return op.ReduceMean(op.Relu(x), *inputs, **axes)

    rule = pattern.RewriteRule(found, lambda op, x: op.Fused(x, _domain="my.domain"))
    model = rewriter.rewrite(trace(mean, FLOAT["N", 4]), [rule])
    assert [node.op_type for node in model.nodes] == ["Fused"]


def test_each_kind_of_model_gives_its_own() -> None:
    model = trace(lambda x: opset21.Neg(opset21.Neg(x)), FLOAT["N"])
    rules = two_signs(pattern)
    assert isinstance(rewriter.rewrite(model, rules), onnxsmith.Model)
    assert isinstance(rewriter.rewrite(model.proto, rules), onnx.ModelProto)
    changed = rewriter.rewrite(ir.serde.deserialize_model(model.proto), rules)
    assert isinstance(changed, ir.Model)
    assert [node.op_type for node in changed.graph] == ["Identity"]
    assert rewriter.rewrite(model.proto, []).graph.node[0].op_type == "Neg"


def test_an_error_of_a_condition_is_raised() -> None:
    """A `Rule` takes it for no match, and says so in a report that nobody sees here."""

    def wrong(context: Any, x: ir.Value) -> bool:
        raise LookupError("of the user")

    rule = pattern.RewriteRule(lambda op, x: op.Neg(op.Neg(x)), lambda op, x: op.Identity(x), wrong)
    with pytest.raises(LookupError, match="of the user"):
        rewriter.rewrite(model_of("a = Neg(x) z = Neg(a)"), [rule])


def test_a_condition_leaves_the_model_alone() -> None:
    """Constants of nodes are lent to a condition, and are nodes again afterwards."""
    given = ir.serde.deserialize_model(model_of("o = Constant <value = float[1] {1.0}> () z = Add(x, o)"))
    changed = rewriter.rewrite(given, constants_in_conditions(pattern))
    for model in (given, changed):
        assert all(value.const_value is None for node in model.graph for value in node.outputs)


def identity(op: Any, x: Any) -> Any:
    return op.Identity(x)


def names_a_result(op: Any, x: Any) -> Any:
    return op.Relu(x, _outputs=["y"])


def checks_a_node(op: Any, x: Any) -> Any:
    return op.Relu(x, _check=lambda *_: True)


def checks_an_input(op: Any, x: Any) -> Any:
    return op.Add(x, lambda *_: True)


def forgets_the_underscore(op: Any, x: Any) -> Any:
    return op.Relu(x, outputs=2)


def stands_for_an_unknown_attribute(op: Any, x: Any, kind: Any) -> Any:
    return op.Fused(x, kind=kind, _domain="my.domain")


def takes_the_rest(op: Any, *xs: Any) -> Any:
    return op.Concat(*xs, axis=0)


def names_an_alternative(op: Any, x: Any) -> Any:
    return op.Relu(pattern.OrValue([op.Neg(x), op.Abs(x)], name="y"))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (names_a_result, "names of results"),
        (checks_a_node, "_check is no option"),
        (checks_an_input, "checks of single inputs"),
        (forgets_the_underscore, "with an underscore: _outputs"),
        (stands_for_an_unknown_attribute, "whose type is not known"),
        (takes_the_rest, "by position"),
        (names_an_alternative, "name="),
    ],
)
def test_a_pattern_that_is_not_taken(function: Callable[..., Any], text: str) -> None:
    with pytest.raises(RuleError, match=text) as caught:
        pattern.RewriteRule(function, lambda op, **_: op.Relu(_["x"]))
    span = caught.value.labels[0].span
    assert (span.file, span.function) == (__file__, function.__name__)


@pytest.mark.parametrize(
    ("options", "text", "help_text"),
    [
        ({"matcher": object()}, "matcher", "one way to match"),
        ({"remove_nodes": False}, "remove_nodes=False", "replaces the nodes"),
        ({"as_function": True}, "as_function=True", "onnxsmith.outline"),
        ({"graph_pre_visitor": print}, "graph_pre_visitor", "beside rewrite"),
        ({"graph_post_visitor": print}, "graph_post_visitor", "beside rewrite"),
    ],
)
def test_an_option_that_is_not_taken(options: dict[str, Any], text: str, help_text: str) -> None:
    with pytest.raises(RuleError, match=text) as caught:
        pattern.RewriteRule(identity, identity, **options)
    assert help_text in (caught.value.help or "")


def test_a_class_with_setup_is_refused() -> None:
    class Counting(pattern.RewriteRuleClassBase):
        def setup(self) -> None:
            return None

    with pytest.raises(RuleError, match="setup"):
        Counting.rule()


def test_functions_that_do_not_take_the_parameters() -> None:
    with pytest.raises(RuleError, match="the replacement is called with x by name"):
        pattern.RewriteRule(lambda op, x: op.Relu(x), lambda op, y: op.Relu(y))
    with pytest.raises(RuleError, match="the condition is called with x by name"):
        pattern.RewriteRule(lambda op, x: op.Relu(x), lambda op, x: op.Neg(x), lambda context: True)


def test_what_a_context_has_not() -> None:
    def asks(context: Any, x: ir.Value) -> bool:
        return context.graph_or_function is not None

    rule = pattern.RewriteRule(lambda op, x: op.Neg(op.Neg(x)), lambda op, x: op.Identity(x), asks)
    with pytest.raises(RuleError, match="has no 'graph_or_function' here"):
        rewriter.rewrite(model_of("a = Neg(x) z = Neg(a)"), [rule])


def test_another_version_than_the_models() -> None:
    rule = pattern.RewriteRule(lambda op, x: op.Neg(op.Neg(x)), lambda op, x: op.Identity(x, _version=13))
    with pytest.raises(RuleError, match="version 13, and the model imports version 18"):
        rewriter.rewrite(model_of("a = Neg(x) z = Neg(a)"), [rule])


def test_calls_that_are_refused() -> None:
    model = model_of("z = Neg(x)")
    rule = pattern.RewriteRule(lambda op, x: op.Neg(op.Neg(x)), lambda op, x: op.Identity(x))
    with pytest.raises(RuleError, match="onnxscript's own"):
        rewriter.rewrite(model)
    with pytest.raises(CallError, match="rewrite takes a model, not a SimpleNamespace"):
        rewriter.rewrite(types.SimpleNamespace(), [rule])
    with pytest.raises(RuleError, match="not changed in place"):
        rule.apply_to_model(ir.serde.deserialize_model(model))
    with pytest.raises(RuleError, match="not a RewriteRule"):
        rewriter.rewrite(model, [two_signs])  # pyright: ignore[reportArgumentType]  # the mistake
    with pytest.raises(RuleError, match="the list is empty"):
        pattern.RewriteRuleSet([])


def test_onnx_ir_has_its_name() -> None:
    assert onnxsmith.ir is ir  # pyright: ignore[reportAttributeAccessIssue]  # checkers know it as onnx_ir
