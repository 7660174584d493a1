"""What type checkers see of `onnxsmith.onnx_opset`: the opsets, under the name that onnxscript gives the place."""

from onnxsmith.opset._stubs.opsets import *
