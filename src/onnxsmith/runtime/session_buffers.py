"""Buffers of a session: for its small results, and for small inputs of one form, which each call copies there."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.core.operands import is_static
from onnxsmith.graphs.run_values import Array
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.device_arrays import OrtArray
from onnxsmith.runtime.feeds import NATIVE, from_value
from onnxsmith.runtime.onnxruntime_api import Binding, OrtValue
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: Results of at most so many elements are copied out of a buffer: asking ONNX Runtime for its results costs more.
_MOST_SMALL = 1024
#: Inputs of at most so many bytes are copied into a buffer that is bound: to bind an array costs as much as 20 kB.
_MOST_COPIED = 1 << 14


class Form(NamedTuple):
    """The form of a call that was accepted: how its inputs get into the session."""

    #: Bindings with inputs of this form, one for each set of the state; None where each call binds its arrays.
    bindings: list[Binding] | None
    #: The buffers that these read, and which inputs of a call they are for.
    buffers: list[tuple[int, Array]]


#: Of calls whose inputs are bound each time.
ANY_FORM = Form(None, [])


def is_small(array: Any) -> bool:
    """True for an array of numpy that is copied sooner than bound."""
    return (
        isinstance(array, np.ndarray)
        and cast(Array, array).nbytes <= _MOST_COPIED
        and DType.from_numpy(cast(Array, array).dtype) in NATIVE
    )


def result_of(value: OrtValue, device: str, *, wants_tensors: bool) -> Any:
    """A result on a device as an array of numpy, or as a tensor that stays there."""
    if device == "cpu":
        array = from_value(value)
        return EagerTensor(cast(Array, array)) if wants_tensors else array
    array = OrtArray(value, device)
    return EagerTensor(cast(Any, array)) if wants_tensors else array.numpy()


def result_buffer(kind: AnyValueType) -> OrtValue | None:
    """A buffer for a small result of fixed size, on the CPU; None for other results."""
    if not isinstance(kind, TensorType) or kind.dtype is None or kind.shape is None:
        return None
    if kind.dtype not in NATIVE or not is_static(kind.shape) or math.prod(kind.shape) > _MOST_SMALL:
        return None
    return onnxruntime_api.empty_value(kind.shape, kind.dtype)
