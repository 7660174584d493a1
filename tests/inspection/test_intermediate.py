"""`model.intermediate`: values inside a model, by name; what has no one value is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser

from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeTypeError, ModelInputError, UnknownNameError

BODIES = """
<ir_version: 9, opset_import: ["" : 21, "l" : 1]>
g (float[N] x, bool c) => (float[N] y)
{
   b = If (c) <then_branch = p () => (float[N] t) { t = Abs (x) }, else_branch = q () => (float[N] e) { e = Neg (x) }>
   y = l.f (b)
}
<domain: "l", opset_import: ["" : 21]> f (v) => (u) { k = Abs (v) u = Neg (k) }
"""


def test_values_weights_and_inputs() -> None:
    scale = np.float32([2, 3])
    model = trace(lambda a: op.Exp(op.Relu(a * scale)), FLOAT["N", 2])
    given = np.float32([[-1, 1]])
    found = model.intermediate({"a": given}, ["relu", "scale", "a", "exp"])
    assert list(found) == ["relu", "scale", "a", "exp"]
    np.testing.assert_array_equal(np.asarray(found["relu"]), [[0, 3]])
    np.testing.assert_array_equal(np.asarray(found["scale"]), scale)
    np.testing.assert_allclose(np.asarray(found["exp"]), np.exp([[0, 3]]), rtol=1e-6)
    assert list(model.intermediate([given], "mul")) == ["mul"]


def test_only_what_is_needed_runs() -> None:
    model = trace(lambda a, b: (op.Relu(a), op.Exp(b)), FLOAT["N"], FLOAT["N"])
    found = model.intermediate({"a": np.float32([1]), "b": np.float32([1])}, ["relu"])
    assert list(found) == ["relu"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("t", "'t' is made by node 0.then_branch.0, each time that the body runs"),
        ("k", "'k' is made by node l::f/0, at every call of the function"),
        ("nothing", "the model has no value 'nothing'"),
    ],
)
def test_values_that_have_no_one_value(name: str, words: str) -> None:
    model = Model.from_proto(parser.parse_model(BODIES))
    inputs = {"x": np.float32([1]), "c": np.array(True)}
    with pytest.raises(UnknownNameError, match=words.replace(".", r"\.")):
        model.intermediate(inputs, [name])


def test_wrong_inputs() -> None:
    model = trace(lambda a: op.Relu(a), FLOAT["N"])
    with pytest.raises(ModelInputError, match="no value for the input 'a'"):
        model.intermediate({}, ["relu"])
    with pytest.raises(ModelInputError, match="no input 'b'"):
        model.intermediate({"a": np.float32([1]), "b": np.float32([1])}, ["relu"])
    with pytest.raises(ModelInputError, match="1 input, and was given 2"):
        model.intermediate([np.float32([1]), np.float32([1])], ["relu"])


@pytest.mark.parametrize("names", [None, 5, [5], b"relu"])
def test_what_is_no_name_is_refused(names: Any) -> None:
    model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    with pytest.raises(AttributeTypeError, match="names are names of values, not"):
        model.intermediate([np.float32([1])], names)


@pytest.mark.parametrize("inputs", [None, 5, "a", np.float32([1])], ids=lambda each: type(each).__name__)
def test_what_are_no_inputs_are_refused(inputs: Any) -> None:
    model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    with pytest.raises(AttributeTypeError, match="inputs are arrays by name or in order, not"):
        model.intermediate(inputs, "relu")
