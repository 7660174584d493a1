"""Bombs for kernels of ONNX Runtime that end the process: outputs that are left out, divisions by a size of zero."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.cli.bombs.making import UNRUNNABLE, bomb, call, info, loop_body, model, tensor


@bomb()
def split_that_omits_a_part() -> onnx.ModelProto:
    node = helper.make_node("Split", ["x"], ["", "y"], num_outputs=2)
    return model([node], inputs=[info("x", shape=[4])])


@bomb()
def split_that_omits_the_last_parts() -> onnx.ModelProto:
    node = helper.make_node("Split", ["x"], ["y", "", ""])
    return model([node], inputs=[info("x", shape=[6])], opset=13)


@bomb()
def split_that_omits_all_parts() -> onnx.ModelProto:
    node = helper.make_node("Split", ["x"], ["", ""], num_outputs=2)
    return model([node, call("Relu", ["x"])], inputs=[info("x", shape=[4])])


@bomb()
def split_in_a_function_that_omits_a_part() -> onnx.ModelProto:
    node = helper.make_node("Split", ["a"], ["", "r"], num_outputs=2)
    function = helper.make_function("local", "half", ["a"], ["r"], [node], [helper.make_opsetid("", 21)])
    called = call("half", ["x"], domain="local")
    return model([called], inputs=[info("x", shape=[4])], functions=[function], domains=["local"])


@bomb()
def loop_that_omits_its_state() -> onnx.ModelProto:
    body = loop_body(
        [call("Add", ["a", "a"], "b"), call("Neg", ["a"], "c")], [("a", "b")], collected=[info("c")]
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["", "y"], body=body)
    return model([node], inputs=[info("x"), info("n", TensorProto.INT64)])


@bomb()
def normalization_that_omits_its_statistics() -> onnx.ModelProto:
    node = helper.make_node("BatchNormalization", ["x", *["one"] * 4], ["y", "", "variance"], training_mode=1)
    return model([node], [tensor("one", [1, 1], np.float32)], rank=2, inputs=[info("x", shape=[3, 2])])


@bomb(refused_by=UNRUNNABLE)
def spectrum_of_empty_frames() -> onnx.ModelProto:
    """The kernel divides by the length of a frame, also where constants are folded."""
    weights = [tensor("x", np.ones((1, 64, 1)), np.float32), tensor("step", 4), tensor("n", 0)]
    return model([call("STFT", ["x", "step", "", "n"])], weights, rank=4)


@bomb(refused_by=UNRUNNABLE)
def spectrum_of_an_empty_window() -> onnx.ModelProto:
    weights = [tensor("step", 4), tensor("window", [], np.float32)]
    return model(
        [call("STFT", ["x", "step", "window"])], weights, rank=4, inputs=[info("x", shape=[1, 64, 1])]
    )
