"""Devices: their names, and the settings under which calls run on one. The arrays there are in `device_arrays`."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, AttributeValueError, DeviceError
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.settings import Scope, Settings, current

#: Devices that values can stay on -> the execution provider that computes there.
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider", "dml": "DmlExecutionProvider"}


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
        providers = ((name, (("device_id", str(device.number)),)),)
    return replace(settings, providers=providers, device=str(device))


def staying_on(device: str) -> AbstractContextManager[object]:
    """A block whose calls run on a device and leave their results there."""
    return Scope(settings_on(read_device(device)))


def computing_on(device: str) -> AbstractContextManager[object]:
    """A block whose calls take and give arrays of numpy, and compute on a device."""
    return Scope(replace(settings_on(read_device(device)), device=None))
