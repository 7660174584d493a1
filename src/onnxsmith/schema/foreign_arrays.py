"""Arrays of other libraries as numpy's arrays over the same memory, by the dlpack protocol.

Memory of the CPU is read here, without a copy: torch's tensors, jax's and cupy's host arrays, anything with
`__dlpack__`. Of memory on other devices no element is read: the runtime takes it over.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from onnxsmith.errors import InputTypeError
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Devices of the protocol whose memory the CPU reads: its own, what is pinned for CUDA or ROCm, what both share.
_OF_THE_CPU = frozenset({1, 3, 11, 13})
#: What the protocol calls devices, as people do.
DEVICE_NAMES = {1: "cpu", 2: "cuda", 7: "vulkan", 8: "metal", 10: "rocm", 14: "oneapi", 15: "webgpu"}

#: (code, bits) of an element in the protocol -> the element type.
_ELEMENTS: dict[tuple[int, int], DType] = {
    **{(0, bits): DType[f"INT{bits}"] for bits in (8, 16, 32, 64)},
    **{(1, bits): DType[f"UINT{bits}"] for bits in (8, 16, 32, 64)},
    (2, 16): DType.FLOAT16,
    (2, 32): DType.FLOAT,
    (2, 64): DType.DOUBLE,
    (4, 16): DType.BFLOAT16,
    (5, 64): DType.COMPLEX64,
    (5, 128): DType.COMPLEX128,
    (6, 8): DType.BOOL,
    (10, 8): DType.FLOAT8E4M3FN,
    (11, 8): DType.FLOAT8E4M3FNUZ,
    (12, 8): DType.FLOAT8E5M2,
    (13, 8): DType.FLOAT8E5M2FNUZ,
    (14, 8): DType.FLOAT8E8M0,
}
#: The reverse, for arrays that are given to other libraries.
ELEMENT_CODES = {dtype: code for code, dtype in _ELEMENTS.items()}


class ForeignArray(Protocol):
    """An array of another library, as the protocol has it."""

    def __dlpack__(self) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


class _Tensor(ctypes.Structure):
    """`DLTensor` of dlpack.h, which begins a `DLManagedTensor`."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DeviceArray:
    """An array in the memory of a device: element type and shape are known, and no element is read by itself.

    The runtime makes them, of a class of its own. numpy's functions refuse them, since that would move the elements.
    """

    __slots__ = ("__weakref__", "device", "dtype", "shape")

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], device: str) -> None:
        self.dtype = dtype
        self.shape = shape
        #: As in `cuda:0`.
        self.device = device

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> TensorType:
        return TensorType(DType.from_numpy(self.dtype), self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements as an array of numpy: a copy, except on the CPU."""
        raise NotImplementedError

    def item(self) -> complex:
        """The only element as a Python number."""
        return self.numpy().item()

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        raise InputTypeError(
            f"the tensor is on the device {self.device}, and numpy computes on the CPU",
            help="give x.numpy(), which copies it, or compute with operators, which run on its device",
        )


class UnreadableArray(Exception):
    """An array of another library that cannot come in; the text says why, `help` what to do."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


def array_on_device(value: object) -> DeviceArray | None:
    """The array on a device that a value is, or is a tensor of; None for all else."""
    found = value if isinstance(value, DeviceArray) else getattr(value, "array", None)
    return found if isinstance(found, DeviceArray) else None


def is_foreign(value: object) -> bool:
    """True for an array of another library that has the dlpack protocol.

    >>> import numpy as np
    >>> is_foreign(np.zeros(2)), is_foreign([1.0])
    (False, False)
    """
    return _is_foreign_class(type(value))


@functools.lru_cache(maxsize=256)
def _is_foreign_class(kind: type) -> bool:
    # Values of ours, and arrays of ours that compute as numpy does, say themselves how they come in.
    is_ours = hasattr(kind, "is_symbolic") or hasattr(kind, "tensor")
    return hasattr(kind, "__dlpack__") and not issubclass(kind, np.ndarray | np.generic) and not is_ours


def read_foreign(value: object) -> np.ndarray[Any, Any] | DeviceArray:
    """The array over the memory of another library's: numpy's for that of the CPU, a device's array else.

    Raises UnreadableArray. The result shares the memory.
    """
    given = cast(Any, value)
    if _is_of_torch(type(value)) and given.device.type == "cpu":
        # The same memory as by the protocol, whose two methods are Python in PyTorch and take 2 µs more.
        try:
            return given.numpy()
        except (RuntimeError, TypeError):  # below it says why, or comes in as what numpy lacks
            pass
    try:
        kind, index = given.__dlpack_device__()
        if int(kind) not in _OF_THE_CPU:
            return _on_device(given, int(kind), int(index))
        try:
            return np.from_dlpack(given)
        except (BufferError, RuntimeError):  # element types that numpy does not have, among other reasons
            return _array_over(given.__dlpack__())
    except (BufferError, RuntimeError, TypeError, ValueError, AttributeError) as error:
        if getattr(value, "requires_grad", False):
            raise UnreadableArray("it requires a gradient, which would be lost", "give x.detach()") from error
        remedy = next((what for word, what in _REMEDIES.items() if word in str(error)), None)
        raise UnreadableArray(str(error), remedy) from error


#: A word of what PyTorch says of a tensor that cannot go out -> what to give instead.
_REMEDIES = {"conjugate": "give x.resolve_conj()", "layout": "give x.to_dense()"}


class ForeignDeviceArray(DeviceArray):
    """An array of another library on a device, as its capsule of the protocol says."""

    __slots__ = ("adopted", "capsule")

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], device: str, capsule: object) -> None:
        super().__init__(dtype, shape, device)
        self.capsule = capsule
        #: The array as the runtime has it, which takes a capsule once.
        self.adopted: DeviceArray | None = None

    def numpy(self) -> np.ndarray[Any, Any]:
        if self.adopted is None:
            raise NotImplementedError
        return self.adopted.numpy()


