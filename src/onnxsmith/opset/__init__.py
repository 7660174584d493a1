"""Operators as Python callables, one module per opset version; `from onnxsmith import opset21 as op`."""
