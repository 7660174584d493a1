"""Names for code that comes from onnxscript: `from onnxsmith.onnx_types import FLOAT`."""

from onnxsmith.types.names import *  # noqa: F403  # the element types, all of them and nothing else
from onnxsmith.types.names import TYPE_NAMES as _NAMES
from onnxsmith.types.value_types import TensorType as TensorType


def __dir__() -> list[str]:
    return [*_NAMES, "TensorType"]
