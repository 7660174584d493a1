"""The text of a model: all of it, with a few elements of what is large."""

from __future__ import annotations

import numpy as np
import onnx

from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op

LARGE = np.arange(100_000, dtype=np.float32)
SMALL = np.arange(5, dtype=np.float32)


def test_a_large_weight_is_abbreviated_and_stays_whole() -> None:
    model = trace(lambda x: op.Add(x, LARGE), FLOAT[100_000])
    assert "0, 1, 2, …" in model.text()
    assert len(model.text()) < 2000
    np.testing.assert_array_equal(model(LARGE), LARGE + LARGE)


def test_a_large_constant_and_text_are_abbreviated() -> None:
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(LARGE)),
            onnx.helper.make_node(
                "Constant",
                [],
                ["s"],
                value=onnx.helper.make_tensor("", 8, [100], [b"word\x1b\xff" * 50] * 100),
            ),
        ],
        "g",
        [],
        [
            onnx.helper.make_tensor_value_info("c", 1, [100_000]),
            onnx.helper.make_tensor_value_info("s", 8, [100]),
        ],
    )
    text = Model.from_proto(onnx.helper.make_model(graph)).text()
    assert "0, 1, 2, …" in text
    assert len(text) < 2000


def test_a_small_model_is_text_that_onnx_reads() -> None:
    model = trace(lambda x: op.Add(x, SMALL), FLOAT[5])
    again = Model.from_proto(onnx.parser.parse_model(model.text()))
    np.testing.assert_array_equal(again(SMALL), SMALL + SMALL)


def test_a_weight_is_listed_once() -> None:
    text = trace(lambda x: op.Add(x, SMALL), FLOAT[5]).text()
    assert text.count("float[5] SMALL") == 1
