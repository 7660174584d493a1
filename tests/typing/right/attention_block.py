"""A decoder block as one would write it."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onnxsmith import FLOAT, INT64, Dim, trace
from onnxsmith import opset21 as op

B, S = Dim("batch"), Dim("sequence")
Weights = npt.NDArray[np.float32]


@dataclass
class Block:
    query_key_value: Weights
    projection: Weights
    up: Weights
    down: Weights
    scale: Weights
    heads: int

    def attend(self, x: FLOAT[B, S, 64]) -> FLOAT[B, S, 64]:
        batch, length, width = x.shape
        q, k, v = op.Split(x @ self.query_key_value, num_outputs=3, axis=-1)
        heads = [self.split(each, batch, length, width) for each in (q, k, v)]
        scores = heads[0] @ op.Transpose(heads[1], perm=[0, 1, 3, 2]) / math.sqrt(width // self.heads)
        causal = op.Trilu(op.Expand(np.float32(-1e9), [length, length]), 1, upper=1)
        attended = op.Softmax(scores + causal, axis=-1) @ heads[2]
        merged = op.Reshape(op.Transpose(attended, perm=[0, 2, 1, 3]), [0, 0, 64])
        return merged @ self.projection

    def split(self, x: FLOAT, batch: INT64, length: INT64, width: int) -> FLOAT:
        return op.Transpose(
            op.Reshape(x, [batch, length, self.heads, width // self.heads]), perm=[0, 2, 1, 3]
        )

    def __call__(self, x: FLOAT[B, S, 64]) -> FLOAT[B, S, 64]:
        x = x + self.attend(op.LayerNormalization(x, self.scale))
        return x + op.Gelu(op.LayerNormalization(x, self.scale) @ self.up) @ self.down


def weights(*shape: int) -> Weights:
    return np.full(shape, 0.01, dtype=np.float32)


block = Block(weights(64, 192), weights(64, 64), weights(64, 256), weights(256, 64), weights(64), heads=4)
print(trace(block, FLOAT[B, S, 64]))
