"""Devices: their names, the arrays that lie on them, and how values come there and back. Runs no operator.

An array on a device is one of ONNX Runtime's own values. What another library has there comes in by dlpack, over the
same memory.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, AttributeValueError, DeviceError
from onnxsmith.graphs.run_values import Array
from onnxsmith.runtime import feeds, onnxruntime_api
from onnxsmith.runtime.onnxruntime_api import OrtValue
from onnxsmith.runtime.settings import Scope, Settings, current
from onnxsmith.types.dtypes import DType
from onnxsmith.types.foreign_arrays import (
    DEVICE_NAMES,
    ELEMENT_CODES,
    DeviceArray,
    UnreadableArray,
    register_device_reader,
    tensor_of,
)

#: Devices that values can stay on -> the execution provider that computes there.
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider", "dml": "DmlExecutionProvider"}
#: Of Python numbers and their like, at most so many go to another device by themselves: a shape, axes, sizes.
_MOST_NUMBERS = 64


class Device(NamedTuple):
    """A device: its kind, and which of several.

    >>> read_device("cuda"), str(read_device("cuda:1"))
    (Device(kind='cuda', index=0), 'cuda:1')
    """

    kind: str
    index: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"


CPU = Device("cpu")


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> Device:
    kind, _, index = text.partition(":")
    kind = kind.lower()
    if kind not in PROVIDERS:
        suggestion = did_you_mean(kind, list(PROVIDERS))
        listed = "values stay on the devices " + ", ".join(f'"{each}"' for each in PROVIDERS)
        raise AttributeValueError(
            f"there is no device {text!r}",
            help=f"{suggestion} {listed}" if suggestion else listed,
            culprit=("attribute", "device"),
        )
    if index and not index.isdecimal():
        raise AttributeValueError(
            f"the device {text!r} has no number after the colon",
            help=f'"{kind}" is the first, "{kind}:1" the second',
            culprit=("attribute", "device"),
        )
    return Device(kind, int(index or 0))


def read_device(name: object) -> Device:
    """The device of a name such as `cuda` or `cuda:1`."""
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):
        raise AttributeTypeError(
            f"a device is a text such as 'cuda:0', not {described_type(type(name))}",
            culprit=("attribute", "device"),
        )
    return _parsed(name)


def check_there(device: Device) -> Device:
    """The device, if this build of ONNX Runtime computes on it; else a DeviceError that says what to install."""
    if device.kind != "cpu" and PROVIDERS[device.kind] not in onnxruntime_api.available_providers():
        package = {"cuda": "onnxruntime-gpu", "dml": "onnxruntime-directml"}[device.kind]
        raise DeviceError(
            f"the device {device} is not there: this build of ONNX Runtime has no {PROVIDERS[device.kind]}",
            help=f"pip install {package}, in the place of onnxruntime",
        )
    return device


def settings_on(device: Device, settings: Settings | None = None) -> Settings:
    """The settings under which calls run on a device, and their values stay there."""
    settings = settings or current()
    if settings.device == str(device):
        return settings
    name = PROVIDERS[device.kind]
    has_it = any(each == name for each, _ in settings.providers)
    if device.kind == "cpu":
        providers = ()
    elif has_it:
        providers = settings.providers
    else:
        providers = ((name, (("device_id", str(device.index)),)),)
    return replace(settings, providers=providers, device=str(device))


def staying_on(device: str) -> AbstractContextManager[object]:
    """A block whose calls run on a device and leave their results there."""
    return Scope(settings_on(read_device(device)))


def computing_on(device: str) -> AbstractContextManager[object]:
    """A block whose calls take and give arrays of numpy, and compute on a device."""
    return Scope(replace(settings_on(read_device(device)), device=None))


class OrtArray(DeviceArray):
    """An array on a device as ONNX Runtime has it."""

    __slots__ = ("value",)

    def __init__(self, value: OrtValue, device: str) -> None:
        super().__init__(DType(value.element_type()).numpy, tuple(value.shape()), device)
        self.value = value

    def numpy(self) -> Array:
        if self.device == "cpu":
            return cast(Array, feeds.from_value(self.value))
        return cast(Array, feeds.from_value(moved(self, CPU).value))

    def capsule(self) -> object:
        """The array for other libraries, by dlpack: the memory is shared, and lives as long as they need it."""
        dtype = DType(self.value.element_type())
        if dtype not in ELEMENT_CODES:
            raise BufferError(f"dlpack has no elements of the type {dtype.spelling}")
        if not hasattr(self.value, "to_dlpack"):
            raise BufferError(_TOO_OLD)
        return _with_code(cast(Any, self.value).to_dlpack(), dtype)


_TOO_OLD = "the installed ONNX Runtime cannot share memory on devices; pip install --upgrade onnxruntime, to 1.28 or newer"


def _with_code(capsule: object, dtype: DType) -> object:
    tensor = tensor_of(capsule)
    tensor.code, tensor.bits = ELEMENT_CODES[dtype]
    return capsule


def capsule_of(array: Array) -> object:
    """An array of numpy for other libraries, by dlpack; also of element types that numpy itself does not export."""
    dtype = DType.from_numpy(array.dtype)
    if dtype not in ELEMENT_CODES:
        raise BufferError(f"dlpack has no elements of the type {array.dtype}")
    if not array.flags.writeable:  # the protocol's capsules cannot say so
        array = array.copy()
    if not dtype.is_native:
        array = array.view(f"u{array.dtype.itemsize}")
    return _with_code(array.__dlpack__(), dtype)


def _read(value: Any) -> OrtArray:
    """The array of another library on a device, over the same memory."""
    kind, index = value.__dlpack_device__()
    name = DEVICE_NAMES.get(int(kind))
    if name not in PROVIDERS:
        raise UnreadableArray(f"it is on a device of the kind {int(kind)}, where nothing of ours computes")
    device = check_there(Device(name, int(index)))
    make = getattr(onnxruntime_api.compiled().OrtValue, "from_dlpack", None)
    if make is None:
        raise UnreadableArray(_TOO_OLD)
    # Its own work is done for the default stream, which is waited for before a run (`bound.run`).
    capsule = value.__dlpack__(stream=1) if name == "cuda" else value.__dlpack__()
    tensor = tensor_of(capsule)
    is_bool = (tensor.code, tensor.bits) == ELEMENT_CODES[DType.BOOL]
    if is_bool:
        tensor.code = ELEMENT_CODES[DType.UINT8][0]
    try:
        return OrtArray(make(capsule, is_bool), str(device))
    except RuntimeError:
        if not hasattr(value, "contiguous") or value.is_contiguous():
            raise
        return _read(value.contiguous())  # strided: copied once, on its device


register_device_reader(_read)


def moved(array: Array | OrtArray, device: Device) -> OrtArray:
    """The array on a device; the same where it lies there."""
    if isinstance(array, OrtArray) and array.device == str(device):
        return array
    from onnxsmith.runtime.bound import copied  # it needs this module

    return copied(array, check_there(device))


def device_of(values: Iterable[Any]) -> str | None:
    """The device that a call runs on: that of its arrays, or None for arrays of numpy.

    Python numbers, shapes and other short vectors of whole numbers go where the others are. Raises DeviceError for
    other mixtures.
    """
    found: str | None = None
    on_host: list[Any] = []
    for value in values:
        if isinstance(value, DeviceArray):
            if found is not None and found != value.device:
                raise DeviceError(
                    f"a call has tensors on two devices, {found} and {value.device}",
                    help=f'move one of them: x.to_device("{found}")',
                )
            found = value.device
        elif isinstance(value, np.ndarray):
            on_host.append(value)
        elif isinstance(value, list):
            on_host.append(value)
    if found is None or found == "cpu":
        return found
    for value in on_host:
        if not _goes_along(value):
            raise DeviceError(
                f"a call has a tensor on the device {found}, and an array on the CPU",
                help=f'move one of them: tensor(array).to_device("{found}"), or x.to_device("cpu")',
            )
    return found


def _goes_along(value: Any) -> bool:
    if not isinstance(value, np.ndarray):
        return False
    array = cast(Array, value)
    return array.ndim == 0 or (array.ndim == 1 and array.size <= _MOST_NUMBERS and array.dtype.kind in "iu")
