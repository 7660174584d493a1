"""`model.with_outputs`: values inside a model as outputs."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import DuplicateNameError, UnknownNameError


def network() -> Model:
    return trace(lambda x: op.Exp(op.Relu(op.Neg(x))), FLOAT["N"])


def test_after_its_own() -> None:
    wider = network().with_outputs("relu", "neg")
    assert [port.name for port in wider.outputs] == ["exp", "relu", "neg"]
    onnx.checker.check_model(wider.proto, full_check=True)
    np.testing.assert_array_equal(wider(np.float32([-1, 2]))[2], np.float32([1, -2]))


def test_patterns() -> None:
    assert [port.name for port in network().with_outputs("*").outputs] == ["exp", "neg", "relu"]
    assert [port.name for port in network().with_outputs("r*").outputs] == ["exp", "relu"]


def test_types_that_nobody_declared_are_worked_out() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
        g (float[N, 2] x) => (float[N] y) { a = Transpose (x)  y = ReduceSum <keepdims = 0> (a) }"""
    assert Model.from_proto(parser.parse_model(text)).with_outputs("a").outputs[1].type == FLOAT[2, "N"]


def test_inputs_and_weights_can_be_outputs() -> None:
    weight = np.float32([1, 2])
    wider = trace(lambda x: op.Mul(x, weight), FLOAT[2]).with_outputs("x", "weight")
    found = wider(np.float32([3, 4]))
    np.testing.assert_array_equal(found[1], np.float32([3, 4]))
    np.testing.assert_array_equal(found[2], weight)


def test_what_is_refused() -> None:
    with pytest.raises(DuplicateNameError):
        network().with_outputs("exp")
    with pytest.raises(DuplicateNameError):
        network().with_outputs("relu", "relu")
    with pytest.raises(UnknownNameError, match="relu"):
        network().with_outputs("rule")
    with pytest.raises(UnknownNameError):
        network().with_outputs("z*")
