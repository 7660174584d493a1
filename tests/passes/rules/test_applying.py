"""A replacement that changes nothing is recognised; every difference is seen."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnxsmith import FLOAT, Rule, rewrite, trace
from onnxsmith import opset21 as op
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.rules.applying import is_unchanged

HEAD = (
    '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x, float[2] y) => (float[2] z) <float[1] w = {2}>'
)
OLD = "{ a = Mul(x, w)  b, i = TopK <axis = 0> (a, n)  z = Clip(b, , y) }"


def made(text: str, shared: dict[str, ir.Value] | None = None) -> tuple[ir.Model, ir.Value]:
    """A model of nodes, and its result. Values of that name are taken from elsewhere."""
    body = text.replace("{ ", "{ n = Constant <value = int64[1] {1}> ()  ", 1)
    model = ir.from_proto(onnx.parser.parse_model(f"{HEAD} {body}"))
    for name, value in (shared or {}).items():
        own = next(each for each in model.graph.inputs if each.name == name)
        for use in list(own.uses()):
            use.node.replace_input_with(use.idx, value)
    return model, model.graph.outputs[0]


@pytest.mark.parametrize(
    ("new", "is_same"),
    [
        (OLD, True),
        (OLD.replace("{2}", "{3}"), True),
        (OLD.replace("Mul(x, w)", "Mul(w, x)"), False),
        (OLD.replace("Mul", "Add"), False),
        (OLD.replace("axis = 0", "axis = 1"), False),
        (OLD.replace(" <axis = 0>", ""), False),
        (OLD.replace("Clip(b, , y)", "Clip(b, y)"), False),
        (OLD.replace("Clip(b, , y)", "Clip(b, y, )"), False),
        (OLD.replace("Clip(b, , y)", "Clip(b, , x)"), False),
        (OLD.replace("Clip(b, , y)", "Clip(a, , y)"), False),
        (OLD.replace("b, i = TopK", "b2, b = TopK").replace("Clip(b,", "Clip(b,"), False),
    ],
)
def test_what_is_the_same(new: str, is_same: bool) -> None:
    model, old = made(OLD)
    inputs = {each.name or "": each for each in model.graph.inputs}
    _, found = made(new, inputs)
    assert is_unchanged(Editor(model), [found], [old]) == is_same
    assert is_unchanged(Editor(model), [old], [old])


def test_constants_are_compared_by_content() -> None:
    model, old = made(OLD)
    inputs = {each.name or "": each for each in model.graph.inputs}
    other, found = made(OLD, inputs)
    other.graph.initializers["w"].const_value = ir.tensor([3.0], dtype=ir.DataType.FLOAT)
    assert not is_unchanged(Editor(model), [found], [old])
    other.graph.initializers["w"].const_value = ir.tensor([[2.0]], dtype=ir.DataType.FLOAT)
    assert not is_unchanged(Editor(model), [found], [old])
    other.graph.initializers["w"].const_value = ir.tensor([2.0], dtype=ir.DataType.FLOAT)
    assert is_unchanged(Editor(model), [found], [old])


def test_nodes_of_the_graph_itself_are_no_replacement() -> None:
    model, old = made("{ a = Mul(x, w)  b = Mul(x, w)  z = Add(a, b) }")
    first, second = (each for each in model.graph if each.op_type == "Mul")
    assert not is_unchanged(Editor(model), [first.outputs[0]], [second.outputs[0]])
    assert not is_unchanged(Editor(model), [model.graph.inputs[0]], [model.graph.inputs[1]])
    assert old.producer() is not None


def test_the_sign_of_a_zero_is_a_change_of_an_attribute() -> None:
    def pattern(x):
        return op.LeakyRelu(x, alpha=0.0)

    def replacement(x):
        return op.LeakyRelu(x, alpha=-0.0)

    made = rewrite(trace(lambda x: op.LeakyRelu(x, alpha=0.0), FLOAT["N"]), [Rule(pattern, replacement)])
    assert np.signbit(made.nodes[0].attributes["alpha"])
    (result,) = (np.asarray(each) for each in [made(np.array([-1.0], np.float32))])
    assert not np.signbit(result[0])  # -1 times -0


@pytest.mark.parametrize(("number", "other", "count"), [(0.0, -0.0, 1), (2.0, 2.0, 0), (np.nan, np.nan, 0)])
def test_constants_are_compared_to_the_bit(number: float, other: float, count: int) -> None:
    def pattern(x):
        return op.Add(x, number)

    def replacement(x):
        return op.Add(x, other)

    made = rewrite(trace(lambda x: op.Add(x, number), FLOAT["N"]), [Rule(pattern, replacement)])
    assert len(made.report.edits) == count