def _on_device(value: Any, kind: int, index: int) -> ForeignDeviceArray:
    name = DEVICE_NAMES.get(kind)
    if name is None:
        raise UnreadableArray(f"it is on a device of the kind {kind}, where nothing of ours computes")
    # For CUDA: what was begun for it is done before the default stream goes on, which a run of ours waits for.
    capsule = (
        value.__dlpack__(stream=_stream_for(cast("type[object]", type(value))))
        if name == "cuda"
        else value.__dlpack__()
    )
    tensor = tensor_of(capsule)
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = cast("list[int]", tensor.strides[: tensor.ndim]) if tensor.strides else None
    if strides is not None and not _is_packed(shape, strides):
        if not hasattr(value, "contiguous"):
            raise UnreadableArray("its elements do not lie in order", "give a contiguous copy")
        return _on_device(value.contiguous(), kind, index)  # copied once, on its device
    return ForeignDeviceArray(_dtype_of(tensor).numpy, shape, f"{name}:{index}", capsule)


@functools.lru_cache(maxsize=64)
def _stream_for(kind: type) -> int:
    """The stream of CUDA that a library has to be done before: the default one (1), or none (-1).

    Before a run we wait for all that the device was given, on every stream. PyTorch gives it all work at once, so that
    this suffices; noting an event for the stream takes it four times as long as the rest of `__dlpack__`.
    """
    return -1 if _is_of_torch(kind) else 1


@functools.lru_cache(maxsize=64)
def _is_of_torch(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "torch"


def _is_packed(shape: tuple[int, ...], strides: list[int]) -> bool:
    """True if the elements lie in order, without gaps."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if stride != step and size != 1:
            return 0 in shape
        step *= size
    return True


def _dtype_of(tensor: _Tensor) -> DType:
    dtype = _ELEMENTS.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise UnreadableArray(
            f"its elements have the code {tensor.code} and {tensor.bits} bits, which ONNX does not have"
        )
    return dtype


def tensor_of(capsule: object) -> _Tensor:
    """The description in a capsule of the protocol, over its own memory: writing to a field changes it."""
    return _Tensor.from_address(_capsule_pointer()(capsule, b"dltensor"))


@functools.cache
def _capsule_pointer() -> Callable[[object, bytes], int]:
    # A prototype of its own: the attributes of `ctypes.pythonapi` belong to the whole process.
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return cast("Callable[[object, bytes], int]", prototype(("PyCapsule_GetPointer", ctypes.pythonapi)))


def _array_over(capsule: object) -> np.ndarray[Any, Any]:
    tensor = tensor_of(capsule)
    dtype = _dtype_of(tensor)
    item = dtype.numpy.itemsize
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    if 0 in shape:
        return np.empty(shape, dtype.numpy)
    steps = [tensor.strides[axis] for axis in range(tensor.ndim)] if tensor.strides else None
    strides = None if steps is None else tuple(step * item for step in steps)
    # The least and the greatest address of an element: steps may be negative.
    reach = (
        _packed(shape)
        if steps is None
        else [(size - 1) * step for size, step in zip(shape, steps, strict=True)]
    )
    low, high = sum(min(each, 0) for each in reach), sum(max(each, 0) for each in reach)
    memory = (ctypes.c_ubyte * ((high - low + 1) * item)).from_address(
        cast(int, tensor.data) + tensor.byte_offset + low * item
    )
    memory._capsule = capsule  # pyright: ignore[reportAttributeAccessIssue]  # the memory lives as long as the capsule
    array: np.ndarray[Any, Any] = np.ndarray(
        shape, dtype.numpy, cast(bytearray, memory), -low * item, strides
    )
    return array


def _packed(shape: tuple[int, ...]) -> list[int]:
    """How far the last element of each dimension lies, where the elements lie in order."""
    reach, step = list[int](), 1
    for size in reversed(shape):
        reach.append((size - 1) * step)
        step *= size
    return reach[::-1]
