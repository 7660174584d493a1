"""Operators as Python callables, made on first use; `from onnxsmith import opset21 as op`."""
