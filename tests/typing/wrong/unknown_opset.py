"""Names that the package does not have."""

from onnxsmith import FLOAT32  # error
from onnxsmith import opset0  # error
from onnxsmith import opset_ai_onnx_ml99  # error
from onnxsmith import Float  # error
import onnxsmith

print(FLOAT32, opset0, opset_ai_onnx_ml99, Float, onnxsmith.script_everything)  # error
