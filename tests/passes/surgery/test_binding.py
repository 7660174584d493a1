"""`model.bind_inputs`: inputs that are values."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, parser

from onnxsmith import FLOAT, INT64, Model, Weights, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import LiteralError, ModelInputError, OnnxsmithError, ShapeError
from onnxsmith.graphs.size_conditions import SIZES_KEY
from tests.passes.surgery.test_laws import run


def product() -> Model:
    return trace(lambda x, y: op.Mul(x, y), FLOAT["N", 2], FLOAT["N", 2])


def test_sizes_follow() -> None:
    bound = product().bind_inputs(y=np.ones((3, 2), np.float32))
    assert (bound.inputs[0].type, bound.outputs[0].type) == (FLOAT[3, 2], FLOAT[3, 2])
    assert list(bound.ir.graph.initializers) == ["y"]


def test_literals_and_weights() -> None:
    bound = product().bind_inputs({"y": [[1.5, 2], [3, 4]]})
    np.testing.assert_array_equal(bound(np.ones((2, 2), np.float32)), np.float32([[1.5, 2], [3, 4]]))
    weights = Weights({"bias": (FLOAT[2, 2], [1.0, 2.0, 3.0, 4.0])})
    from_weights = product().bind_inputs(y=weights["bias"])
    assert from_weights.ir.graph.initializers["y"].name == "y"
    assert weights["bias"].tensor.name == "bias"  # type: ignore[attr-defined]
    np.testing.assert_array_equal(from_weights(np.ones((2, 2), np.float32)), np.float32([[1, 2], [3, 4]]))


def test_all_inputs_and_an_input_that_is_an_output() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
        g (float[2] x) => (float[2] x, float[2] y) { y = Neg (x) }"""
    model = Model.from_proto(parser.parse_model(text))
    bound = model.bind_inputs(x=np.float32([1, 2]))
    assert bound.inputs == ()
    found = run(bound.proto, {})
    np.testing.assert_array_equal(found["x"], np.float32([1, 2]))
    np.testing.assert_array_equal(found["y"], np.float32([-1, -2]))


def test_before_initializers_were_no_inputs() -> None:
    text = """<ir_version: 3, opset_import: ["": 8]>
        g (float[2] x, float[2] w = {1.0, 2.0}) => (float[2] y) { y = Add (x, w) }"""
    model = Model.from_proto(parser.parse_model(text))
    bound = model.bind_inputs(x=np.float32([5, 5]))
    onnx.checker.check_model(bound.proto, full_check=True)
    assert (bound.inputs, [port.name for port in bound.optional_inputs]) == ((), ["w"])
    np.testing.assert_array_equal(run(bound.proto, {})["y"], np.float32([6, 7]))
    # An input with a default loses it, and is none any more.
    fixed = model.bind_inputs(w=np.float32([0, 1]))
    assert fixed.optional_inputs == ()
    np.testing.assert_array_equal(fixed(np.float32([1, 1])), np.float32([1, 2]))


def test_bodies_read_it() -> None:
    text = """<ir_version: 3, opset_import: ["": 11]>
        g (float[2] x, bool c) => (float[2] y) {
            y = If (c) <then_branch = t () => (float[2] a) { a = Neg (x) },
                        else_branch = e () => (float[2] a) { a = Exp (x) }>
        }"""
    bound = Model.from_proto(parser.parse_model(text)).bind_inputs(x=np.float32([0, 1]))
    onnx.checker.check_model(bound.proto, full_check=True)
    np.testing.assert_array_equal(run(bound.proto, {"c": np.array(True)})["y"], np.float32([0, -1]))


def test_sizes_that_the_model_is_for() -> None:
    proto = product().proto
    helper.set_model_props(proto, {SIZES_KEY: '[{"condition": "N <= 4"}]'})
    with pytest.raises(ShapeError, match="N <= 4"):
        Model.from_proto(proto).bind_inputs(x=np.ones((5, 2), np.float32))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"y": np.ones((3, 2))}, ModelInputError),
        ({"y": np.ones((3, 4), np.float32)}, ModelInputError),
        ({"z": 1.0}, ModelInputError),
        ({"y": None}, ModelInputError),
        ({"y": [["a", "b"]]}, LiteralError),
        ({"y": object()}, OnnxsmithError),
        ({"x": np.ones((3, 2), np.float32), "y": np.ones((4, 2), np.float32)}, ModelInputError),
    ],
)
def test_what_is_refused(given: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        product().bind_inputs(given)  # type: ignore[arg-type]


def test_only_tensors() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
        g (seq(float[2]) s, int64 i) => (float[2] y) { y = SequenceAt (s, i) }"""
    model = Model.from_proto(parser.parse_model(text))
    with pytest.raises(ModelInputError, match="only tensors"):
        model.bind_inputs(s=[np.zeros(2, np.float32)])
    assert model.bind_inputs(i=1).inputs[0].name == "s"
    assert trace(lambda i: op.Neg(i), INT64).bind_inputs(i=3)() == -3


def test_a_small_array_may_be_changed_afterwards_and_a_large_one_is_not_copied() -> None:
    small, large = np.ones((3, 2), np.float32), np.ones((300, 2), np.float32)
    bound = product().bind_inputs(y=small)
    small[:] = 7
    np.testing.assert_array_equal(bound(np.ones((3, 2), np.float32)), np.ones((3, 2)))
    tensor = product().bind_inputs(y=large).ir.graph.initializers["y"].const_value
    assert tensor is not None
    assert np.shares_memory(tensor.numpy(), large)
