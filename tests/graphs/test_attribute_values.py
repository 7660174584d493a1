"""Attributes of models that were made elsewhere: what no operator knows is refused before a runtime guesses."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import AttributeTypeError, AttributeValueError, OnnxsmithError

X = np.arange(4, dtype=np.float32).reshape(2, 2)


def model(body: str, opset: int = 18) -> Model:
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[N, M] x) => (float[A, B] y) {{ {body} }}'
    return Model.from_proto(onnx.parser.parse_model(text))


@pytest.mark.parametrize(
    ("body", "opset", "error"),
    [
        ("y = ReduceSum <keepdims = 2> (x)", 18, AttributeValueError),
        ('y = Gelu <approximate = "x"> (x)', 20, AttributeValueError),
        ("y = Cast <to = 1099511627776> (x)", 18, AttributeTypeError),
    ],
)
def test_values_that_no_operator_knows(body: str, opset: int, error: type[OnnxsmithError]) -> None:
    given = model(body, opset)
    with pytest.raises(error, match="of the model"):
        given(X)
    with pytest.raises(error, match="of the model"):
        given.for_runtime()


def test_in_bodies() -> None:
    inner = "y1 = ReduceSum <keepdims = 7> (x)"
    text = (
        "c = Constant <value_int = 1> () t = Cast <to = 9> (c) y = If (t) <then_branch = a () => (float y1)"
    )
    given = model(f"{text} {{ {inner} }}, else_branch = b () => (float y1) {{ {inner} }} >")
    with pytest.raises(AttributeValueError, match="keepdims=7"):
        given(X)


def test_values_that_it_knows() -> None:
    assert model("y = ReduceSum <keepdims = 0> (x)")(X) == 6
