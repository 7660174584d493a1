"""Element types, value types and the annotations that stand for them."""

from onnxsmith.types.dtypes import DType as DType
from onnxsmith.types.value_types import AnyValueType as AnyValueType
from onnxsmith.types.value_types import Dim as Dim
from onnxsmith.types.value_types import Dimension as Dimension
from onnxsmith.types.value_types import MapType as MapType
from onnxsmith.types.value_types import OptionalType as OptionalType
from onnxsmith.types.value_types import SequenceType as SequenceType
from onnxsmith.types.value_types import Shape as Shape
from onnxsmith.types.value_types import TensorType as TensorType

__all__ = [
    "AnyValueType",
    "DType",
    "Dim",
    "Dimension",
    "MapType",
    "OptionalType",
    "SequenceType",
    "Shape",
    "TensorType",
]


def __dir__() -> list[str]:
    return list(__all__)
