"""Why a model cannot run: what a call of the same operator says, also where another engine would have overlooked it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import (
    AttributeValueError,
    InferenceError,
    MissingInputError,
    OnnxsmithError,
    ShapeError,
    TooManyInputsError,
    UnknownAttributeError,
)
from onnxsmith.runtime import using

X = np.arange(4, dtype=np.float32).reshape(2, 2)


def model(body: str, opset: int = 18, inputs: str = "float[N, M] x") -> Model:
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g ({inputs}) => (float[A, B] y) {{ {body} }}'
    return Model.from_proto(onnx.parser.parse_model(text))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("y = Relu <alpha = 1.0> (x)", UnknownAttributeError),
        ("y = Relu (x, x)", TooManyInputsError),
        ("y = Mul (x)", MissingInputError),
        ("y = Flatten <axis = 1000> (x)", AttributeValueError),
    ],
)
@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_a_node_that_is_ill_formed(body: str, error: type[OnnxsmithError], runtime: str) -> None:
    with using(runtime=runtime), pytest.raises(error, match="of the model"):
        model(body)(X)


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_a_body_that_is_run(runtime: str) -> None:
    bad = "y1 = Flatten <axis = 1000> (x)"
    text = f"y = If (c) <then_branch = a () => (float y1) {{ {bad} }}, else_branch = b () => (float y1) {{ {bad} }} >"
    with using(runtime=runtime), pytest.raises(AttributeValueError, match="axis=1000"):
        model(text, inputs="bool c, float[N, M] x")(np.array(True), X)


def test_a_body_that_is_not_run_is_no_mistake() -> None:
    """The reference evaluator runs one branch, as it should: what the other one cannot do does not matter."""
    good, bad = "y1 = Identity (x)", "y1 = MatMul (x, z)"
    text = f"y = If (c) <then_branch = a () => (float y1) {{ {good} }}, else_branch = b () => (float y1) {{ {bad} }} >"
    given = model(text, inputs="bool c, float[N, M] x, float[K, L] z")
    with using(runtime="reference"):
        assert given(np.array(True), X, np.ones((3, 3), np.float32)).tolist() == X.tolist()
        with pytest.raises(ShapeError, match="inner dimensions"):
            given(np.array(False), X, np.ones((3, 3), np.float32))


def test_a_trip_of_a_loop() -> None:
    body = "b (int64 i, bool d) => (bool e, float[A, B] y1) { e = Identity(d) y1 = MatMul(x, z) }"
    given = model(f"y = Loop (n, c) <body = {body}>", inputs="int64 n, bool c, float[N, M] x, float[K, L] z")
    wrong = np.ones((3, 3), np.float32)
    with pytest.raises(ShapeError, match="inner dimensions"):
        given(np.array(2), np.array(True), X, wrong)


def test_tensors_of_text_do_not_stop_inference() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 4]> g (string[N] x) => (int16[N] y) {
        y = ai.onnx.ml.LabelEncoder <keys_tensor: tensor = string[2] k {"a", "b"},
            default_tensor: tensor = int16[1] d {42}> (x) }"""
    encoder = Model.from_proto(onnx.parser.parse_model(text))
    with pytest.raises(InferenceError, match="values_tensor"):
        encoder(np.array(["a", "c"], object))
