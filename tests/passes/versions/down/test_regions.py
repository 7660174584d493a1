"""RoiAlign with coordinates of half pixels gives in opset 13 what onnx's reference gives for it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from onnxsmith import Model
from onnxsmith.errors import VersionConversionError

DATA = np.random.default_rng(1).normal(size=(2, 3, 8, 9)).astype(np.float32)


def roi_align(**attributes: object) -> onnx.ModelProto:
    node = helper.make_node("RoiAlign", ["x", "regions", "images"], ["y"], **attributes)
    inputs = [("x", 1, ["N", "C", "H", "W"]), ("regions", 1, ["R", 4]), ("images", 7, ["R"])]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info("y", 1, [None] * 4)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)


LARGE = [[0, 0, 8, 7], [1.5, 2, 6.2, 7.1]]
SMALL = [[2, 3, 2.4, 3.3], [1, 1, 1.2, 30], [4, 2, 9.9, 2.1], [5, 5, 5, 5], [-3, -2, 15, 14], [3, 3, 2, 7]]


@pytest.mark.parametrize("ratio", [0, 2, 3])
@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("regions", [LARGE, SMALL, [*SMALL, *LARGE]], ids=["large", "small", "both"])
def test_half_pixels(ratio: int, scale: float, regions: list[list[float]]) -> None:
    proto = roi_align(output_height=3, output_width=2, sampling_ratio=ratio, spatial_scale=scale)
    images = np.arange(len(regions)) % 2
    given = {"x": DATA, "regions": np.float32(regions), "images": images}
    (expected,) = ReferenceEvaluator(proto).run(None, given)
    older = Model.from_proto(proto).convert_version(13)
    onnx.checker.check_model(older.proto, full_check=True)
    np.testing.assert_allclose(older(*given.values()), expected, rtol=1e-4, atol=1e-5)


def test_a_maximum_of_half_pixels_is_refused() -> None:
    with pytest.raises(VersionConversionError, match="which RoiAlign reads since opset 16"):
        Model.from_proto(roi_align(mode="max")).convert_version(13)
