"""Where elements stand, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.numpy.agreement import ALL, agrees, sample, some
from tests.numpy.every_argument import disagreements

SHAPES: list[tuple[tuple[int, ...], Any]] = [
    ((), None),
    ((9,), 0),
    ((3, 4), None),
    ((3, 4), 0),
    ((3, 4), -1),
    ((2, 3, 5), 1),
    ((0, 3), 1),
    ((3, 0), 1),
    ((0,), None),
]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_place_of_an_extreme(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, SHAPES):
        for special in (False, True):
            agrees(name, sample(dtype, shape, special=special), axis=axis, keepdims=special)


@pytest.mark.parametrize("dtype", ["int16", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_place_without_nan(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, SHAPES[1:6]):
        agrees(name, sample(dtype, shape), axis=axis)
    if dtype.startswith("float"):
        agrees(name, np.array([[1, np.nan], [np.nan, np.nan]], dtype), axis=1)


@pytest.mark.parametrize("dtype", ALL)
def test_nonzero(dtype: str) -> None:
    for shape in ((9,), (3, 4), (0,), (2, 0), (2, 3, 2)):
        x = sample(dtype, shape)
        agrees("nonzero", x)
        agrees("argwhere", x)
        agrees("flatnonzero", x)
        agrees("where", x)


def test_nonzero_of_scalars() -> None:
    agrees("nonzero", np.array(3))
    for value in (0, 3):
        agrees("argwhere", np.array(value))
        agrees("flatnonzero", np.array(value))


def test_all_kinds_of_arguments() -> None:
    assert disagreements("searching") == []
