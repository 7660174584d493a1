"""The lowest versions of opsets and of the IR that say the same, with what stands in bodies."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper, parser

from onnxsmith.runtime.versions import BASE_IR_VERSION, lower_opsets, lowest_ir_version

_HEAD = '<ir_version: 13, opset_import: ["" : 21]>'


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("g (float[N] x) => (float[N] y) { y = Relu(x) }", BASE_IR_VERSION),
        ("g (float8e5m2[N] x) => (float8e5m2[N] y) { y = Identity(x) }", 9),
        ("g (float[N] x) => (float[N] y) { t = Cast<to=22>(x) y = Cast<to=1>(t) }", 10),
        (
            "g (float[N] x, bool c) => (float[N] y) { y = If(c) <then_branch = t () => (float[N] a)"
            " { b = Cast<to=22>(x) a = Cast<to=1>(b) }, else_branch = e () => (float[N] d) { d = Relu(x) }> }",
            10,
        ),
    ],
    ids=["float", "input", "cast", "cast in a branch"],
)
def test_the_lowest_ir_version_has_every_element_type(text: str, version: int) -> None:
    assert lowest_ir_version(parser.parse_model(f"{_HEAD} {text}")) == version


def test_a_constant_and_a_weight_count() -> None:
    model = parser.parse_model(f"{_HEAD} g (float[N] x) => (float[N] y) {{ y = Relu(x) }}")
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, [2], [1, 2]))
    assert lowest_ir_version(model) == 10
    held = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("", TensorProto.INT4, [1], [1]))
    del model.graph.initializer[:]
    model.graph.node.append(held)
    assert lowest_ir_version(model) == 10


def test_opsets_are_lowered_to_the_last_change_of_an_operator() -> None:
    model = parser.parse_model(f"{_HEAD} g (float[N] x) => (float[N] y) {{ t = Relu(x) y = Neg(t) }}")
    lower_opsets(model)
    assert model.opset_import[0].version == 14
