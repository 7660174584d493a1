"""Calls that once took the process down, went on for ever, asked for terabytes, or gave nonsense.

Run as a script it makes them all and prints one line each, so that a test sees which one ended the process.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import ml_dtypes
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from onnxsmith import Opset
from onnxsmith.errors import OnnxsmithError
from tests.runtime.calls import floats, ints

HUGE = 2**62


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def scalar(value: Any, dtype: Any = np.int64) -> np.ndarray:
    return np.array(value, dtype)


#: (operator, version, inputs, attributes, number of outputs)
HOSTILE: list[tuple[str, int, list[Any], dict[str, Any], int]] = [
    ("AffineGrid", 20, [ones(2, 3, 4), scalar(2)], {}, 1),
    ("AffineGrid", 20, [ones(2, 3, 4), ints()], {}, 1),
    ("Attention", 23, [ones(2, 4, 24)] * 3, {"q_num_heads": 0, "kv_num_heads": 0}, 1),
    (
        "Attention",
        23,
        [*[ones(2, 1, 1, 2)] * 3, np.zeros((1, 3), np.int8), ones(0, 1, 2, 2), ones(2, 1, 2, 2)],
        {},
        1,
    ),
    ("CenterCropPad", 18, [ones(20, 10, 3), ints(2**31, -(2**63), 1000)], {}, 1),
    ("Conv", 22, [ones(1, 1, 3, 3), ones(1, 1, 2, 0)], {}, 1),
    ("Conv", 11, [ones(1, 0, 3, 3), ones(1, 0, 2, 2)], {}, 1),
    ("Conv", 22, [ones(1, 1, 5, 5), ones(1, 1, 3, 3)], {"kernel_shape": [3, 3], "pads": []}, 1),
    ("Conv", 22, [ones(1, 1, 7, 5), ones(1, 1, 3, 3)], {"pads": [-2, 7, -1, 1]}, 1),
    ("ConvInteger", 10, [np.ones((1, 1, 3, 3), np.uint8), np.ones((1, 1, 2, 0), np.uint8)], {}, 1),
    ("Expand", 13, [ones(3, 1), ints([2], [1], [6])], {}, 1),
    ("GlobalMaxPool", 1, [ones(1, 0, 3, 3)], {}, 1),
    ("GridSample", 22, [ones(1, 1, 3, 2), ones(2, 2, 4, 2)], {"mode": "nearest"}, 1),
    ("MaxPool", 22, [ones(1, 1, 5, 5)], {"kernel_shape": [3, 3], "strides": []}, 1),
    (
        "MaxUnpool",
        22,
        [ones(1, 1, 2, 2), np.zeros((1, 1, 2, 2), np.int64)],
        {"kernel_shape": [1000, 2**63 - 1], "strides": [2, 2]},
        1,
    ),
    ("NegativeLogLikelihoodLoss", 22, [ones(3, 5), ints(1, 4, 0), scalar(1, np.float32)], {}, 1),
    ("NegativeLogLikelihoodLoss", 22, [ones(3, 5), ints(1, 4, 0), ones(1, 5)], {}, 1),
    (
        "QLinearConv",
        10,
        [
            np.ones((1, 1, 7, 7), np.uint8),
            scalar(0.5, np.float32),
            scalar(132, np.uint8),
            np.ones((1, 1, 1, 0), np.uint8),
            scalar(0.5, np.float32),
            scalar(255, np.uint8),
            scalar(0.5, np.float32),
            scalar(123, np.uint8),
        ],
        {},
        1,
    ),
    ("ConvTranspose", 22, [ones(1, 1, 3, 3), ones(1, 2, 3, 3)], {"output_padding": [1]}, 1),
    ("PRelu", 16, [ones(3, 4, 5), ones(1, 1, 1, 1, 5)], {}, 1),
    ("PRelu", 16, [ones(1, 3), ones(2, 3)], {}, 1),
    ("Resize", 19, [ones(1, 1, 2, 2), None, None, ints([7, 8])], {"axes": [2, 3]}, 1),
    ("Resize", 19, [ones(1, 1, 2, 2), None, np.ones((1, 4), np.float32)], {}, 1),
    (
        "Range",
        27,
        [np.array([10], np.int32), scalar(6, np.int32), scalar(-3, np.int32)],
        {"stash_type": 10},
        1,
    ),
    ("SoftmaxCrossEntropyLoss", 13, [ones(5), scalar(1), ones(5)], {"reduction": "none"}, 1),
    ("SpaceToDepth", 28, [ones(0, 2, 4, 6)], {"mode": "CRD", "blocksize": 3}, 1),
    ("SwiGLU", 28, [ones(2, 4), ones(1, 4)], {}, 1),
    ("Attention", 23, [ones(2, 4, 24)] * 3, {"q_num_heads": 3, "kv_num_heads": 2**40}, 1),
    ("Attention", 23, [ones(2, 4, 24)] * 3, {"q_num_heads": -(2**63), "kv_num_heads": -2}, 1),
    ("Attention", 23, [ones(2, 3, 4, 8), ones(2, 0, 4, 8), ones(2, 0, 4, 8)], {}, 1),
    ("ArgMin", 13, [ones(2, 3, 0)], {"axis": -1}, 1),
    ("BatchNormalization", 15, [ones(1, 2, 3), ones(1), ones(2), ones(2), ones(2)], {}, 1),
    ("CenterCropPad", 18, [ones(2, 2), ints(HUGE, HUGE)], {}, 1),
    ("Col2Im", 18, [ones(1, 5, 5), ints(-5, 5), ints(1, 5)], {}, 1),
    ("Concat", 13, [ones(1, 2, 2, 2), ones(0, 2, 2)], {"axis": -1}, 1),
    ("Concat", 13, [ones(1, 2), ones(0, 2)], {"axis": -1}, 1),
    ("ConstantOfShape", 21, [ints(HUGE, HUGE)], {}, 1),
    ("ConstantOfShape", 21, [ints(-1)], {}, 1),
    ("ConstantOfShape", 21, [ints(2**20, 2**20)], {}, 1),
    ("Conv", 11, [ones(1, 1, 5, 5), ones(1, 1, 3, 3)], {"strides": (0, 0)}, 1),
    ("Conv", 11, [ones(1, 1, 5, 5), ones(1, 1, 3, 3)], {"group": 0}, 1),
    ("Conv", 11, [ones(1, 1, 5, 5), ones(1, 1, 3, 3)], {"dilations": (-1, HUGE)}, 1),
    ("ConvTranspose", 11, [ones(1, 1, 0, 4, 5), ones(1, 2, 3, 3, 3)], {}, 1),
    ("DepthToSpace", 13, [ones(1, 4, 2, 2)], {"blocksize": 0}, 1),
    ("Div", 14, [ints(1), ints(0)], {}, 1),
    ("Einsum", 12, [np.zeros(0), np.ones(15)], {"equation": "ij,jk->ik"}, 1),
    ("Einsum", 12, [np.ones((3, 4))], {"equation": "(a*)*b"}, 1),
    ("Einsum", 12, [np.ones((3, 4))], {"equation": "ij->ii"}, 1),
    ("Einsum", 12, [np.ones((3, 5, 5))], {"equation": "....->"}, 1),
    ("Einsum", 12, [np.ones((3, 5))], {"equation": "a-b"}, 1),
    ("Expand", 13, [ones(1), ints(HUGE)], {}, 1),
    ("Expand", 13, [ones(1), ints(-5)], {}, 1),
    ("GRU", 14, [ones(1, 0, 2), ones(1, 9, 2), ones(1, 9, 3)], {"hidden_size": 3}, 2),
    ("GRU", 14, [ones(1, 1, 2), ones(1, 9, 2), ones(1, 9, 3)], {"hidden_size": 2**31}, 2),
    ("Gather", 13, [ones(3), ints(-(2**63))], {}, 1),
    ("GatherND", 13, [ones(2, 2, 2), np.zeros((2, 0, 2), np.int64)], {"batch_dims": -100}, 1),
    ("LSTM", 14, [ones(1, 0, 2), ones(1, 12, 2), ones(1, 12, 3)], {"hidden_size": 3}, 3),
    ("LayerNormalization", 17, [ones(2, 3, 0, 5), ones(2, 3, 4, 5)], {"axis": 2**63 - 1}, 1),
    ("LayerNormalization", 17, [ones(120), ones(5)], {"axis": 2**31}, 1),
    ("LayerNormalization", 17, [ones(2, 4), ones(3)], {"axis": -1}, 1),
    ("MatMul", 13, [ones(2**20, 1), ones(1, 2**20)], {}, 1),
    ("MaxPool", 12, [ones(1, 1, 5, 5)], {"kernel_shape": (3, 3), "strides": (0, 0)}, 1),
    ("MaxPool", 12, [ones(1, 1, 5, 5)], {"kernel_shape": (0, 0)}, 1),
    ("MaxPool", 12, [ones(1, 1, 5, 5)], {"kernel_shape": (3,)}, 1),
    ("Mul", 14, [ones(2**20, 1), ones(1, 2**20)], {}, 1),
    ("OneHot", 11, [ints(1), scalar(HUGE), floats(0, 1)], {}, 1),
    ("OneHot", 11, [ints(1), scalar(-1), floats(0, 1)], {}, 1),
    ("Pad", 13, [ones(2), ints(HUGE, HUGE)], {}, 1),
    ("RandomNormal", 1, [], {"shape": (2**40, 2**20)}, 1),
    ("RandomUniform", 1, [], {"shape": (-3,)}, 1),
    ("Range", 11, [scalar(0), scalar(HUGE), scalar(1)], {}, 1),
    ("Range", 11, [scalar(0), scalar(5), scalar(0)], {}, 1),
    ("Range", 11, [scalar(0, np.float32), scalar(np.inf, np.float32), scalar(1, np.float32)], {}, 1),
    ("Resize", 19, [ones(1, 1, 2, 2), None, None, ints(1, 1, HUGE, HUGE)], {}, 1),
    ("ReverseSequence", 10, [ones(16), ints(0, 2, 3, 4)], {"batch_axis": 0, "time_axis": 1}, 1),
    ("RoiAlign", 16, [ones(1, 1, 4, 4), floats([0, 0, 2, 2]), ints(99)], {}, 1),
    ("RoiAlign", 16, [ones(1, 1, 4, 4), floats([0, 0, 2, 2]), ints(0)], {"sampling_ratio": 2**32}, 1),
    ("ScatterND", 18, [ones(3), ints([-(2**62)]), ones(1)], {}, 1),
    ("Slice", 13, [ones(3), ints(-(2**63)), ints(2**63 - 1), ints(0), ints(0)], {}, 1),
    ("SpaceToDepth", 13, [ones(1, 1, 4, 4)], {"blocksize": 0}, 1),
    ("Split", 18, [ones(6)], {"num_outputs": 3}, 2),
    ("Split", 18, [ones(6)], {"num_outputs": 0}, 2),
    (
        "TfIdfVectorizer",
        9,
        [np.arange(3, dtype=np.int32)],
        {
            "max_gram_length": 2**32,
            "max_skip_count": 2**63 - 1,
            "min_gram_length": 7,
            "mode": "TF",
            "ngram_counts": (0,),
            "ngram_indexes": (0, 1, 2),
            "pool_int64s": (5, 6, 7),
        },
        1,
    ),
    (
        "TfIdfVectorizer",
        9,
        [np.arange(3, dtype=np.int32)],
        {
            "max_gram_length": 2,
            "max_skip_count": 0,
            "min_gram_length": 1,
            "mode": "TF",
            "ngram_counts": (0, 2**40),
            "ngram_indexes": (0, 1, 2),
            "pool_int64s": (5, 6, 7),
        },
        1,
    ),
    (
        "TfIdfVectorizer",
        9,
        [np.arange(12, dtype=np.int32)],
        {
            "max_gram_length": 2,
            "max_skip_count": 0,
            "min_gram_length": 2,
            "mode": "TF",
            "ngram_counts": (0, 4),
            "ngram_indexes": (0, 1, 2, 3, 4, 5),
            "pool_int64s": (2, 3, 5, 4, 5, 6, 7, 8, 6, 7),
        },
        1,
    ),
    ("Tile", 13, [ones(2), ints(HUGE)], {}, 1),
    ("Tile", 13, [ones(2), ints(-1)], {}, 1),
    ("Transpose", 13, [ones(2, 3, 4)], {"perm": (1, 2**40, 2**63 - 1)}, 1),
    ("TopK", 11, [ones(3), ints(2**63 - 1)], {}, 2),
    ("TopK", 11, [ones(3), ints(-1)], {}, 2),
]

#: The same, with the result that they have by ONNX's definition and that ONNX Runtime does not give.
DEFINED: list[tuple[str, int, list[Any], dict[str, Any], Any]] = [
    (
        "Div",
        14,
        [np.array([-(2**31)], np.int32), np.array([-1], np.int32)],
        {},
        np.array([-(2**31)], np.int32),
    ),
    ("Div", 14, [ints(-(2**63)), ints(-1)], {}, ints(-(2**63))),
    ("Mod", 13, [ints(-(2**63)), ints(-1)], {}, ints(0)),
    *(
        ("Celu", version, [np.array([-3, 2], dtype)], {"alpha": 1e30}, np.array([-3, 2], dtype))
        for version, dtype in ((12, np.float32), (28, np.float16), (28, ml_dtypes.bfloat16))
    ),
    ("GlobalAveragePool", 22, [np.ones((1, 3, 5, 0))], {}, np.full((1, 3, 1, 1), np.nan)),
    (
        "MeanVarianceNormalization",
        13,
        [np.array([1, 3], np.float16).reshape(2, 1, 1, 1)],
        {},
        np.array([-1, 1], np.float16).reshape(2, 1, 1, 1),
    ),
    ("BitShift", 11, [np.array([255], np.uint8)] * 2, {"direction": "LEFT"}, np.array([0], np.uint8)),
    ("ReduceL1", 18, [ones(3, 2, 0), ints(-1)], {}, np.zeros((3, 2, 1), np.float32)),
    ("ReduceSum", 13, [ones(3, 2, 0), ints(-1)], {"keepdims": 0}, np.zeros((3, 2), np.float32)),
    ("ReduceMax", 20, [np.zeros((2, 0), bool), ints(1)], {"keepdims": 0}, np.array([False, False])),
    ("Slice", 13, [ones(9), ints(8), ints(2**31 - 1), ints(0), ints(-1)], {}, ones(0)),
    ("Slice", 13, [floats(1, 2), ints(-1), ints(-(2**63)), ints(0), ints(-1)], {}, floats(2, 1)),
    ("Squeeze", 13, [ones(1, 3), ints()], {}, ones(1, 3)),
    ("Unique", 11, [ones(3, 0)], {"axis": 0}, None),
    ("Einsum", 12, [ones(0), ones(2, 0)], {"equation": "j,ij->"}, np.zeros((), np.float32)),
    ("Einsum", 12, [ones(2, 0)], {"equation": "i...->..."}, ones(0)),
    ("Einsum", 12, [ones(3, 0, 1)], {"equation": "k...->k..."}, ones(3, 0, 1)),
    ("Einsum", 12, [ones(3, 0, 3)], {"equation": "jij"}, ones(0)),
    ("Einsum", 12, [ones(2, 1), ones(0, 3)], {"equation": "i...,j...->...ij"}, ones(3, 2, 0)),
    ("DFT", 20, [ones(1, 3, 1), None, scalar(1)], {}, floats([[3, 0], [0, 0], [0, 0]])),
    ("Conv", 11, [ones(0, 1, 3, 3), ones(2, 1, 3, 3)], {}, ones(0, 2, 1, 1)),
    ("Conv", 11, [ones(1, 1, 3, 3), ones(0, 1, 3, 3)], {}, ones(1, 0, 1, 1)),
    ("GlobalMaxPool", 22, [ones(0, 1, 3, 0)], {}, ones(0, 1, 1, 1)),
    (
        "Hardmax",
        1,
        [np.eye(4, dtype=np.float16).reshape(1, 2, 8)],
        {},
        np.eye(1, 16, dtype=np.float16).reshape(1, 2, 8),
    ),
    (
        "RNN",
        22,
        [ones(0, 1, 2), ones(1, 4, 2), ones(1, 4, 4)],
        {"hidden_size": 4, "layout": 1},
        ones(0, 1, 1, 4),
    ),
    ("Softplus", 22, [np.array([-1e3, 0, 1e3])], {}, np.array([0, np.log(2), 1e3])),
]


def run(name: str, version: int, inputs: list[Any], attributes: dict[str, Any], outputs: int) -> list[Any]:
    operator = getattr(Opset("", version), name)
    results = operator(*inputs, **attributes, outputs=outputs)
    return list(results) if isinstance(results, tuple) else [results]


def main() -> None:
    for k, (name, version, inputs, attributes, outputs) in enumerate(HOSTILE):
        print(k, name, end=" ", flush=True)
        try:
            results = run(name, version, inputs, attributes, outputs)
            print("gave", [None if each is None else each.shape for each in results], flush=True)
        except OnnxsmithError as error:
            print("refused", error.message, flush=True)


if __name__ == "__main__":
    main()
