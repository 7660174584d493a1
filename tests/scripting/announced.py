"""The programs that the idea was announced with, as they stand."""

import math
from collections.abc import Sequence

from onnxsmith import FLOAT, INT64, graph, script
from onnxsmith import opset18 as op

M_SQRT1_2 = math.sqrt(0.5)


@script()
def gelu(X: FLOAT[...]):
    phiX = 0.5 * (op.Erf(M_SQRT1_2 * X) + 1.0)
    return X * phiX


@script()
def aten_chunk(tensor: FLOAT[...], chunks: int, dim: int = 0) -> Sequence[FLOAT[...]]:
    neg_1 = op.Constant(value_ints=[-1])
    dim_size = op.Shape(tensor)[dim]
    num_per_chunk = dim_size / chunks + op.Cast(dim_size % chunks > 0, to=INT64.dtype)
    num_chunk = dim_size / num_per_chunk
    list_split = op.Expand(num_per_chunk, op.Reshape(num_chunk, neg_1))
    remainder = dim_size % num_per_chunk
    if remainder > 0:
        list_split = op.Concat(list_split, op.Reshape(remainder, neg_1), axis=0)
    return op.SplitToSequence(tensor, list_split, axis=dim)


@script()
def ten_chunks_model(tensor: FLOAT["M"]):
    return aten_chunk(tensor, chunks=10)


@script()
def Dropout(data, ratio, training_mode, seed: float):
    if training_mode:
        rand = op.RandomUniformLike(data, seed=seed, dtype=FLOAT.dtype)
        mask = rand >= ratio
        output = op.Where(mask, data, 0) / (1.0 - ratio)
    else:
        mask = op.Expand(True, op.Shape(data))
        output = data
    return output, mask


@script()
def CumulativeSum(X):
    @graph()
    def Sum(sum_in, next):
        sum_out = sum_in + next
        scan_out = op.Identity(sum_out)
        return sum_out, scan_out

    all_sum, cumulative_sum = op.Scan(0, X, body=Sum, num_scan_inputs=1)  # noqa: RUF059  # as it was announced
    return cumulative_sum


@script()
def simple(A: FLOAT["N", "M"], W: FLOAT["M", "C"], Bias: FLOAT["C"]) -> FLOAT["N", "C"]:
    return gelu(A @ W + Bias)


@script()
def lagged(x: FLOAT["N"]):
    return x[2:] - x[:-2]


@script()
def square_loss(X: FLOAT["N", 1], Y: FLOAT["N", 1]) -> FLOAT[1, 1]:
    diff = X - Y
    return op.ReduceSum(diff * diff, keepdims=1)
