"""Calls with their results, by hand, for operator versions that none of ONNX's node cases reaches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import MapType, SequenceType, TensorType


@dataclass(frozen=True)
class OwnCase:
    """`expected` holds arrays; a pair of (element type, shape) stands for a random result of that form."""

    name: str
    versions: tuple[int, ...]
    inputs: list[Any]
    expected: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: str = ""
    types: list[Any] | None = None


ML = "ai.onnx.ml"


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int64)


def text(*values: str) -> np.ndarray:
    return np.array(values, object)


X = floats([1, 2], [3, 4])
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
SEQUENCE = [floats(1, 2), floats(3, 4)]
#: One tree: feature 0 against 1.5 gives leaf 1 or leaf 2.
TREE = {
    "nodes_treeids": (0, 0, 0),
    "nodes_nodeids": (0, 1, 2),
    "nodes_featureids": (0, 0, 0),
    "nodes_modes": ("BRANCH_LEQ", "LEAF", "LEAF"),
    "nodes_truenodeids": (1, 0, 0),
    "nodes_falsenodeids": (2, 0, 0),
}
REGRESSION = {"target_treeids": (0, 0), "target_nodeids": (1, 2), "target_ids": (0, 0), "n_targets": 1}
CLASSES = {
    "class_treeids": (0, 0),
    "class_nodeids": (1, 2),
    "class_ids": (0, 1),
    "classlabels_int64s": (7, 9),
}
WITH_TENSORS = {"nodes_values_as_tensor": np.array([1.5, 0, 0], np.float64)}
WITH_FLOATS = {"nodes_values": (1.5, 0.0, 0.0)}

OWN_CASES = [
    OwnCase(
        "BatchNormalization",
        (1,),
        [IMAGE, floats(2), floats(1), floats(0), floats(1)],
        [IMAGE * 2 + 1],
        {"consumed_inputs": (0, 0, 0, 1, 1), "is_test": 1, "epsilon": 0.0},
    ),
    OwnCase(
        "BatchNormalization",
        (6,),
        [IMAGE, floats(2), floats(1), floats(0), floats(1)],
        [IMAGE * 2 + 1],
        {"is_test": 1, "epsilon": 0.0},
    ),
    OwnCase("Bernoulli", (15, 22), [floats(0, 1, 1, 0)], [floats(0, 1, 1, 0)]),
    OwnCase("Cast", (1,), [X], [X.astype(np.int64)], {"to": "INT64"}),
    OwnCase("Clip", (1,), [X], [floats([2, 2], [3, 3])], {"min": 2.0, "max": 3.0}),
    OwnCase("ConcatFromSequence", (11,), [SEQUENCE], [floats(1, 2, 3, 4)], {"axis": 0}),
    OwnCase("Dropout", (1, 6), [X], [X], {"is_test": 1}),
    OwnCase("Gemm", (1, 6), [X, X, floats(1, 1)], [X @ X + 1], {"broadcast": 1}),
    OwnCase("GlobalLpPool", (1,), [IMAGE], [floats([[[np.sqrt((IMAGE**2).sum())]]])], {"p": 2.0}),
    OwnCase("GlobalLpPool", (2, 22), [IMAGE], [floats([[[np.sqrt((IMAGE**2).sum())]]])], {"p": 2}),
    OwnCase(
        "LpPool",
        (1,),
        [IMAGE],
        [np.sqrt((IMAGE**2).reshape(1, 1, 2, 2, 2, 2).sum(axis=(3, 5)))],
        {"kernel_shape": (2, 2), "strides": (2, 2), "p": 2.0},
    ),
    OwnCase(
        "MaxRoiPool",
        (1, 22),
        [IMAGE, floats([0, 0, 0, 3, 3])],
        [floats([[[5, 7], [13, 15]]])],
        {"pooled_shape": (2, 2)},
    ),
    OwnCase(
        "Multinomial", (7, 22), [floats([0, -1000, -1000])], [np.zeros((1, 4), np.int32)], {"sample_size": 4}
    ),
    OwnCase("Optional", (15, 28), [X], [X]),
    OwnCase("Pad", (1,), [X], [floats([9, 1, 2], [9, 3, 4])], {"paddings": (0, 1, 0, 0), "value": 9.0}),
    OwnCase("Pad", (2,), [X], [floats([9, 1, 2], [9, 3, 4])], {"pads": (0, 1, 0, 0), "value": 9.0}),
    OwnCase(
        "RNN",
        (1,),
        [floats([[1.0]]), floats([[0.5]]), floats([[0.0]])],
        [floats([[[np.tanh(0.5)]]]), floats([[np.tanh(0.5)]])],
        {"hidden_size": 1, "output_sequence": 1},
    ),
    OwnCase("RandomNormal", (1, 22), [], [(DType.FLOAT, (2, 3))], {"shape": (2, 3)}),
    OwnCase("RandomNormalLike", (1, 22), [X], [(DType.FLOAT, (2, 2))]),
    OwnCase("RandomUniform", (1, 22), [], [(DType.DOUBLE, (4,))], {"shape": (4,), "dtype": 11}),
    OwnCase("RandomUniformLike", (1, 22), [X], [(DType.FLOAT, (2, 2))]),
    OwnCase(
        "Resize",
        (11,),
        [IMAGE, floats(), floats(1, 1, 0.5, 0.5)],
        [IMAGE[:, :, ::2, ::2]],
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
    OwnCase(
        "RoiAlign",
        (10,),
        [np.ones((1, 1, 4, 4), np.float32), floats([0, 0, 2, 2]), ints(0)],
        [np.ones((1, 1, 2, 2), np.float32)],
        {"output_height": 2, "output_width": 2},
    ),
    OwnCase("SequenceAt", (11,), [SEQUENCE, ints(1).reshape(())], [SEQUENCE[1]]),
    OwnCase("SequenceConstruct", (11,), SEQUENCE, [SEQUENCE]),
    OwnCase("SequenceEmpty", (11,), [], [[]], {"dtype": 1}),
    OwnCase("SequenceErase", (11,), [SEQUENCE, ints(0).reshape(())], [SEQUENCE[1:]]),
    OwnCase("SequenceLength", (11,), [SEQUENCE], [ints(2).reshape(())]),
    OwnCase("Split", (1,), [X], [X[:1], X[1:]], {"axis": 0}),
    OwnCase("Tile", (1,), [X, floats(2).reshape(()), floats(1).reshape(())], [np.tile(X, (1, 2))]),
    OwnCase("TopK", (1,), [X], [X[:, ::-1], ints([1, 0], [1, 0])], {"k": 2}),
    OwnCase(
        "Upsample",
        (1,),
        [IMAGE],
        [IMAGE.repeat(2, 2).repeat(2, 3)],
        {"height_scale": 2.0, "width_scale": 2.0},
    ),
    OwnCase(
        "CastMap",
        (1,),
        [{0: 1.5, 2: 2.5}],
        [floats([1.5, 0, 2.5])],
        {"map_form": "SPARSE", "max_map": 3},
        ML,
        [MapType(DType.INT64, TensorType(DType.FLOAT, None))],
    ),
    OwnCase(
        "CategoryMapper",
        (1,),
        [text("a", "b", "z")],
        [ints(1, 2, -1)],
        {"cats_int64s": (1, 2), "cats_strings": ("a", "b")},
        ML,
    ),
    OwnCase(
        "DictVectorizer",
        (1,),
        [{"a": 1.0, "c": 3.0}],
        [floats([1, 0, 3])],
        {"string_vocabulary": ("a", "b", "c")},
        ML,
        [MapType(DType.STRING, TensorType(DType.FLOAT, None))],
    ),
    OwnCase(
        "FeatureVectorizer", (1,), [X, X[:, :1]], [np.hstack([X, X[:, :1]])], {"inputdimensions": (2, 1)}, ML
    ),
    OwnCase(
        "Imputer",
        (1,),
        [X],
        [floats([9, 2], [3, 4])],
        {"imputed_value_floats": (9.0,), "replaced_value_float": 1.0},
        ML,
    ),
    OwnCase(
        "LabelEncoder", (1,), [text("b", "a", "z")], [ints(1, 0, -1)], {"classes_strings": ("a", "b")}, ML
    ),
    OwnCase(
        "LabelEncoder",
        (2,),
        [text("b", "a", "z")],
        [ints(2, 1, -1)],
        {"keys_strings": ("a", "b"), "values_int64s": (1, 2)},
        ML,
    ),
    OwnCase(
        "LinearClassifier",
        (1,),
        [X],
        [ints(1, 1), X @ floats([1, 0], [0, 1])],
        {"coefficients": (1.0, 0.0, 0.0, 1.0), "intercepts": (0.0, 0.0), "classlabels_ints": (0, 1)},
        ML,
    ),
    OwnCase(
        "LinearRegressor",
        (1,),
        [X],
        [X @ floats([1], [2]) + 3],
        {"coefficients": (1.0, 2.0), "intercepts": (3.0,)},
        ML,
    ),
    OwnCase("Normalizer", (1,), [X], [X / X.sum(axis=1, keepdims=True)], {"norm": "L1"}, ML),
    OwnCase(
        "OneHotEncoder", (1,), [ints(1, 2, 5)], [floats([1, 0], [0, 1], [0, 0])], {"cats_int64s": (1, 2)}, ML
    ),
    OwnCase(
        "SVMClassifier",
        (1,),
        [floats([2.0], [-2.0])],
        [ints(0, 1), floats([-2, 2], [2, -2])],
        {
            "coefficients": (1.0, -1.0),
            "support_vectors": (0.5, -0.5),
            "vectors_per_class": (1, 1),
            "kernel_type": "LINEAR",
            "rho": (0.0,),
            "classlabels_ints": (0, 1),
        },
        ML,
    ),
    OwnCase(
        "SVMRegressor",
        (1,),
        [floats([2.0])],
        [floats([7.0])],
        {
            "coefficients": (3.0,),
            "support_vectors": (1.0,),
            "n_supports": 1,
            "kernel_type": "LINEAR",
            "rho": (1.0,),
        },
        ML,
    ),
    OwnCase("Scaler", (1,), [X], [(X - 1) * 2], {"offset": (1.0,), "scale": (2.0,)}, ML),
    OwnCase(
        "TreeEnsembleRegressor",
        (1, 3),
        [X],
        [floats([10], [20])],
        {**TREE, **WITH_FLOATS, **REGRESSION, "target_weights": (10.0, 20.0)},
        ML,
    ),
    OwnCase(
        "TreeEnsembleRegressor",
        (3,),
        [X.astype(np.float64)],
        [floats([10], [20])],
        {**TREE, **WITH_TENSORS, **REGRESSION, "target_weights_as_tensor": np.array([10.0, 20.0])},
        ML,
    ),
    OwnCase(
        "TreeEnsembleClassifier",
        (1, 3),
        [X],
        [ints(7, 9), floats([1, 0], [0, 1])],
        {**TREE, **WITH_FLOATS, **CLASSES, "class_weights": (1.0, 1.0)},
        ML,
    ),
    OwnCase("ZipMap", (1,), [X], [[{0: 1.0, 1: 2.0}, {0: 3.0, 1: 4.0}]], {"classlabels_int64s": (0, 1)}, ML),
]


def loop_1() -> tuple[list[Any], dict[str, Any], list[Any]]:
    """Loop-1 adds one three times; its body is of opset 1."""
    body = onnx.parser.parse_graph(
        "body (int64 i, bool c, float[1] a) => (bool c_out, float[1] a_out, float[1] s)"
        "{ c_out = Identity(c) a_out = Add(a, a) s = Identity(a_out) }"
    )
    return (
        [ints(3).reshape(()), np.array(True), floats(1)],
        {"body": body},
        [floats(8), floats([2], [4], [8])],
    )


def input_type(value: Any) -> Any:
    """The type that the engine is told."""
    if isinstance(value, list):
        return SequenceType(TensorType(DType.from_numpy(value[0].dtype), None))
    return DType.from_numpy(value.dtype)
