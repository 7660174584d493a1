"""Distinct elements, slices and runs against numpy and torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith.algorithms import distinct
from onnxsmith.algorithms.complex_numbers.field import Field
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

NAN, INF = np.nan, np.inf
HOSTILE = [3.0, NAN, -0.0, 0.0, INF, np.finfo(np.float32).max, NAN, -INF, 3.0, INF]
DTYPES = ("float32", "float64", "float16", "int8", "uint8", "int32", "int64", "uint64", "bool")


def _parts(groups: distinct.Groups) -> tuple[Any, ...]:
    assert groups.values.im is None
    return groups.values.re, groups.first, groups.inverse, groups.counts


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [0, 1, 40])
def test_distinct_elements(dtype: str, count: int, equal_nan: bool):
    x = np.random.default_rng(0).integers(0, 9, count).astype(dtype)
    if np.dtype(dtype).kind == "f" and count > 1:
        with np.errstate(over="ignore"):
            x = np.concatenate([x, np.array(HOSTILE).astype(dtype)])
    found = computed(lambda x: _parts(distinct.distinct(Field(x), equal_nan=equal_nan)), x)
    wanted = np.unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=equal_nan)
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs.reshape(-1))


def test_distinct_rows():
    x = np.array([[3.0, 1.0], [2.0, 3.0], [3.0, 1.0]], np.float32)
    values, first, inverse, counts = computed(lambda x: _parts(distinct.distinct_slices(Field(x), 0)), x)
    np.testing.assert_array_equal(values, np.unique(x, axis=0))
    np.testing.assert_array_equal(first, [1, 0])
    np.testing.assert_array_equal(inverse, [1, 0, 1])
    np.testing.assert_array_equal(counts, [1, 2])


@pytest.mark.parametrize("x", [np.array([5, 5, 2, 2, 2, 5]), np.array(HOSTILE), np.zeros(0), np.zeros(1)])
def test_runs(x: Any):
    values, first, inverse, counts = computed(lambda x: _parts(distinct.runs(x)), x)
    wanted = torch.unique_consecutive(torch.from_numpy(x), return_inverse=True, return_counts=True)
    for mine, theirs in zip((values, inverse, counts), wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs.numpy())
    np.testing.assert_array_equal(first, np.cumsum(counts) - counts)


def test_runs_of_rows():
    x = np.array([[1, 2], [1, 2], [1, 3]])
    values, _, inverse, counts = computed(lambda x: _parts(distinct.runs(x, 0)), x)
    np.testing.assert_array_equal(values, [[1, 2], [1, 3]])
    np.testing.assert_array_equal(inverse, [0, 0, 1])
    np.testing.assert_array_equal(counts, [2, 1])


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("sets") == []
