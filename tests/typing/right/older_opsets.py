"""Opsets of years ago, with the signatures they had."""

from onnxsmith import (
    FLOAT,
    INT64,
    Tensor,
    opset1,
    opset6,
    opset7,
    opset9,
    opset10,
    opset11,
    opset12,
    opset13,
    opset16,
)


def first(x: FLOAT, y: FLOAT) -> FLOAT:
    return opset1.Add(x, y, broadcast=1, axis=0)


def reshape(x: FLOAT) -> FLOAT:
    return opset6.Reshape(x, [2, -1]) + opset7.Dropout(x, ratio=0.3)


def upsample(x: FLOAT) -> FLOAT:
    return opset9.Upsample(x, [1.0, 1.0, 2.0, 2.0], mode="linear")


def slices(x: FLOAT) -> FLOAT:
    return opset9.Slice(x, starts=[0], ends=[2], axes=[1]) + opset10.Slice(x, [0], [2])


def scatter(x: FLOAT, i: INT64) -> FLOAT:
    return (
        opset10.Scatter(x, i, x)
        + opset11.ScatterElements(x, i, x)
        + opset16.ScatterElements(x, i, x, reduction="mul")
    )


def reduce(x: FLOAT) -> FLOAT:
    return (
        opset11.ReduceSum(x, axes=[0])
        + opset13.ReduceSum(x, [0])
        + opset12.Clip(x, 0.0, 6.0)
        + opset6.Clip(x, min=0.0)
    )


def cast(x: FLOAT) -> Tensor:
    return opset1.Cast(x, to="INT64")


print(first, reshape, upsample, slices, scatter, reduce, cast)
