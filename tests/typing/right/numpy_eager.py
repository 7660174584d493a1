"""Arrays in, arrays out, and the result is used as an array."""

import numpy as np

from onnxsmith import opset21 as op

x = np.random.default_rng(0).random((2, 3)).astype(np.float32)
scores = op.Softmax(op.MatMul(x, x.T), axis=-1)
print(scores.shape, scores.dtype, scores.mean(), scores[0, 1], scores.tolist())
total: float = float(scores.sum())
stacked = np.concatenate([scores, op.Relu(scores)])
np.testing.assert_allclose(op.Add(x, x), x + x)
rows, columns = scores.shape
halved = scores / 2 + np.sqrt(scores) - op.Sqrt(scores)
flag = bool((op.Greater(x, 0.5)).any())
values, indices = op.TopK(x, [2])
print(values.max(), indices.argmax(), stacked.nbytes, halved.T, rows + columns, flag, total)
