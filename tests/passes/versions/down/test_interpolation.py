"""Resize that no older Resize can say gives in opset 13 what onnx's reference gives for it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from onnxsmith import Model

DATA = np.random.default_rng(1).normal(size=(1, 2, 7, 5)).astype(np.float32)


def resize(dtype: int, count: int, **attributes: object) -> onnx.ModelProto:
    """A Resize whose data have open sizes; `count` axes are resized, by scales."""
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info("x", dtype, ["A", "B", "H", "W"]),
            helper.make_tensor_value_info("scales", 1, [count]),
        ],
        [helper.make_tensor_value_info("y", dtype, [None] * 4)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def check(proto: onnx.ModelProto, data: np.ndarray, scales: list[float], atol: float = 1e-5) -> None:
    older = Model.from_proto(proto).convert_version(13)
    onnx.checker.check_model(older.proto, full_check=True)
    assert all(node.op_type != "Resize" for node in older.proto.graph.node)
    inputs = {"x": data, "scales": np.float32(scales)}
    (expected,) = ReferenceEvaluator(proto).run(None, inputs)
    found = older(*inputs.values())
    assert found.dtype == data.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=atol)


COORDINATES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("exclude", [0, 1])
@pytest.mark.parametrize("scales", [[0.4, 0.7], [1.7, 2.0], [0.15, 1.0]])
def test_smoothed(coordinates: str, mode: str, exclude: int, scales: list[float]) -> None:
    proto = resize(
        1, 2, mode=mode, antialias=1, axes=[2, 3],
        coordinate_transformation_mode=coordinates, exclude_outside=exclude,
    )  # fmt: skip
    check(proto, DATA, scales)


@pytest.mark.parametrize("mode", ["linear", "cubic", "nearest"])
@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("scales", [[0.4, 0.7], [1.7, 2.3]])
def test_symmetric_coordinates(mode: str, nearest: str, scales: list[float]) -> None:
    proto = resize(
        1, 2, mode=mode, nearest_mode=nearest, axes=[2, 3],
        coordinate_transformation_mode="half_pixel_symmetric",
    )  # fmt: skip
    check(proto, DATA, scales)


@pytest.mark.parametrize(
    ("dtype", "atol"), [(np.float64, 1e-6), (np.float16, 2e-3), (np.uint8, 1.0), (np.int32, 1.0)]
)
def test_other_element_types(dtype: type, atol: float) -> None:
    data = (DATA * 20 + 100).astype(dtype)
    proto = resize(helper.np_dtype_to_tensor_dtype(data.dtype), 4, mode="linear", antialias=1)
    check(proto, data, [1, 1, 0.5, 0.6], atol)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller", "stretch"])
def test_sizes_that_keep_the_proportions(policy: str) -> None:
    node = helper.make_node(
        "Resize", ["x", "", "", "sizes"], ["y"],
        mode="linear", antialias=1, axes=[2, 3], keep_aspect_ratio_policy=policy,
    )  # fmt: skip
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, list(DATA.shape))],
        [helper.make_tensor_value_info("y", 1, [1, 2, None, None])],
        [helper.make_tensor("sizes", 7, [2], [3, 4])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (expected,) = ReferenceEvaluator(proto).run(None, {"x": DATA})
    found = Model.from_proto(proto).convert_version(13)(DATA)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
