"""`model.split`: what goes from one piece to the next."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CutError, UnknownNameError


def names(pieces: tuple[Model, ...]) -> list[tuple[list[str], list[str]]]:
    return [([port.name for port in each.inputs], [port.name for port in each.outputs]) for each in pieces]


def residual() -> Model:
    def network(x, y):
        a = op.Relu(x)
        b = op.Exp(a)
        c = op.Tanh(b)
        return op.Sum(a, c, y), b

    return trace(network, FLOAT["N"], FLOAT["N"], output_names=["total", "exp"])


def test_what_is_needed_later_is_handed_on() -> None:
    pieces = residual().split(["exp", "tanh"])
    assert names(pieces) == [
        (["x", "y"], ["exp", "y", "relu"]),
        (["exp", "y", "relu"], ["tanh", "y", "relu", "exp"]),
        (["tanh", "y", "relu", "exp"], ["total", "exp"]),
    ]
    values: tuple[np.ndarray, ...] = (np.float32([-1, 2]), np.float32([3, 4]))
    wanted = residual()(*values)
    for piece in pieces:
        found = piece(*values)
        values = found if isinstance(found, tuple) else (found,)
    for one, other in zip(values, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_several_values_in_one_cut() -> None:
    front, back = residual().split([("relu", "tanh")])
    assert names((front, back)) == [
        (["x", "y"], ["relu", "tanh", "y", "exp"]),
        (["relu", "tanh", "y", "exp"], ["total", "exp"]),
    ]


def test_a_cut_may_name_what_an_earlier_piece_has_made() -> None:
    pieces = trace(lambda x: op.Neg(op.Exp(op.Relu(x))), FLOAT["N"]).split(["relu", ("exp", "relu")])
    assert names(pieces)[1:] == [(["relu"], ["exp", "relu"]), (["exp", "relu"], ["neg"])]
    np.testing.assert_array_equal(onnxsmith.compose(*pieces)(np.float32([0])), np.float32([-1]))


def test_constants_are_wherever_they_are_read() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
        g (float[2] x) => (float[2] y) {
            c = Constant <value = float[2] {1.0, 2.0}> ()
            a = Add (x, c)
            y = Mul (a, c)
        }"""
    pieces = Model.from_proto(parser.parse_model(text)).split("a")
    assert names(pieces) == [(["x"], ["a"]), (["a"], ["y"])]
    assert [[node.op_type for node in each.ir.graph] for each in pieces] == [
        ["Constant", "Add"],
        ["Constant", "Mul"],
    ]
    for each in pieces:
        onnx.checker.check_model(each.proto, full_check=True)


@pytest.mark.parametrize(
    "at", [[], [[]], "x", "total", ["tanh", "relu"], ["relu", "relu"], ["relu", "total"]]
)
def test_cuts_that_leave_nothing(at: list[str]) -> None:
    with pytest.raises(CutError):
        residual().split(at)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="rulu"):
        residual().split(["rulu"])


def test_a_cut_may_name_what_nothing_in_between_reads() -> None:
    model = trace(lambda x: op.Neg(op.Tanh(op.Exp(op.Relu(x)))), FLOAT["N"])
    pieces = model.split(["exp", ("tanh", "relu")])
    assert names(pieces) == [
        (["x"], ["exp", "relu"]),
        (["exp", "relu"], ["tanh", "relu"]),
        (["tanh", "relu"], ["neg"]),
    ]
