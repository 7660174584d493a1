"""Elements of small tensors as text."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import onnx_ir as ir
import pytest

from onnxsmith.view.attribute_texts import elements_text


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        (np.array([1.5, 2], np.float32), "[1.5, 2]"),
        (np.array([[1], [-2]], np.int64), "[[1], [-2]]"),
        (np.array([True]), "[True]"),
        (np.array([1 + 2j, 0.5 - 1j], np.complex64), "[1+2j, 0.5-1j]"),
        (np.array(3j, np.complex128), "0+3j"),
        (np.array([1.5], ml_dtypes.bfloat16), "[1.5]"),
        (np.array([1, -2], ml_dtypes.int4), "[1, -2]"),
        (np.zeros(65, np.float32), ""),
    ],
)
def test_elements(elements: np.ndarray, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert elements_text(ir.tensor(elements)) == text
