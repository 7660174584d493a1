"""Outputs that come when they are asked for."""

import numpy as np

from onnxsmith import BOOL, FLOAT, INT64
from onnxsmith import opset21 as op


def lstm(x: FLOAT, w: FLOAT, r: FLOAT) -> tuple[FLOAT, FLOAT, FLOAT]:
    only: FLOAT = op.LSTM(x, w, r, hidden_size=4)
    also: FLOAT = op.LSTM(x, w, r, hidden_size=4, outputs=1)
    _, last = op.LSTM(x, w, r, hidden_size=4, outputs=2)
    y, y_h, y_c = op.LSTM(x, w, r, hidden_size=4, outputs=3)
    return only + also + y, last + y_h, y_c


def dropout(x: FLOAT) -> tuple[FLOAT, BOOL]:
    y, mask = op.Dropout(op.Dropout(x, 0.1), 0.5, True, outputs=2)
    return y, mask


def unique(x: FLOAT) -> tuple[FLOAT, INT64, INT64, INT64]:
    return op.Unique(x, axis=0, outputs=4)


y, mask = op.Dropout(np.ones(4, dtype=np.float32), outputs=2)
pooled, where = op.MaxPool(np.ones((1, 1, 4, 4), np.float32), kernel_shape=[2, 2], outputs=2)
print(y.sum(), mask.shape, pooled.max(), where.dtype, lstm, dropout, unique)
