"""Bombs for kernels of ONNX Runtime that end the process: outputs that are left out, divisions by a size of zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.cli.bombs.making import bomb, call, info, loop_body, model, tensor


def _omitting(
    op_type: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: object
) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, outputs, **attributes)


@bomb()
def split_that_omits_a_part() -> onnx.ModelProto:
    node = _omitting("Split", ["x"], ["", "y"], num_outputs=2)
    return model([node], inputs=[info("x", shape=[4])])


@bomb()
def split_that_omits_the_last_parts() -> onnx.ModelProto:
    node = _omitting("Split", ["x"], ["y", "", ""])
    return model([node], inputs=[info("x", shape=[6])], opset=13)


@bomb()
def split_that_omits_all_parts() -> onnx.ModelProto:
    node = _omitting("Split", ["x"], ["", ""], num_outputs=2)
    return model([node, call("Relu", ["x"])], inputs=[info("x", shape=[4])])


@bomb()
def split_in_a_function_that_omits_a_part() -> onnx.ModelProto:
    node = _omitting("Split", ["a"], ["", "r"], num_outputs=2)
    function = helper.make_function("local", "half", ["a"], ["r"], [node], [helper.make_opsetid("", 21)])
    called = call("half", ["x"], domain="local")
    return model([called], inputs=[info("x", shape=[4])], functions=[function], domains=["local"])


@bomb()
def loop_that_omits_its_state() -> onnx.ModelProto:
    body = loop_body(
        [call("Add", ["a", "a"], "b"), call("Neg", ["a"], "c")], [("a", "b")], collected=[info("c")]
    )
    node = _omitting("Loop", ["n", "", "x"], ["", "y"], body=body)
    return model([node], inputs=[info("x"), info("n", TensorProto.INT64)])


@bomb()
def normalization_that_omits_its_statistics() -> onnx.ModelProto:
    node = _omitting("BatchNormalization", ["x", *["one"] * 4], ["y", "", "variance"], training_mode=1)
    return model([node], [tensor("one", [1, 1], np.float32)], rank=2, inputs=[info("x", shape=[3, 2])])
