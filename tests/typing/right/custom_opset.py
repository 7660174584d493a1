"""Operators of a domain that only the user knows."""

import numpy as np

from onnxsmith import FLOAT, Opset, trace
from onnxsmith import opset21 as op

custom = Opset("my.domain", 1)


def network(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
    a = custom.Frobnicate(x, strength=3, mode="hard", table=np.ones(3))
    b, c = custom.Divide(x, outputs=2)
    d: FLOAT = custom["With Spaces"](x)
    return op.Add(a, b) + c + d + Opset("", 21).Relu(x)


print(custom.domain, custom.version, trace(network, FLOAT["N", 4]))
