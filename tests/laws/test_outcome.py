"""Two results agree to four units in the last place, and not past them; everything that is no float must be equal."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.laws.outcome import difference, distance

ONE = np.array([1.0, 2.0], np.float32)


def ulps(count: int) -> np.ndarray:
    return ONE + np.float32(count) * np.spacing(ONE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ONE, ulps(4)),
        (np.array([np.nan]), np.array([np.nan])),
        (np.array([0.0]), np.array([-0.0])),
        ([ONE, ONE], [ONE, ulps(1)]),
        (None, None),
        ({"a": ONE}, {"a": ONE}),
        (np.array(["a"], object), np.array(["a"])),
        (np.array([1], ml_dtypes.int4), np.array([1], ml_dtypes.int4)),
        (np.array([1, np.nan], ml_dtypes.bfloat16), np.array([1, np.nan], ml_dtypes.bfloat16)),
    ],
)
def test_these_agree(one: Any, other: Any) -> None:
    assert difference(one, other) is None


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (ONE, ulps(5), "ulp"),
        (np.array([np.inf], np.float32), np.array([1.0], np.float32), "ulp"),
        (np.array([1]), np.array([2]), "other values"),
        (np.array([1]), np.array([1], np.int32), "dtype"),
        (np.array([1]), np.array([[1]]), "shape"),
        ([ONE], [ONE, ONE], "values"),
        (None, ONE, "None"),
        (np.array(["a"], object), np.array(["b"]), "strings"),
        (np.array([1], ml_dtypes.int4), np.array([2], ml_dtypes.int4), "other values"),
        (np.array([1], ml_dtypes.bfloat16), np.array([2], ml_dtypes.bfloat16), "ulp"),
    ],
)
def test_these_do_not(one: Any, other: Any, words: str) -> None:
    assert words in (difference(one, other) or "")


def test_distance_is_of_the_worst_element() -> None:
    assert distance((np.array([1.0, 2.0]),), (np.array([1.0, 2.5]),)) == 0.5
    assert distance((np.array([1.0]),), (np.array([[1.0]]),)) == np.inf
