"""Changed nodes as text: what is told together, and where."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from onnxsmith import FLOAT, Model, diff, trace
from onnxsmith import opset21 as op


def with_constants(count: int) -> Model:
    def function(x: Any) -> Any:
        for number in range(count):
            x = op.Add(x, op.Constant(value_float=float(number)))
        return op.Relu(x)

    return trace(function, FLOAT["N"])


def test_many_constants_of_one_model_are_one_line() -> None:
    """In either direction; all of them are there for those who ask for everything, and for programs."""
    many, none = with_constants(20), with_constants(0)
    for found, sign in ((diff(many, none), "-"), (diff(none, many), "+")):
        text = str(found).splitlines()
        assert [line for line in text if "Constant" in line] == [
            f"  {sign} 20 Constant nodes: 0, 2, 4, 6, 8, 10, 12, 14 and 12 more"
        ]
        assert sum("Add(" in line for line in text) >= 20
        assert found.text(None).count("= Constant(") == 20
        assert sum("= Constant(" in change.label for change in found.changes) == 20


def test_a_few_constants_stand_where_they_were() -> None:
    assert str(diff(with_constants(3), with_constants(0))).count("= Constant(") == 3


@pytest.mark.parametrize(
    "node", ["y, h, c = LSTM <hidden_size = 2> (x, w, w)", "y, h = MaxPool <kernel_shape = [2]> (x)"]
)
def test_outputs_that_are_left_out_at_the_end_are_no_difference(node: str) -> None:
    """onnx-ir writes no empty names there, so that a model and its copy may differ in them."""
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[3, 1, 8] x, float[1, 8, 8] w) => (float[A, B, C] y)'
    proto = onnx.parser.parse_model(f"{text} {{ {node} z = Neg(y) }}")
    proto.graph.node[0].output[1:] = [""] * (len(proto.graph.node[0].output) - 1)
    model = Model.from_proto(proto)
    assert len(model.nodes[0].outputs) > 1
    for names in (False, True):
        assert not model.diff(Model.from_proto(model.proto), names=names)
