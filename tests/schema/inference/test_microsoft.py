"""ONNX Runtime's own operators: shapes by rule, checked against ONNX Runtime itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from onnxsmith.schema.inference import Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, TensorType
from tests.schema.inference.calls import C, R, T, call

ort = pytest.importorskip("onnxruntime")


def f(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def u8(*shape: int) -> np.ndarray:
    return np.ones(shape, np.uint8)


SCALE, ZERO = np.float32(0.5), np.uint8(1)

#: operator, inputs, attributes, outputs
CALLS: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("Gelu", [f(2, 3)], {}, 1),
    ("FastGelu", [f(2, 3), f(3)], {}, 1),
    ("QuickGelu", [f(2, 3)], {"alpha": 1.7}, 1),
    ("BiasGelu", [f(2, 3), f(3)], {}, 1),
    ("FusedMatMul", [f(4, 2, 3), f(4, 5, 3)], {"transB": 1}, 1),
    ("FusedMatMul", [f(3, 2), f(3, 5)], {"transA": 1}, 1),
    ("FusedGemm", [f(2, 3), f(3, 4), f(4)], {"activation": "Relu"}, 1),
    ("FusedConv", [f(1, 3, 8, 8), f(4, 3, 3, 3)], {"activation": "Relu", "strides": [2, 2]}, 1),
    ("SkipLayerNormalization", [f(2, 5, 8), f(2, 5, 8), f(8), f(8)], {}, 1),
    ("SkipSimplifiedLayerNormalization", [f(2, 5, 8), f(2, 5, 8), f(8)], {}, 1),
    (
        "EmbedLayerNormalization",
        [np.zeros((2, 5), np.int32), None, f(9, 8), f(7, 8), None, f(8), f(8)],
        {},
        2,
    ),
    ("Attention", [f(2, 5, 8), f(8, 24), f(24)], {"num_heads": 2}, 1),
    ("MultiHeadAttention", [f(2, 5, 8), f(2, 6, 8), f(2, 6, 8)], {"num_heads": 2}, 1),
    ("RotaryEmbedding", [f(2, 3, 5, 8), np.zeros((2, 5), np.int64), f(9, 4), f(9, 4)], {}, 1),
    ("MatMulIntegerToFloat", [u8(2, 3), u8(3, 4), SCALE, SCALE], {}, 1),
    ("DynamicQuantizeMatMul", [f(2, 3), u8(3, 4), SCALE, ZERO], {}, 1),
    ("QLinearAdd", [u8(2, 3), SCALE, ZERO, u8(3), SCALE, ZERO, SCALE, ZERO], {}, 1),
    ("QLinearMul", [u8(2, 3), SCALE, ZERO, u8(2, 1), SCALE, ZERO, SCALE, ZERO], {}, 1),
    ("QLinearSigmoid", [u8(2, 3), SCALE, ZERO, SCALE, ZERO], {}, 1),
    ("QLinearGlobalAveragePool", [u8(1, 3, 4, 4), SCALE, ZERO, SCALE, ZERO], {"channels_last": 0}, 1),
    ("QuantizeLinear", [f(2, 3), SCALE, ZERO], {}, 1),
    ("DequantizeLinear", [u8(2, 3), SCALE, ZERO], {}, 1),
    ("Trilu", [f(3, 3)], {"upper": 0}, 1),
    ("Inverse", [np.eye(3, dtype=np.float32)], {}, 1),
    ("ExpandDims", [f(2, 3), np.int32(1)], {}, 1),
    ("Unique", [f(5)], {}, 3),
    ("CDist", [f(2, 3), f(4, 3)], {"metric": "euclidean"}, 1),
    ("MurmurHash3", [np.array([1, 2], np.int32)], {"positive": 0}, 1),
    ("GatherND", [f(2, 3), np.zeros((4, 1), np.int64)], {}, 1),
    ("Pad", [f(2, 3), np.array([1, 0, 1, 0], np.int64)], {"mode": "constant"}, 1),
    ("Range", [np.float32(0), np.float32(3)], {}, 1),
    ("GridSample", [f(1, 2, 4, 4), f(1, 3, 5, 2)], {}, 1),
]


@pytest.mark.parametrize(("name", "inputs", "attributes", "outputs"), CALLS, ids=[case[0] for case in CALLS])
def test_shapes_are_what_onnx_runtime_gives(
    name: str, inputs: list[Any], attributes: dict[str, Any], outputs: int
) -> None:
    arrays = [None if each is None else np.asarray(each) for each in inputs]
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in attributes.items()}
    known = call(name, *map(as_known, arrays), version=1, domain="com.microsoft", outputs=outputs, **frozen)
    for each, actual in zip(known, run(name, arrays, attributes, outputs), strict=True):
        assert isinstance(each.type, TensorType)
        assert each.type.dtype is DType.from_numpy(actual.dtype)
        assert each.type.shape is not None
        assert len(each.type.shape) == actual.ndim
        assert all(size in (None, real) for size, real in zip(each.type.shape, actual.shape, strict=True))


def as_known(array: np.ndarray | None) -> Known | None:
    return None if array is None else C(array, array.dtype)


def run(
    name: str, arrays: list[np.ndarray | None], attributes: dict[str, Any], outputs: int
) -> list[np.ndarray]:
    names = [f"i{position}" if each is not None else "" for position, each in enumerate(arrays)]
    node = helper.make_node(
        name, names, [f"o{k}" for k in range(outputs)], domain="com.microsoft", **attributes
    )
    given = {label: each for label, each in zip(names, arrays, strict=True) if each is not None}
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
            for label, each in given.items()
        ],
        [onnx.ValueInfoProto(name=f"o{k}") for k in range(outputs)],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, given)


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "expected"),
    [
        ("SkipLayerNormalization", (T("B", "S", 8), T("B", "S", 8), T(8)), {}, ("B", "S", 8)),
        ("FusedMatMul", (T("B", "S", 8), T("B", "T", 8)), {"transB": 1}, ("B", "S", "T")),
        ("Attention", (T("B", "S", 8), T(8, 24), T(24)), {"num_heads": 2}, ("B", "S", 8)),
        (
            "MultiHeadAttention",
            (T("B", "S", 8), T("B", "T", 8), T("B", "T", 6)),
            {"num_heads": 2},
            ("B", "S", 6),
        ),
        ("MultiHeadAttention", (T("B", "S", 2, 3, 4),), {"num_heads": 2}, ("B", "S", 8)),
        ("GroupQueryAttention", (T("B", "S", 32),), {"num_heads": 4, "kv_num_heads": 2}, ("B", "S", 16)),
        (
            "GroupQueryAttention",
            (T("B", "S", 8), T("B", "S", 4)),
            {"num_heads": 4, "kv_num_heads": 2},
            ("B", "S", 8),
        ),
        ("MatMulNBits", (T("B", "S", 64), T(16, 2, 16), T(32)), {"K": 64, "N": 16}, ("B", "S", 16)),
        ("MatMulBnb4", (T("B", "S", 64), T(512), T(32)), {"K": 64, "N": 16}, ("B", "S", 16)),
        ("GemmFastGelu", (T("B", "S", 8), T(8, 4), T(4)), {}, ("B", "S", 4)),
        ("GemmFastGelu", (T("S", 8), T(8, "K")), {}, ("S", "K")),
        (
            "QLinearGlobalAveragePool",
            (T("B", 3, "H", "W"),),
            {"channels_last": 1},
            ("B", 1, 1, "W"),
        ),
        (
            "QLinearGlobalAveragePool",
            (T("B", 3, "H", "W"),),
            {"channels_last": 0},
            ("B", 3, 1, 1),
        ),
        ("EmbedLayerNormalization", (T("B", "S"), None, T(9, 8)), {}, ("B", "S", 8)),
    ],
)
def test_names_survive(
    name: str, inputs: tuple[Known | None, ...], attributes: dict[str, Any], expected: tuple[Dimension, ...]
) -> None:
    known = call(name, *inputs, version=1, domain="com.microsoft", **attributes)[0]
    assert known.type == TensorType(DType.FLOAT, expected)


def test_distances_have_a_row_and_a_column_for_each_point() -> None:
    for left, right, shape in (
        (T("N", 3), T("M", 3), ("N", "M")),
        (T("N", 3), R(), ("N", None)),
        (R(), T(4, 3), (None, 4)),
    ):
        (found,) = call("CDist", left, right, domain="com.microsoft", version=1, metric="euclidean")
        assert isinstance(found.type, TensorType)
        assert found.type.shape == shape
