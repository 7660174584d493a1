"""What the translations of linear algebra share: arguments as matrices, and results of empty ones."""

from __future__ import annotations

from typing import Any

from onnxsmith.algorithms.complex_numbers.field import Field, field
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.values import filled
from onnxsmith.types.dtypes import DType


def matrix(value: Any) -> Field:
    """An argument as it is computed with."""
    return field(value).cast(DType.DOUBLE)


def is_empty(*tensors: Any) -> bool:
    """Whether a tensor is known to have no elements."""
    parts = [each.re if isinstance(each, Field) else getattr(each, "real", each) for each in tensors]
    return any(0 in (each.type.shape or ()) for each in parts if isinstance(each, TensorValue))


def empty_results(call: Call, fill: float = 0.0) -> Any:
    """Results of one number, where there is nothing to compute from."""
    made: list[Any] = []
    for k, each in enumerate(call.outputs):
        shape = call.output_shape(k)
        result = filled(shape, fill, onnx_dtype(each.dtype))
        made.append(
            Complex(result, filled(shape, 0.0, onnx_dtype(each.dtype))) if each.dtype.is_complex else result
        )
    return made if call.has_several else made[0]
