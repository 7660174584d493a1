"""Bits in bytes, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.numpy.agreement import BOOL, INTEGERS, agrees, sample
from tests.numpy.every_argument import disagreements

SHAPES: list[tuple[int, ...]] = [(8,), (3,), (0,), (17,), (2, 9), (3, 0), (0, 5), (2, 3, 4), ()]


@pytest.mark.parametrize("dtype", [*BOOL, *INTEGERS])
def test_packbits(dtype: str) -> None:
    for shape in SHAPES:
        x = np.where(sample("bool", shape), np.asarray(sample(dtype, shape)), np.zeros((), dtype))
        for axis in (None, *range(-len(shape), len(shape))):
            agrees("packbits", x, axis=axis)
    agrees("packbits", sample(dtype, (2, 11)), axis=1, bitorder="little")


@pytest.mark.parametrize("count", [None, 0, 3, 11, 100, -2, -16, -1000])
def test_unpackbits(count: Any) -> None:
    for shape in SHAPES:
        if 0 in shape and count:
            continue  # numpy gives what its memory held before
        x = np.asarray(sample("uint8", shape))
        for axis in (None, *range(-len(shape), len(shape))):
            agrees("unpackbits", x, axis=axis, count=count)
    agrees("unpackbits", sample("uint8", (2, 3)), axis=0, count=count, bitorder="little")


def test_what_has_no_bits() -> None:
    agrees("packbits", np.ones(3))
    agrees("unpackbits", np.ones(3, np.int64))
    agrees("packbits", np.ones(3, bool), bitorder="middle")
    agrees("unpackbits", np.ones(3, np.uint8), axis=1)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("packing", {"unpackbits": 1}) == []
