"""Attributes of nodes as Python values."""

from __future__ import annotations

import numpy as np
import onnx

from onnxsmith import Model


def test_a_sparse_value_is_read() -> None:
    values = onnx.helper.make_tensor("v", onnx.TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = onnx.helper.make_tensor("i", onnx.TensorProto.INT64, [2], [0, 3])
    sparse = onnx.helper.make_sparse_tensor(values, indices, [5])
    node = onnx.helper.make_node("Constant", [], ["y"], sparse_value=sparse)
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [5])
    proto = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], [output]))
    found = Model.from_proto(proto).nodes[0].attributes["sparse_value"]
    np.testing.assert_array_equal(np.asarray(found), [1, 0, 0, 2, 0])
