"""The gradient of a function beside central differences, in double precision and with fixed cotangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onnxsmith import trace
from onnxsmith.grad import grad
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


def agree(function: Callable[..., Any], *arrays: np.ndarray, is_single: bool = False) -> None:
    """Every element of every gradient is what moving that element of an argument gives.

    ONNX Runtime computes some operators in single precision only: those take larger steps.
    """
    distance, tolerance = (1e-3, 2e-3) if is_single else (1e-6, 1e-6)
    types = [TensorType(DType.from_numpy(each.dtype), each.shape) for each in arrays]
    model = trace(function, *types)
    weight = np.random.default_rng(1).standard_normal(np.shape(model(*arrays)))
    wrt = tuple(range(len(arrays)))
    found = grad(lambda *args: (function(*args) * weight).sum(), wrt=wrt)(*arrays)
    for position, (array, gradient) in enumerate(zip(arrays, found, strict=True)):
        wanted = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            sides: list[float] = []
            for step in (distance, -distance):
                moved = [each.copy() for each in arrays]
                moved[position][index] += step
                sides.append(float((np.asarray(model(*moved)) * weight).sum()))
            wanted[index] = (sides[0] - sides[1]) / (2 * distance)
        np.testing.assert_allclose(gradient, wanted, rtol=tolerance, atol=tolerance)
