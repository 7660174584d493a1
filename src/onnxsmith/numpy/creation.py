"""Arrays of what is not one yet: of numbers, lists, numpy's arrays, tensors; of zeros, ranges, grids."""

from __future__ import annotations

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import AttributeValueError, InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, as_type
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.sharing import detached
from onnxsmith.runtime.tensor import EagerTensor


@public("asarray")
def asarray(
    obj: object, /, dtype: object = None, *, device: object = None, copy: bool | None = None
) -> Array:
    """An array of numbers, lists, numpy arrays or a tensor; an array as it is, unless `copy` is True.

    >>> asarray([1, 2.5])
    Array([1. , 2.5])
    """
    check_device(device)
    made = _crossed_over(obj) if isinstance(obj, Tensor) else array_of(obj)
    if made is not obj and isinstance(obj, np.ndarray) and copy is False:
        raise AttributeValueError(
            "an array of ours never shares its elements with one of numpy's", culprit=("attribute", "copy")
        )
    if dtype is not None and made.dtype != (wanted := dtypes.read(dtype)):
        if copy is False:
            raise AttributeValueError("another element type takes a copy", culprit=("attribute", "copy"))
        made = as_type(made, wanted)
    return detached(made) if copy and made is obj else made


def _crossed_over(tensor: Tensor) -> Array:
    if isinstance(tensor, EagerTensor):
        dtypes.check(tensor.array.dtype)
        return Array(tensor.array.copy())
    kind = tensor.type
    if kind.dtype is None or kind.dtype.numpy not in dtypes.DTYPES or kind.dtype.numpy.kind == "c":
        raise InputTypeError(
            f"numpy has no array of {kind.described}",
            help="cast it first: xp.asarray(x.astype(FLOAT)); give the type of a parameter in its annotation",
        )
    if kind.shape is None:
        raise InputTypeError(
            "an array has a rank that is known, and that of this tensor is not",
            help='annotate its shape, as in FLOAT["N", "M"]',
        )
    made = Array(tensor)
    made.lock("it holds a tensor of the graph")
    return made


def check_device(device: object) -> None:
    """Refuse devices other than the one there is."""
    if device not in (None, "cpu"):
        raise AttributeValueError(
            f"there is no device {device!r}", help='arrays are on the "cpu"', culprit=("attribute", "device")
        )
