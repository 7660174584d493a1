"""Python's operators where ONNX has none for the element type, or mixes."""

from onnxsmith import BOOL, FLOAT, FLOAT16, INT32, INT64, STRING


def call(x: FLOAT, h: FLOAT16, i: INT64, j: INT32, b: BOOL, s: STRING) -> None:
    print(x + i)  # error
    print(x * h)  # error
    print(i - j)  # error
    print(x @ h)  # error
    print(x < i)  # error
    print(i == j)  # error
    print(x != b)  # error
    print(b + b)  # error
    print(-b)  # error
    print(x & x)  # error
    print(~x)  # error
    print(x << 1)  # error
    print(s + s)  # error
    print(b * x)  # error
    x += i  # error
