"""Bodies that are no functions."""

from onnxsmith import BOOL, FLOAT
from onnxsmith import opset21 as op


def call(x: FLOAT, b: BOOL) -> None:
    op.If(b, then_branch=x, else_branch=lambda: x)  # error
    op.If(b, then_branch=op.Relu(x), else_branch=op.Relu(x))  # error
    op.If(x, then_branch=lambda: x, else_branch=lambda: x)  # error
    op.If(b, lambda: x, lambda: x)  # error
    op.Loop(10, True, x, body=None)  # error
    op.Loop(1.5, True, x, body=lambda i, c, v: (c, v))  # error
    op.Scan(x, x, body=lambda s, e: (s, e))  # error
    op.Scan(x, x, body="body", num_scan_inputs=1)  # error
