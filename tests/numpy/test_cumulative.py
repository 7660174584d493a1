"""Running sums and products, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.numpy.agreement import ALL, agrees, sample, some
from tests.numpy.every_argument import disagreements
from tests.numpy.test_reductions import magnitude

SHAPES: list[tuple[tuple[int, ...], Any]] = [
    ((7,), 0),
    ((3, 4), None),
    ((3, 4), 1),
    ((2, 3, 4), 1),
    ((0,), 0),
    ((0, 3), 1),
]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_running(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, SHAPES):
        x = sample(dtype, shape)
        scale = magnitude(x) if "sum" in name or dtype.startswith("complex") else 0
        agrees(name, x, axis=axis, scale=scale, ulps=8)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "complex64"])
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_running_of_the_standard(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, SHAPES):
        x = sample(dtype, shape, special=False)
        for first in (False, True):
            agrees(name, x, axis=axis, include_initial=first, scale=magnitude(x))
    agrees(name, sample(dtype, ()))


def test_whole_numbers_are_exact() -> None:
    x = np.array([2**62, 2**62, 2**53, 1, -7, 3, 2**63 - 1])
    for array in (x, x.astype(np.uint64)):
        for name in ("cumsum", "cumprod"):
            agrees(name, array)
    agrees("cumsum", x, dtype="int8")


def test_all_kinds_of_arguments() -> None:
    assert disagreements("cumulative", {"cumprod": 1, "nancumprod": 1}) == []
