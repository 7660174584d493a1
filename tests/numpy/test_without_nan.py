"""Reductions that leave NaN out, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numpy.agreement import agrees, sample, some
from tests.numpy.every_argument import disagreements
from tests.numpy.test_reductions import AXES, magnitude

DTYPES = ["bool", "int8", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd"])
def test_reduction(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, AXES):
        x = sample(dtype, shape)
        if x.dtype.kind in "fc":
            x[np.isinf(x)] = 2  # which numpy subtracts from itself in another order
        agrees(name, x, axis=axis, scale=magnitude(x) ** 2)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
def test_extreme(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, AXES):
        agrees(name, sample(dtype, shape), axis=axis, recorded=0 not in shape)
        agrees(name, sample(dtype, shape), axis=axis, initial=2, keepdims=True)


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar"])
def test_nothing_but_nan(name: str) -> None:
    for dtype in ("float32", "float64"):
        agrees(name, np.array([[np.nan, 1], [np.nan, np.nan]], dtype), axis=1)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("without_nan", {"nansum": 1, "nanmean": 1, "nanvar": 3, "nanstd": 1}) == []
