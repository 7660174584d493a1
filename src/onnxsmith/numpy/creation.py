"""Arrays of what is not one yet: of numbers, lists, numpy's arrays, tensors; of zeros, ranges, grids."""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.semantics.number import Number
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import (
    AttributeValueError,
    DeviceError,
    InputTypeError,
    ShapeError,
    UnknownRankError,
)
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, Device, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import (
    array_from,
    array_of,
    as_type,
    check_fitting,
    constant_of,
    is_plain,
    tensor_of,
)
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.sharing import detached
from onnxsmith.runtime.tensor import EagerTensor, adopted
from onnxsmith.schema.foreign_arrays import is_foreign
from onnxsmith.schema.promote import Place


@public("asarray")
def asarray(
    obj: ArrayLike, /, dtype: DTypeLike | None = None, *, device: Device = None, copy: bool | None = None
) -> Array:
    """An array of numbers, lists, numpy arrays or a tensor; an array as it is, unless `copy` is True.

    Elements of a numpy array are copied: what is written to one of the two is not seen in the other. A real tensor
    with a last dimension of 2 and a complex `dtype` is read as `.tensor` gives complex numbers: real and imaginary
    parts.

    >>> import onnxsmith.numpy as xp
    >>> xp.asarray([1, 2.5])
    Array([1. , 2.5])
    """
    check_device(device)
    if copy is False and (isinstance(obj, EagerTensor) or not isinstance(obj, Array | Tensor)):
        raise AttributeValueError(
            f"an array of ours never shares its elements with {described_type(type(obj))}",
            help="leave copy out: the elements are copied",
            culprit=("attribute", "copy"),
        )
    if is_foreign(obj):
        obj = cast(Any, adopted(obj, Place("xp.asarray", "its array", ("input", 0))))
    if dtype is not None and is_plain(obj):
        return constant_of(obj, dtypes.read(dtype))
    is_tensor = isinstance(cast(object, obj), Tensor) and not isinstance(obj, Number)
    made = _crossed_over(cast(Tensor, obj), is_chosen=device is not None) if is_tensor else array_of(obj)
    if is_tensor and dtype is not None and dtypes.read(dtype).kind == "c":
        made = _of_parts(made)
    if dtype is not None and made.dtype != (wanted := dtypes.read(dtype)):
        if copy is False:
            raise AttributeValueError("another element type takes a copy", culprit=("attribute", "copy"))
        check_fitting(obj, wanted)
        made = as_type(made, wanted)
    is_own = made is obj and not copy and not made.is_number
    return made if is_own or (made.is_symbolic and is_tensor and not copy) else detached(made)


def _crossed_over(tensor: Tensor, *, is_chosen: bool) -> Array:
    if isinstance(tensor, EagerTensor):
        dtypes.check(tensor.array.dtype)
        if tensor.device != "cpu" and not is_chosen:
            raise DeviceError(
                f"the tensor is on the device {tensor.device}, and arrays are on the CPU",
                help='xp.asarray(x, device="cpu") copies it; a function under xp.jit takes it where it is',
            )
        return Array(tensor.numpy().copy())
    check_crossing(tensor)
    made = Array(tensor)
    made.lock("it holds a tensor of the graph")
    return made


def check_crossing(tensor: Tensor) -> None:
    """Refuse a tensor of the graph that no array can hold; an array knows its element type and its rank."""
    kind = tensor.type
    if kind.dtype is None:
        raise InputTypeError(
            "an array has an element type that is known, and that of this tensor is not",
            help='give the type of a parameter in its annotation, x: FLOAT["N"], or cast it first: x.astype(FLOAT)',
            needs_values=True,  # jit and calls know it
        )
    if kind.dtype.numpy not in dtypes.DTYPES or kind.dtype.numpy.kind == "c":
        raise InputTypeError(
            f"numpy has no array of {kind.described}",
            help="cast it first: xp.asarray(x.astype(FLOAT))",
        )
    if kind.shape is None:
        raise UnknownRankError(
            "an array has a rank that is known, and that of this tensor is not",
            help='annotate its shape, as in FLOAT["N", "M"]',
        )


