"""What type checkers see of `onnxsmith.values`."""

from onnxsmith.opset._stubs.functions import OnnxFunction as OnnxFunction
from onnxsmith.opset._stubs.opset_class import Opset as Opset
