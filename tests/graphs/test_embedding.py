"""Existing models called from traces and scripts."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from onnxsmith import FLOAT, INT64, Model, errors, script, trace
from onnxsmith import opset18 as op

X = np.float32([-1, 2, 3])
WEIGHT = np.float32([10, 20, 30])


def foreign_model() -> Model:
    """As another tool writes it: an initializer that is also an input."""
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "w.0"], ["h"]), helper.make_node("Relu", ["h"], ["y"])],
        "a layer",
        [helper.make_tensor_value_info("x", 1, ["N"]), helper.make_tensor_value_info("w.0", 1, [3])],
        [helper.make_tensor_value_info("y", 1, ["N"])],
        [numpy_helper.from_array(WEIGHT, "w.0")],
    )
    return Model.from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    )


EXPECTED = np.maximum(X * WEIGHT, 0)


def test_a_script_calls_a_model_as_a_function() -> None:
    layer = foreign_model()

    @script
    def twice(x: FLOAT["N"]):
        return layer(x) + layer(x=x * 2.0)

    model = twice.to_model()
    assert [each.name for each in model.proto.functions] == ["a_layer"]
    onnx.checker.check_model(model.proto)
    np.testing.assert_array_equal(twice(X), EXPECTED * 3)
    np.testing.assert_array_equal(model(X), EXPECTED * 3)


def test_a_trace_calls_two_models_of_one_name() -> None:
    first, second = foreign_model(), trace(lambda x: op.Neg(x), FLOAT["N"], name="a layer")
    model = trace(lambda x: second(first(x)), FLOAT["N"])
    assert len(model.proto.functions) == 2
    np.testing.assert_array_equal(model(X), -EXPECTED)


def test_wrong_calls_are_refused() -> None:
    layer = foreign_model()
    with pytest.raises(errors.ModelInputError, match="is float32"):
        trace(lambda x: layer(x), INT64["N"])
    with pytest.raises(errors.ModelInputError, match="missing"):
        trace(lambda x: layer(), FLOAT["N"])
