"""The language: Python functions staged into ONNX functions and models."""