def _of_parts(pairs: Array) -> Array:
    """Complex numbers of what `.tensor` gives for them."""
    if pairs.dtype.kind == "c":
        return pairs
    size = pairs.shape[-1] if pairs.ndim else None
    if pairs.dtype.kind != "f" or not pairs.ndim or (isinstance(size, int) and size != 2):
        raise ShapeError(
            "complex numbers are read from a tensor of floats with a last dimension of 2, the real and the imaginary "
            f"parts, and this one is {pairs.dtype.name} of shape {pairs.shape}",
            help="real numbers are converted as arrays: xp.asarray(x).astype(xp.complex64)",
        )
    return _joined_parts(pairs)


@recorded()
def _joined_parts(pairs: Array) -> Array:
    given = as_type(pairs, dtypes.read(np.float32)) if pairs.dtype.itemsize < 4 else pairs
    tensor = tensor_of(given)
    parts = [op.Gather(tensor, np.int64(place), axis=-1) for place in (0, 1)]
    return array_from(Field(parts[0], parts[1]))


def check_device(device: Device) -> None:
    """Refuse devices other than the one there is."""
    if device not in (None, "cpu"):
        raise AttributeValueError(
            f"there is no device {device!r} for arrays",
            help='arrays are on the "cpu"; tensors go to others, tensor(x).to_device("cuda"), and under xp.jit a '
            "function runs on them there",
            culprit=("attribute", "device"),
        )


@public("copy")
def copy(x: ArrayLike, order: str = "K") -> Array:
    """An array with the same elements, that shares them with none.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([1, 2])
    >>> y = xp.copy(x)
    >>> y[0] = 9
    >>> x
    Array([1, 2])
    """
    if order not in ("C", "F", "A", "K"):
        raise AttributeValueError(
            f"order is one of C, F, A, K, not {order!r}", culprit=("attribute", "order")
        )
    given = array_of(x)
    is_plain = order == "C" or (given._is_plain and order != "F") or given.ndim <= 1
    return detached(given, is_plain=is_plain)


@public("array")
def array(
    obj: ArrayLike, dtype: DTypeLike | None = None, *, copy: bool | None = True, ndmin: int = 0
) -> Array:
    """An array of its own, of numbers, lists, or another.

    >>> import onnxsmith.numpy as xp
    >>> xp.array([[1, 2]])
    Array([[1, 2]])
    """
    made = asarray(obj, dtype, copy=copy)
    return made if made.ndim >= ndmin else made[(None,) * (ndmin - made.ndim)]


@public("_on_device")
def on_device(x: Array, device: Device, stream: None) -> Array:
    """`x.to_device(device)`"""
    check_device(device)
    if stream is not None:
        raise AttributeValueError("the cpu has no streams", culprit=("attribute", "stream"))
    return x


@public("_dlpack")
def dlpack(x: Array, stream: None, device: tuple[int, int] | None, copy: bool | None) -> object:
    """`x.__dlpack__()`: a copy, since elements are never changed."""
    if stream is not None or device not in (None, (1, 0)):
        raise BufferError("arrays are on the cpu")
    if copy is False:
        raise BufferError("an array of ours never shares its elements: it can be exported as a copy alone")
    return np.array(x).__dlpack__()


@public("from_dlpack")
def from_dlpack(x: ArrayLike, /, *, device: Device = None, copy: bool | None = None) -> Array:
    """An array of another library's, through dlpack.

    >>> import onnxsmith.numpy as xp
    >>> import numpy as np
    >>> xp.from_dlpack(np.array([1.0, 2.0]))
    Array([1., 2.])
    """
    check_device(device)
    if isinstance(x, Array):
        return detached(x)
    if copy is False:
        raise BufferError("an array of ours never shares its elements with another library's")
    given: Any = x  # numpy's own arrays, too
    if not hasattr(given, "__dlpack__"):
        raise InputTypeError(
            f"xp.from_dlpack takes an array of another library, not {described_type(type(x))}",
            help="xp.asarray makes an array of numbers and lists",
            culprit=0,
        )
    if not isinstance(given, EagerTensor):
        given = adopted(given, Place("xp.from_dlpack", "its array", ("input", 0)))
    return detached(_crossed_over(given, is_chosen=device is not None))
