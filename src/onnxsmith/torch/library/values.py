"""What translations do to values again and again: torch's element types and its promotion.

What knows nothing of torch is in `algorithms.values`, and is given from here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.values import axes_of as axes_of
from onnxsmith.algorithms.values import axis_of as axis_of
from onnxsmith.algorithms.values import has_zero as has_zero
from onnxsmith.algorithms.values import is_static as is_static
from onnxsmith.algorithms.values import literal as literal
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import Array, TensorOrArray, TensorValue, Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.types.dtypes import DType

#: A tensor of the graph, real or complex.
Given: TypeAlias = TensorValue | Complex
#: What a translation gives: tensors, and what becomes one.
Translated: TypeAlias = "Given | Array | np.generic[Any] | bool | int | float | Sequence[Translated] | None"
#: What a translation of several results gives: tensors, and numbers that become some.
Results: TypeAlias = Sequence[TensorValue | np.generic]

# Translations are not typed yet: what they hand on may be of any class.
constant: Any = values.constant
dtype_of: Any = values.dtype_of
expand: Any = values.expand
filled: Any = values.filled
int64s: Any = values.int64s
rank_of: Any = values.rank_of
reshape: Any = values.reshape


def cast(value: Any, dtype: DType | torch.dtype) -> Any:
    """A tensor, number or literal in an element type; a literal becomes a scalar array."""
    return values.cast(value, onnx_dtype(dtype) if isinstance(dtype, torch.dtype) else dtype)


def promoted(call: Call, *operands: values.Numeric) -> list[TensorOrArray]:
    """The operands in the element type of the result."""
    dtype = call.dtype
    return [values.cast(each, dtype) for each in operands]


def tensors(call: Call, *operands: values.Numeric) -> list[TensorValue]:
    """The operands as tensors, in the element type of the result."""
    dtype = call.dtype
    return [values.as_tensor(each, dtype) for each in operands]


def common_torch_dtype(call: Call, positions: Sequence[int] = (0, 1)) -> torch.dtype:
    """The element type that torch promotes arguments to, where the result does not tell: of a comparison, say."""
    operands = [call.inputs[each] for each in positions]
    known = [_sample(each) for each in operands]
    result = known[0]
    if len(known) == 1:
        return result.dtype
    dtype = torch.result_type(known[0], known[1])
    for each in known[2:]:
        dtype = torch.promote_types(dtype, each.dtype if isinstance(each, torch.Tensor) else dtype)
    return dtype


def common(call: Call, *values: Any) -> list[Any]:
    """The first operands in the element type that torch promotes them to."""
    dtype = common_torch_dtype(call, range(len(values)))
    return [cast(each, dtype) for each in values]


def _sample(value: Any) -> Any:
    if isinstance(value, torch.SymInt):
        return 1
    if isinstance(value, torch.SymFloat):
        return 1.5
    return True if isinstance(value, torch.SymBool) else value


def as_tensor(value: Any, dtype: DType | torch.dtype | None = None) -> Any:
    """Anything as a tensor (or array) that operators take; numbers get `dtype`."""
    if dtype is None and isinstance(value, Value) and not isinstance(value, Number):
        return value
    if dtype is None:
        kind = getattr(value, "kind", None)
        is_float = isinstance(value, float) or kind == "float"
        is_bool = isinstance(value, bool) or kind == "bool"
        dtype = DType.FLOAT if is_float else DType.BOOL if is_bool else DType.INT64
    return cast(value, dtype)
