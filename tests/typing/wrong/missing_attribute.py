"""Attributes without a default that are left out."""

import numpy as np

from onnxsmith import FLOAT
from onnxsmith import opset21 as op
from onnxsmith import opset_ai_onnx_ml5 as ml


def call(x: FLOAT) -> None:
    op.Concat(x, x)  # error
    op.Cast(x)  # error
    op.MaxPool(x)  # error
    op.DepthToSpace(x)  # error
    op.Einsum(x, x)  # error
    op.If(x > 0, then_branch=lambda: x)  # error
    op.Loop(10, True, x)  # error
    op.Concat(np.ones(3), np.ones(3))  # error
    ml.LinearClassifier(x)  # error
