"""Devices: their names, and the settings under which calls run on one. The arrays there are in `device_arrays`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple

from onnxsmith.errors import DeviceError, MissingProviderError
from onnxsmith.runtime.providers import device_entry, provider_of_device
from onnxsmith.runtime.settings import Scope, Settings, current


class Device(NamedTuple):
    """A device: its kind, and which of several.

    >>> read_device("cuda"), str(read_device("cuda:1"))
    (Device(kind='cuda', number=0), 'cuda:1')
    """

    kind: str
    number: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.number}"


CPU = Device("cpu")


def read_device(name: str) -> Device:
    """The device of a name such as `cuda` or `cuda:1`."""
    entry, number = device_entry(name)
    return Device(entry.short[0], number or 0)


def check_there(device: Device) -> Device:
    """The device, if this build of ONNX Runtime computes on it; else a DeviceError that says what to install."""
    try:
        provider_of_device(str(device))
    except MissingProviderError as error:
        raise DeviceError(f"the device {device} is not there: {error.message}", help=error.help) from None
    return device


def settings_on(device: Device, settings: Settings | None = None) -> Settings:
    """The settings under which calls run on a device, and their results stay there."""
    settings = settings or current()
    if settings.stays_on == str(device):
        return settings
    is_chosen = settings.device == str(device)  # some providers compute on memory of the CPU
    providers = settings.providers if is_chosen else provider_of_device(str(device))
    return replace(settings, providers=providers, stays_on=str(device))


def staying_on(device: str) -> AbstractContextManager[object]:
    """A block whose calls run on a device and leave their results there."""
    return Scope(settings_on(read_device(device)))


def computing_on(device: str) -> AbstractContextManager[object]:
    """A block whose calls take and give arrays of numpy, and compute on a device."""
    return Scope(replace(settings_on(read_device(device)), stays_on=None))
