"""A shape with a name of its own, used in several signatures."""

from onnxsmith import FLOAT, INT64, Dim, trace
from onnxsmith import opset21 as op

T = Dim("tokens")
Tokens = INT64[T]
Hidden = FLOAT[T, 16]


def embed(tokens: Tokens, table: FLOAT[100, 16]) -> Hidden:
    return op.Gather(table, tokens)


def residual(x: Hidden, update: Hidden) -> Hidden:
    return x + update


print(trace(embed, INT64["T"], FLOAT[100, 16]), residual)
