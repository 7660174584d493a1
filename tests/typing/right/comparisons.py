"""Comparisons give BOOL, in graphs and in conditions."""

import numpy as np

from onnxsmith import BOOL, FLOAT, INT64
from onnxsmith import opset21 as op

array = np.zeros(3, dtype=np.float32)


def compare(x: FLOAT, y: FLOAT, i: INT64) -> BOOL:
    a: BOOL = x < y
    b: BOOL = x <= 1.0
    c: BOOL = x > array
    d: BOOL = array >= y
    e: BOOL = x == y
    f: BOOL = x != 0
    g: BOOL = i == 3
    h: BOOL = 0 < x
    return a & b | c ^ ~d & (e | f) & g & h & True


def branch(x: FLOAT) -> FLOAT:
    if x > 0:
        return x
    while x.sum() < 10:
        x = x + 1
    return x if (x == x).all() else -x


def select(x: FLOAT, y: FLOAT) -> FLOAT:
    return op.Where((x > 0) & (y > 0) | (x == y), x, y)


def chained(x: FLOAT) -> FLOAT:
    return x if 0 < x < 1 else x * 0


def largest(x: FLOAT, y: FLOAT) -> FLOAT:
    return max(x, y) + min(x, y)


print(compare, branch, select, chained, largest)
