"""Annotated functions are traced and called like any other function."""

from onnxsmith import FLOAT, INT64, Model, trace
from onnxsmith import opset17 as op


def attention(query: FLOAT[...], key: FLOAT[...], value: FLOAT[...]) -> FLOAT[...]:
    scores = op.MatMul(query, op.Transpose(key, perm=[0, 2, 1]))
    return op.Softmax(scores * 0.125, axis=-1) @ value


def pick(x: FLOAT["N", 4], position: INT64) -> tuple[FLOAT["N"], INT64]:
    return op.Gather(x, position, axis=1), op.Shape(x)


model: Model = trace(attention, FLOAT["B", "S", 8], FLOAT["B", "S", 8], FLOAT["B", "S", 8])
print(model.inputs[0].name, model.outputs[0].type, trace(pick, FLOAT["N", 4], INT64))
