"""Attributes of nodes as Python values."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnxsmith import FLOAT, Model
from onnxsmith.inspection.attributes import plain_attribute


def test_a_sparse_value_is_read() -> None:
    values = onnx.helper.make_tensor("v", onnx.TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = onnx.helper.make_tensor("i", onnx.TensorProto.INT64, [2], [0, 3])
    sparse = onnx.helper.make_sparse_tensor(values, indices, [5])
    node = onnx.helper.make_node("Constant", [], ["y"], sparse_value=sparse)
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [5])
    proto = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], [output]))
    found = Model.from_proto(proto).nodes[0].attributes["sparse_value"]
    np.testing.assert_array_equal(np.asarray(found), [1, 0, 0, 2, 0])


TENSOR = onnx.helper.make_tensor("t", onnx.TensorProto.INT64, [2], [1, 2])
TYPE = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ["N", 2])


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (0.1, float(np.float32(0.1))),
        ([0.5, 0.1], tuple(np.float32([0.5, 0.1]).tolist())),
        (3, 3),
        ([1, 2], (1, 2)),
        ("text", "text"),
        (["a", "b"], ("a", "b")),
        (TENSOR, np.array([1, 2])),
        (TYPE, FLOAT["N", 2]),
    ],
)
def test_attributes_of_every_kind(given: Any, plain: Any) -> None:
    attribute = ir.serde.deserialize_attribute(onnx.helper.make_attribute("name", given))
    found = plain_attribute(attribute)
    np.testing.assert_equal(found, plain)
    assert type(found) is type(plain)
