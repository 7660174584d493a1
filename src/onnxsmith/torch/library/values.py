"""Operations on values that translations share: torch's element types and its promotion.

What knows nothing of torch is in `algorithms.values`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import torch

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, TensorOrArray
from onnxsmith.core.value import Array
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Fake
from onnxsmith.types.dtypes import DType


@overload
def cast(value: Tensor, dtype: DType | torch.dtype) -> Tensor: ...
@overload
def cast(value: values.Numeric | Array, dtype: DType | torch.dtype) -> TensorOrArray: ...
def cast(value: values.Numeric | Array, dtype: DType | torch.dtype) -> TensorOrArray:
    """A tensor, number or literal in an element type; a literal becomes a scalar array."""
    return values.cast(value, onnx_dtype(dtype) if isinstance(dtype, torch.dtype) else dtype)


def is_number(value: values.Numeric | Complex, number: float) -> bool:
    """True if a value is known to be a number; of a tensor, and of what only the model knows, nothing is."""
    return isinstance(value, int | float | complex) and value == number


def promoted(call: Call, *operands: values.Numeric) -> list[TensorOrArray]:
    """The operands in the element type of the result."""
    dtype = call.dtype
    return [values.cast(each, dtype) for each in operands]


def tensors(call: Call, *operands: values.Numeric) -> list[Tensor]:
    """The operands as tensors, in the element type of the result."""
    dtype = call.dtype
    return [values.as_tensor(each, dtype) for each in operands]


def common_torch_dtype(call: Call, positions: Sequence[int] = (0, 1)) -> torch.dtype:
    """The element type that torch promotes arguments to, where the result does not tell: of a comparison, say."""
    operands = [call.inputs[each] for each in positions]
    known = [_sample(each) for each in operands]
    if len(known) == 1:
        return call.input_dtype(positions[0])
    dtype = torch.result_type(known[0], known[1])
    for each in known[2:]:
        dtype = torch.promote_types(dtype, each.dtype if isinstance(each, torch.Tensor) else dtype)
    return dtype


def common(call: Call, *operands: values.Numeric) -> list[TensorOrArray]:
    """The first operands in the element type that torch promotes them to."""
    dtype = onnx_dtype(common_torch_dtype(call, range(len(operands))))
    return [values.cast(each, dtype) for each in operands]


def _sample(value: Fake) -> torch.Tensor | bool | int | float | complex:
    """A stand-in for an argument where torch is asked for the element type of a result."""
    if isinstance(value, torch.SymInt):
        return 1
    if isinstance(value, torch.SymFloat):
        return 1.5
    if isinstance(value, torch.SymBool):
        return True
    assert isinstance(value, torch.Tensor | int | float | complex)  # what torch promotes
    return value
