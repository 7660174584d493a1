"""Arrays in the other byte order than the machine's are read as what they are, on every road."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, FLOAT, INT64, jit, script, trace
from onnxsmith import opset21 as op


@script
def doubled(x: DOUBLE["N"]):
    return x + x


def written(x):
    x[0] = 42.0
    return x.sum()


def _swapped(values: list[float], dtype: Any = np.float64) -> np.ndarray:
    kind = np.dtype(dtype)
    return np.array(values, kind.newbyteorder())


@pytest.mark.parametrize(
    "run",
    [
        doubled,
        jit(doubled),
        doubled.to_model(),
        trace(lambda x: x * 2.0, DOUBLE["N"]),
        xp.jit(lambda x: x * 2),
        xp.to_model(lambda x: x * 2, DOUBLE["N"]),
        lambda x: op.Add(x, x),
        lambda x: np.asarray(xp.asarray(x) * 2),
    ],
    ids=["script", "jit", "model of a script", "trace", "numpy jit", "numpy model", "operator", "array"],
)
def test_each_call_reads_elements(run: Callable[..., Any]):
    for _ in range(3):  # what is kept for a later call is right there, too
        np.testing.assert_array_equal(run(_swapped([1.0, 2.0, 3.0])), [2.0, 4.0, 6.0])
        np.testing.assert_array_equal(run(np.array([1.0, 2.0])), [2.0, 4.0])


@pytest.mark.parametrize(("kind", "dtype"), [(FLOAT, np.float32), (INT64, np.int64)])
def test_other_element_types(kind: Any, dtype: Any):
    model = trace(lambda x, y: op.Add(x, y), kind["N"], kind["N"])
    result = model(_swapped([1, 2], dtype), np.array([1, 1], dtype))
    np.testing.assert_array_equal(result, [2, 3])


def test_what_is_written_reaches_the_caller():
    fast = xp.jit(written)
    for _ in range(2):
        x = _swapped([1.0, 2.0])
        assert fast(x) == 44.0
        assert x[0] == 42.0
