"""The device that tests of devices run on: the one that the variable ONNXSMITH_TEST_DEVICE names, or the CPU.

On the CPU values of devices are ONNX Runtime's own, so that they take the same road as on a GPU.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from onnxsmith.runtime.device_arrays import moved
from onnxsmith.runtime.devices import Device, read_device
from onnxsmith.runtime.tensor import EagerTensor

VARIABLE = "ONNXSMITH_TEST_DEVICE"
DEVICE: Device = read_device(os.environ.get(VARIABLE, "cpu"))


def on_device(array: np.ndarray[Any, Any]) -> EagerTensor:
    """A tensor that holds a copy of an array on the device."""
    return EagerTensor(moved(array, DEVICE))
