"""numpy's indexing, and functional updates."""

import numpy as np

from onnxsmith import BOOL, FLOAT, INT64


def read(x: FLOAT["N", 4], i: INT64, ids: INT64["K"], mask: BOOL["N"]) -> FLOAT[...]:
    a = x[0]
    b = x[-1, 2]
    c = x[1:, ::2]
    d = x[..., None]
    e = x[:, [0, 2]]
    f = x[np.array([0, 1])]
    g = x[i]
    h = x[i : i + 2]
    j = x[ids]
    k = x[mask]
    m = x[x > 0]
    n = x[ids, 1:]
    return a + b + c + d + e + f + g + h + j + k + m + n


def write(x: FLOAT["N", 4], i: INT64) -> FLOAT["N", 4]:
    return x.at[0].set(1.0).at[i, 1:].set(x[i, 1:]).at[..., 0].add(2).at[x < 0].set(0)


print(read, write)
