"""Runs an algorithm as a model: inlined with the sizes of the arrays, and as a function with all of them open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import onnxsmith
from onnxsmith.algorithms.named import inline_algorithms
from onnxsmith.core.target import current_graph
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


def computed(
    function: Callable[..., Any], *arrays: Any, opset: int | None = None, tolerance: float = 0.0
) -> list[np.ndarray]:
    """What ONNX Runtime gives for an algorithm on arrays: the same for known sizes and open ones, inlined or not."""
    given = [np.asarray(each) for each in arrays]

    def inlined(*tensors: Any) -> Any:
        inline_algorithms(current_graph())
        return function(*tensors)

    names = [f"x{k}" for k in range(len(given))]
    known, opened = (
        _results(onnxsmith.trace(each, *types, opset_version=opset, input_names=names), given)
        for each, types in (
            (inlined, _types(given, is_open=False)),
            (lambda *tensors: function(*tensors), _types(given, is_open=True)),
        )
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
