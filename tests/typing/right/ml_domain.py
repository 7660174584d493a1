"""The operators of ai.onnx.ml."""

import numpy as np

from onnxsmith import FLOAT, INT64, STRING, Tensor, opset_ai_onnx_ml3
from onnxsmith import opset_ai_onnx_ml5 as ml


def encode(labels: STRING["N"]) -> Tensor:
    return ml.LabelEncoder(labels, keys_strings=["a", "b"], values_int64s=[0, 1], default_int64=-1)


def classify(x: FLOAT["N", 4]) -> tuple[Tensor, FLOAT]:
    label, scores = ml.LinearClassifier(
        x, coefficients=[0.1] * 8, classlabels_ints=[0, 1], intercepts=[0.0, 0.0], post_transform="SOFTMAX"
    )
    return label, scores


def trees(x: FLOAT["N", 4]) -> FLOAT["N", 1]:
    return opset_ai_onnx_ml3.TreeEnsembleRegressor(
        x,
        aggregate_function="AVERAGE",
        n_targets=1,
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.5, 0.0, 0.0],
    )


def scale(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
    return ml.Normalizer(ml.Scaler(x, offset=[0.0], scale=[2.0]), norm="L2")


binary = ml.Binarizer(np.ones((2, 2), np.float32), threshold=0.5)
features = ml.ArrayFeatureExtractor(binary, np.array([0]))
print(binary.sum(), features.shape, encode, classify, trees, scale, INT64)
