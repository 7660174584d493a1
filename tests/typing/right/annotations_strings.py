"""Dimensions as strings, numbers, None and an ellipsis."""

from onnxsmith import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT32, INT64, STRING, UINT8


def names(x: FLOAT["N", "M"], y: FLOAT["N", 4]) -> FLOAT["N", "M + 4"]:
    raise NotImplementedError


def numbers(x: INT64[2, 3], y: UINT8[1]) -> INT32[6]:
    raise NotImplementedError


def unknown(x: DOUBLE[None, 3], y: FLOAT16[...]) -> BFLOAT16[...]:
    raise NotImplementedError


def mixed(x: STRING["batch", None, 3], y: BOOL[...]) -> STRING["batch"]:
    raise NotImplementedError


print(names, numbers, unknown, mixed)
