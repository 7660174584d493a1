"""Element types of models that compute in a narrower type than the code says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.numpy.narrowing import narrowed, narrowed_type
from onnxsmith.types.dtypes import DType
from tests.algorithms.running import computed


@pytest.mark.parametrize(
    ("dtype", "to", "wanted"),
    [
        ("float64", DType.FLOAT, "float32"),
        ("float64", DType.FLOAT16, "float16"),
        ("float64", None, "float64"),
        ("complex128", DType.FLOAT, "complex64"),
        ("complex128", DType.FLOAT16, "complex64"),
        ("complex128", None, "complex128"),
        ("complex64", DType.FLOAT, "complex64"),
        ("float32", DType.FLOAT16, "float32"),
        ("int64", DType.FLOAT, "int64"),
        ("bool", DType.FLOAT, "bool"),
    ],
)
def test_types(dtype: str, to: DType | None, wanted: str) -> None:
    assert narrowed_type(np.dtype(dtype), to) == np.dtype(wanted)
    if to is not None:
        held = np.ones(3, dtype)
        found = narrowed(held, to)
        assert found.dtype == np.dtype(wanted)
        assert (found is held) == (dtype == wanted)


@pytest.mark.parametrize(
    ("dtype", "wanted"), [("float64", "float16"), ("float32", "float32"), ("int64", "int64")]
)
def test_tensors(dtype: str, wanted: str) -> None:
    (found,) = computed(lambda x: narrowed(x, DType.FLOAT16), np.arange(3).astype(dtype))
    assert found.dtype == np.dtype(wanted)
    assert found.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("part", ["real", "imag"])
def test_complex_numbers(dtype: str, part: str) -> None:
    def narrow(x: Any, y: Any) -> Any:
        return getattr(narrowed(Complex(x, y), DType.FLOAT), part)

    (found,) = computed(narrow, np.array([1.0, 2.0], dtype), np.array([3.0, 4.0], dtype))
    assert found.dtype == np.float32
    assert found.tolist() == ([1, 2] if part == "real" else [3, 4])
