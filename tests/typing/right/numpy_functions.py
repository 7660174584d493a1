"""Functions on arrays, with numpy's own annotations."""

from typing import Any

import numpy as np
import numpy.typing as npt

from onnxsmith import opset18 as op


def normalize(x: npt.NDArray[np.float32], epsilon: float = 1e-5) -> npt.NDArray[np.float32]:
    mean = op.ReduceMean(x, [-1], keepdims=1)
    centered = op.Sub(x, mean)
    variance = op.ReduceMean(op.Mul(centered, centered), [-1], keepdims=1)
    return op.Div(centered, op.Sqrt(op.Add(variance, np.float32(epsilon))))


def one_hot(labels: np.ndarray[Any, np.dtype[np.int64]], depth: int) -> np.ndarray[Any, Any]:
    return op.OneHot(labels, depth, np.array([0.0, 1.0], dtype=np.float32), axis=-1)


out = normalize(np.ones((2, 4), dtype=np.float32))
print(out.shape, one_hot(np.array([0, 2]), 3).sum(axis=1))
