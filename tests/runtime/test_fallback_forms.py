"""Earlier definitions are only taken where they mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from onnxsmith import BFLOAT16, FLOAT, opset25, trace
from onnxsmith.runtime.fallback_forms import earliest_same, in_earliest_definitions
from onnxsmith.types.value_types import TensorType
from tests.runtime.calls import find


@pytest.mark.parametrize(
    ("name", "version", "attributes", "expected"),
    [
        ("Cast", 28, {"to"}, 24),  # 23 says less about float4
        ("Unique", 28, set(), 11),
        ("Range", 27, set(), 11),
        ("Range", 27, {"stash_type"}, 27),
        ("Mod", 28, {"fmod"}, 28),  # floor modulus of floats is new
        ("SpaceToDepth", 28, {"blocksize"}, 1),
        ("SpaceToDepth", 28, {"blocksize", "mode"}, 28),
        ("Softmax", 13, {"axis"}, 13),  # 11 took all later axes together
        ("Squeeze", 13, set(), 13),  # axes were an attribute
        ("BitShift", 28, {"direction"}, 28),  # 28 defines shifts beyond the width
    ],
)
def test_earlier_definitions(name: str, version: int, attributes: set[str], expected: int) -> None:
    assert earliest_same(find(name, version), attributes) == expected


IMAGE = FLOAT[1, 1, 4, 4]


@pytest.mark.parametrize(
    ("function", "kind", "expected"),
    [
        (lambda x: opset25.MaxPool(x, kernel_shape=[2, 2]), IMAGE, 17),
        (lambda x: opset25.MaxPool(x, kernel_shape=[2, 2], ceil_mode=0), IMAGE, 17),
        (
            lambda x: opset25.MaxPool(x, kernel_shape=[2, 2], ceil_mode=1),
            IMAGE,
            22,
        ),  # 22 says where a window ends
        (
            lambda x: opset25.MaxPool(x, kernel_shape=[2, 2]),
            BFLOAT16[1, 1, 4, 4],
            25,
        ),  # 12 has no such type: it stays
        (lambda x: opset25.Gelu(opset25.MaxPool(x, kernel_shape=[2, 2])), IMAGE, 20),
        (lambda x: opset25.Relu(x.reshape(2, 8)), IMAGE, 17),
    ],
)
def test_the_earliest_opset_of_a_model(function: Callable[..., Any], kind: TensorType, expected: int) -> None:
    """Kernels of CUDA come late: MaxPool of opset 22 has none in ONNX Runtime 1.31, and that of opset 12 has."""
    model = trace(function, kind, opset_version=25)
    earlier = in_earliest_definitions(model.proto)
    version = (earlier or model.proto).opset_import[0].version
    assert version == expected


def test_operators_that_nobody_knows_stay_in_their_opset() -> None:
    proto = trace(lambda x: opset25.Relu(x), FLOAT["N"], opset_version=25).proto
    proto.graph.node[0].op_type = "Unknown"
    assert in_earliest_definitions(proto) is None
