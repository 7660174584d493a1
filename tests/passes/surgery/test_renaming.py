"""`model.rename`: what gets which name."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError, DuplicateNameError, UnknownNameError
from tests.passes.surgery.test_laws import run


def network() -> Model:
    w, b = np.ones((4, 3), np.float32), np.zeros(3, np.float32)
    return trace(lambda x: op.Relu(x @ w + b), FLOAT["N", 4])


def all_names(model: Model) -> list[str]:
    graph = model.ir.graph
    return [
        *(str(each.name) for each in graph.inputs),
        *graph.initializers,
        *(str(n.outputs[0].name) for n in graph),
    ]


def test_values() -> None:
    renamed = network().rename({"x": "image", "w": "layer.weight", "add": "biased"})
    assert all_names(renamed) == ["image", "layer.weight", "b", "mat_mul", "biased", "relu"]
    assert [node.name for node in renamed.ir.graph] == ["mat_mul", "add", "relu"]


def test_patterns_and_functions() -> None:
    model = network()
    assert model.rename(outputs={"*": "out_*"}).outputs[0].name == "out_relu"
    assert all_names(model.rename({"m*_m*": "*-*", "w": "weight"})) == [
        "x",
        "weight",
        "b",
        "at-ul",
        "add",
        "relu",
    ]
    assert [node.name for node in model.rename(nodes=str.upper).ir.graph] == ["MAT_MUL", "ADD", "RELU"]
    # What is named in full goes before a pattern, whatever their order.
    assert all_names(model.rename({"*": "v.*", "x": "x"}))[:2] == ["x", "v.w"]


def test_names_may_change_places() -> None:
    renamed = trace(lambda a, b: op.Sub(a, b), FLOAT["N"], FLOAT["N"]).rename({"a": "b", "b": "a"})
    found = run(renamed.proto, {"b": np.float32([5]), "a": np.float32([3])})
    np.testing.assert_array_equal(found["sub"], [2])


def test_weights_in_swapped_places() -> None:
    model = network()
    renamed = model.rename({"w": "b", "b": "w"})
    assert list(renamed.ir.graph.initializers) == ["b", "w"]
    assert list(model.ir.graph.initializers) == ["w", "b"]
    assert [each.const_value.name for each in model.ir.graph.initializers.values()] == ["w", "b"]  # type: ignore[union-attr]
    onnx.checker.check_model(renamed.proto, full_check=True)
    x = np.ones((1, 4), np.float32)
    np.testing.assert_array_equal(renamed(x), model(x))


def test_large_weights_of_a_proto_are_not_copied() -> None:
    proto = trace(lambda x: x @ np.ones((400, 300), np.float32), FLOAT["N", 400]).proto
    model = Model.from_proto(proto)
    renamed = model.rename(prefix="p/")
    (before,), (after,) = (each.ir.graph.initializers.values() for each in (model, renamed))
    assert after.const_value.raw() is before.const_value  # type: ignore[union-attr]
    x = np.ones((1, 400), np.float32)
    np.testing.assert_array_equal(renamed(x), model(x))


NESTED = """<ir_version: 10, opset_import: ["": 21]>
    g (float[2] x, bool c) => (float[2] y) {
        h = Relu (x)
        y = If (c) <then_branch = t () => (float[2] a) { i = Exp (h)  a = Add (i, x) },
                    else_branch = e () => (float[2] a) { i = Neg (x)  a = Mul (i, h) }>
    }"""


def test_bodies_read_the_new_names() -> None:
    model = Model.from_proto(parser.parse_model(NESTED))
    renamed = model.rename({"h": "hidden", "i": "inner", "x": "image"})
    onnx.checker.check_model(renamed.proto, full_check=True)
    x = np.float32([1, -2])
    for c in (np.array(True), np.array(False)):
        np.testing.assert_array_equal(
            run(renamed.proto, {"image": x, "c": c})["y"], run(model.proto, {"x": x, "c": c})["y"]
        )


def test_a_name_that_a_body_uses_would_be_caught() -> None:
    model = Model.from_proto(parser.parse_model(NESTED))
    with pytest.raises(DuplicateNameError, match="'h' and 'i'"):
        model.rename({"h": "i"})


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({}, CallError),
        ({"values": {"nix": "y"}}, UnknownNameError),
        ({"values": {"nix*": "y*"}}, UnknownNameError),
        ({"inputs": {"relu": "y"}}, UnknownNameError),
        ({"values": {"x": ""}}, UnknownNameError),
        ({"values": {"x": 3}}, UnknownNameError),
        ({"values": "x"}, UnknownNameError),
        ({"values": {"*": "one"}}, DuplicateNameError),
        ({"nodes": {"*": "one"}}, DuplicateNameError),
        ({"values": lambda name: None}, UnknownNameError),
        ({"values": int}, CallError),
        ({"nodes": lambda: "y"}, CallError),
    ],
)
def test_what_is_refused(words: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        network().rename(**words)  # type: ignore[arg-type]
