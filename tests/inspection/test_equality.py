"""`a.equals(b)`: what counts as a difference, and how it is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError, UnreadableModelError

TEXT = """
<ir_version: 9, opset_import: ["" : 21, "l" : 1]>
g (float[N] x, bool c) => (float[N] y) <float[1] w = {1.0}>
{
   a = LeakyRelu <alpha = 0.5> (x)
   b = If (c) <then_branch = p () => (float[N] t) { t = Add (a, w) },
               else_branch = q () => (float[N] e) { e = Neg (a) }>
   y = l.f (b)
}
<domain: "l", opset_import: ["" : 21]> f <k: float = 0.5> (v) => (u) { u = Abs (v) }
"""


def set_node(proto: onnx.ModelProto, number: int, op_type: str) -> None:
    proto.graph.node[number].op_type = op_type


CHANGES: list[tuple[str, Callable[[onnx.ModelProto], object], str]] = [
    ("operator", lambda p: set_node(p, 0, "Elu"), "node 0 (LeakyRelu) is Elu"),
    (
        "attribute",
        lambda p: setattr(p.graph.node[0].attribute[0], "f", 0.25),
        "attribute 'alpha' of node 0 (LeakyRelu) is 0.5, and 0.25",
    ),
    (
        "weight",
        lambda p: p.graph.initializer[0].CopyFrom(
            onnx.numpy_helper.from_array(np.array([2], np.float32), "w")
        ),
        "input 1 of node 1.then_branch.0 (Add), the weight 'w': element 0 is 1.0 and 2.0",
    ),
    (
        "body",
        lambda p: setattr(p.graph.node[1].attribute[1].g.node[0], "op_type", "Exp"),
        "node 1.else_branch.0 (Neg) is Exp",
    ),
    ("function", lambda p: setattr(p.functions[0].node[0], "op_type", "Exp"), "node l::f/0 (Abs) is Exp"),
    (
        "wiring",
        lambda p: p.graph.node[1].attribute[1].g.node[0].input.__setitem__(0, "x"),
        "input 0 of node 1.else_branch.0 (Neg) is 'a', and another value, 'x'",
    ),
    (
        "output type",
        lambda p: setattr(p.graph.output[0].type.tensor_type.shape.dim[0], "dim_param", "M"),
        "the outputs are y: FLOAT['N'], and y: FLOAT['M']",
    ),
    ("opset", lambda p: setattr(p.opset_import[0], "version", 20), "opset 21 of ai.onnx, and 20"),
    (
        "opset of a function",
        lambda p: setattr(p.functions[0].opset_import[0], "version", 20),
        "function l::f has opset 21 of ai.onnx, and 20",
    ),
    (
        "default of a function",
        lambda p: setattr(p.functions[0].attribute_proto[0], "f", 0.25),
        "the default of 'k' at function l::f is 0.5, and 0.25",
    ),
    (
        "parameter of a function",
        lambda p: p.functions[0].attribute.append("m"),
        "only one of them has the parameter 'm' at function l::f",
    ),
    (
        "inputs of the graph",
        lambda p: p.graph.input.add().CopyFrom(onnx.helper.make_tensor_value_info("z", 1, ["N"])),
        "the inputs are x: FLOAT['N'], c: BOOL, and x: FLOAT['N'], c: BOOL, z: FLOAT['N']",
    ),
    (
        "outputs of the graph",
        lambda p: p.graph.output.add().CopyFrom(onnx.helper.make_tensor_value_info("a", 1, ["N"])),
        "the outputs are y: FLOAT['N'], and y: FLOAT['N'], a: FLOAT['N']",
    ),
    (
        "nodes",
        lambda p: p.graph.node.add(op_type="Neg", input=["x"], output=["z"]),
        "the graph has 3 nodes, and 4",
    ),
    (
        "inputs of a node",
        lambda p: p.graph.node[2].input.append("x"),
        "node 2 (l::f) has 1 inputs, and 2",
    ),
    (
        "outputs of a node",
        lambda p: p.graph.node[2].output.append("z"),
        "node 2 (l::f) has 1 outputs, and 2",
    ),
]


@pytest.mark.parametrize(
    ("change", "words"), [each[1:] for each in CHANGES], ids=[each[0] for each in CHANGES]
)
def test_the_first_difference_is_named(change: Callable[[onnx.ModelProto], object], words: str) -> None:
    model = Model.from_proto(parser.parse_model(TEXT))
    proto = parser.parse_model(TEXT)
    assert model.equals(Model.from_proto(proto))
    change(proto)
    found = model.equals(Model.from_proto(proto))
    assert not found
    assert found.difference == words
    assert repr(found) == f"not equal: {words}"


def test_an_input_that_is_left_out_is_none() -> None:
    low, high = np.float32(0), np.float32(6)
    both = trace(lambda x: op.Clip(x, low, high), FLOAT["N"])
    found = trace(lambda x: op.Clip(x, None, high), FLOAT["N"])
    assert both.equals(found).difference == "input 1 of node 0 (Clip) is left out in one of them"
    assert found.equals(trace(lambda x: op.Clip(x, None, high), FLOAT["N"]))


def test_names_decide_only_if_asked() -> None:
    model = trace(lambda x: op.Exp(op.Relu(x)), FLOAT["N"])
    renamed = model.rename({"relu": "other"})
    assert model.equals(renamed)
    assert "'relu', and 'other'" in str(model.equals(renamed, names=True).difference)


def test_where_weights_lie_does_not_matter(tmp_path: Path) -> None:
    weight = np.full((64, 64), np.nan, np.float32)
    model = trace(lambda x: x @ weight, FLOAT["N", 64])
    model.save(tmp_path / "a.onnx", external_data="a.data")
    model.save(tmp_path / "b.onnx")
    assert onnxsmith.load(tmp_path / "a.onnx").equals(onnxsmith.load(tmp_path / "b.onnx"))


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float8_e4m3fn", "complex64"])
def test_signs_of_zeros_count_and_kinds_of_nan_do_not(name: str) -> None:
    kind = np.dtype(name if name[0] != "b" and "8" not in name else getattr(ml_dtypes, name))

    def model(*elements: float) -> Model:
        weight = np.array(elements, np.float32).astype(kind)
        return trace(lambda: op.Identity(weight))

    assert model(0.0, np.nan, 1.0).equals(model(0.0, -np.nan, 1.0))
    found = model(0.0, np.nan, 1.0).equals(model(-0.0, np.nan, 1.0))
    assert "element 0 is" in str(found.difference)
    (change,) = onnxsmith.diff(model(0.0, 2.0), model(-0.0, 2.0)).changes
    assert change.details == ("1 of 2 elements differ, in the signs of zeros",)


@pytest.mark.parametrize(
    ("other", "kind"),
    [(None, CallError), (5, CallError), ("m.onnx", UnreadableModelError)],
    ids=lambda each: type(each).__name__,
)
def test_what_is_no_model_is_refused(other: Any, kind: type[Exception]) -> None:
    model = trace(lambda x: op.Relu(x), FLOAT["N"])
    with pytest.raises(kind):
        model.equals(other)
