"""Runs an algorithm as a model: recorded once with the sizes of the arrays and once with all of them open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import onnxsmith
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


def computed(
    function: Callable[..., Any], *arrays: Any, opset: int | None = None, tolerance: float = 0.0
) -> list[np.ndarray]:
    """What ONNX Runtime gives for an algorithm on arrays, which is the same whether sizes are known or not."""
    given = [np.asarray(each) for each in arrays]
    known, opened = (
        _results(onnxsmith.trace(function, *types, opset_version=opset), given)
        for types in (_types(given, is_open=False), _types(given, is_open=True))
    )
    assert len(known) == len(opened)
    for one, other in zip(known, opened, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(_plain(one), _plain(other), rtol=tolerance, atol=tolerance)
    return opened


def _types(arrays: Sequence[np.ndarray], *, is_open: bool) -> list[TensorType]:
    return [
        TensorType(
            DType.from_numpy(each.dtype),
            tuple(f"n{k}_{axis}" if is_open else size for axis, size in enumerate(each.shape)),
        )
        for k, each in enumerate(arrays)
    ]


def _results(model: onnxsmith.Model, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    made = model(*arrays)
    return [np.asarray(each) for each in (made if isinstance(made, tuple) else (made,))]


def _plain(array: np.ndarray) -> np.ndarray:
    """Element types that numpy itself has not, in one that it has."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array
