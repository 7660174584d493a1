"""Python's operators between tensors, arrays and numbers, on both sides."""

import numpy as np

from onnxsmith import DOUBLE, FLOAT, FLOAT16, INT32, INT64

array = np.ones(3, dtype=np.float32)


def floats(x: FLOAT, y: FLOAT) -> FLOAT:
    a: FLOAT = x + y - x * y / y
    b: FLOAT = x // y % y**x @ y
    c: FLOAT = 1.5 + x - 2 * x / 3
    d: FLOAT = 2**x // 3 % 5
    e: FLOAT = array + x - array * y / array
    f: FLOAT = x + array - y * array
    g: FLOAT = array @ x @ array
    h: FLOAT = np.float32(2) * x + np.float32(3)
    i: FLOAT = -x + +y + abs(x) + round(y) + round(x, 2)
    j: FLOAT = x + [1.0, 2.0, 3.0]
    x += y
    x *= 2
    x /= array
    return a + b + c + d + e + f + g + h + i + j + x


def integers(i: INT64, j: INT64) -> INT64:
    return (i + 1) // 2 % 3 - j * i / j + i**2 + 7 - 3 * j


def others(d: DOUBLE, h: FLOAT16, n: INT32) -> tuple[DOUBLE, FLOAT16, INT32]:
    return d * 2.5 + 1, h * 0.5, n * 2 + True


print(floats, integers, others)
