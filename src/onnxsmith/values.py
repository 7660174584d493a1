"""Names for code that comes from onnxscript: `values.Opset`, `values.OnnxFunction`."""

from onnxsmith.opset.custom import Opset as Opset
from onnxsmith.scripting.functions.function import ScriptFunction as OnnxFunction

__all__ = ["OnnxFunction", "Opset"]


def __dir__() -> list[str]:
    return list(__all__)
