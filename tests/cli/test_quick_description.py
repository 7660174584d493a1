"""The quick road of `info` gives what the whole road gives, or leaves it to that."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.cli.description import describe
from onnxsmith.cli.quick_description import quick_description
from onnxsmith.cli.streams import STREAM
from onnxsmith.errors import OnnxsmithError
from tests.backend.node_cases import all_cases
from tests.cli.test_main import python

TEXT = """<ir_version: 8, opset_import: ["": 17]>
g (float[N, 4] x, float[4, 3] w = {1,2,3,4,5,6,7,8,9,10,11,12}, int64[2] s = {-1, 6}) => (float[K, 6] y, float[N] z) {
  a = MatMul (x, w)
  b = Relu (a)
  c = Constant <value = float {2.5}> ()
  d = Mul (b, c)
  y = Reshape (d, s)
  z = ReduceSum <keepdims = 0> (d)
}
"""


def models() -> Iterator[onnx.ModelProto]:
    """Small models of every operator, as they are and with all types declared."""
    for case in random.Random(0).sample(list(all_cases().values()), 400):
        yield case.model
        try:
            yield onnx.shape_inference.infer_shapes(case.model)
        except onnx.shape_inference.InferenceError:
            continue
    yield onnx.parser.parse_model(TEXT)
    weight = np.ones((4, 8), np.float32)
    yield trace(lambda x: op.Softmax(op.Relu(x @ weight) + 1.0), FLOAT["N", 4]).proto


def assert_same(proto: onnx.ModelProto) -> bool:
    """Whether the quick road has something to say; it is what the whole road says."""
    quick = quick_description(proto, with_weights=True)
    if quick is None:
        return False
    assert quick == describe(proto, STREAM, with_weights=True)
    return True


def test_both_roads_agree() -> None:
    answered = [assert_same(each) for each in models()]
    assert sum(answered) > len(answered) / 2


def spoiled(chance: random.Random) -> onnx.ModelProto:
    """A model with something about it that is odd, or wrong."""
    model = onnx.shape_inference.infer_shapes(onnx.parser.parse_model(TEXT))
    graph = model.graph
    for _ in range(chance.randint(1, 3)):
        node, info = (
            chance.choice(graph.node),
            chance.choice([*graph.input, *graph.output, *graph.value_info]),
        )
        tensor = chance.choice(graph.initializer)
        match chance.randrange(14):
            case 0:
                del graph.value_info[:]
            case 1:
                info.name = chance.choice("xyzabcdqw")
            case 2:
                node.output[0] = chance.choice("xyzabcdqw")
            case 3 if node.input:
                node.input[0] = chance.choice(["", *"xyzabcdqw"])
            case 4:
                node.op_type = chance.choice(["Add", "Nonsense", "Softmax", "If"])
            case 5:
                node.domain = chance.choice(["ai.onnx", "custom", "com.microsoft"])
            case 6:
                tensor.dims[0] = chance.choice([-1, 0, 7])
            case 7:
                tensor.data_type = chance.choice([0, 7, 11, 99])
            case 8:
                info.type.tensor_type.elem_type = chance.choice([0, 1, 7, 99])
            case 9 if info.type.tensor_type.shape.dim:
                info.type.tensor_type.shape.dim[0].dim_value = chance.choice([-1, 0, 5])
            case 10:
                graph.value_info.append(info)
            case 11:
                node.attribute.append(helper.make_attribute(chance.choice(["axis", "keepdims"]), 1))
            case 12:
                tensor.ClearField("raw_data")
                tensor.ClearField("float_data")
            case 13:
                model.opset_import.append(helper.make_opsetid(chance.choice(["", "ai.onnx", "custom"]), 17))
            case _:
                graph.node.append(node)
    return model


@pytest.mark.filterwarnings("ignore::onnxsmith.errors.ModelWarning")
def test_both_roads_agree_on_what_is_odd() -> None:
    answered = 0
    for seed in range(600):
        proto = spoiled(random.Random(seed))
        try:
            answered += assert_same(proto)
        except OnnxsmithError as error:  # what the whole road refuses, the quick one must not describe
            raise AssertionError(f"seed {seed} is refused with {error}") from error
    assert answered > 100


def test_a_plain_file_needs_no_onnx_ir(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, ["N", 4])],
        [helper.make_tensor_value_info("y", 1, ["N", 3])],
        [weight],
    )
    onnx.save(helper.make_model(graph), tmp_path / "m.onnx")
    code = (
        "import sys; from onnxsmith.cli import main; main(['info', 'm.onnx']); "
        "print([each for each in ('onnx_ir', 'sympy', 'onnxruntime') if each in sys.modules])"
    )
    assert python("-c", code, cwd=tmp_path).stdout.splitlines()[-1] == "[]"
    assert "onnx_ir" in sys.modules  # the test would see it


def test_a_constant_of_another_kind_of_attribute_is_no_plain_file() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[2, 2] x) => (y) '
        "{ c = Constant<value = float[2] {1, 2}>() y = MatMul(x, c) }"
    )
    attribute = model.graph.node[0].attribute[0]
    attribute.Clear()
    attribute.CopyFrom(helper.make_attribute("value", 3))
    del model.graph.value_info[:]
    quick_description(model)  # with or without a result: its error would be one of Python's
