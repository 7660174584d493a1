"""Elements at places, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.numpy.agreement import ALL, agrees, sample


@pytest.mark.parametrize("dtype", ALL)
def test_take(dtype: str) -> None:
    x = sample(dtype, (3, 4))
    for axis in (0, 1, None):
        for index in (np.array([2, 0, -1]), np.array(1), np.array([[0, 1]]), np.zeros(0, np.int64)):
            agrees("take", x, index, axis=axis)
        for mode in ("wrap", "clip"):
            agrees("take", x, np.array([5, -7, 1]), axis=axis, mode=mode)
    agrees("take", x, np.array([3]), axis=0)
    agrees("take", x, np.array([0.5]), axis=0)
    agrees("take", x[:0], np.array([0]), axis=0)


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_take_along_axis(dtype: str) -> None:
    x = sample(dtype, (3, 4))
    agrees("take_along_axis", x, np.argsort(x, axis=1), axis=1)
    agrees("take_along_axis", x, np.array([[0, 1, 2, 0]]), axis=0)
    agrees("take_along_axis", x, np.array([[0, -1]]), axis=1)
    agrees("take_along_axis", x[:, :1], np.array([[0, 1, 2, 0]]), axis=0)
    agrees("take_along_axis", x, np.array([0, 11]), axis=None)
    agrees("take_along_axis", x, np.array([[4]]), axis=1)
    agrees("take_along_axis", x, np.array([0]), axis=1)


def _written(name: str, dtype: str, *args: Any, **kwargs: Any) -> None:
    theirs = sample(dtype, (3, 4))
    ours = xp.asarray(theirs)
    view = ours[1:]
    getattr(np, name)(theirs, *args, **kwargs)
    getattr(xp, name)(ours, *args, **kwargs)
    np.testing.assert_array_equal(np.asarray(ours), theirs)
    np.testing.assert_array_equal(np.asarray(view), theirs[1:])


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_put(dtype: str) -> None:
    _written("put_along_axis", dtype, np.array([[1], [0], [3]]), 7, axis=1)
    _written("put_along_axis", dtype, np.array([[1, 0, 2, 1]]), np.arange(4)[None], axis=0)
    _written("put_along_axis", dtype, np.array([1, 9]), 5, axis=None)
    _written("put", dtype, [0, -1, 5], [1, 2])
    _written("put", dtype, [100, -100], 3, mode="clip")
    _written("put", dtype, [13, -1], [3, 4], mode="wrap")
    with pytest.raises(IndexError):
        xp.put(xp.zeros(3), [3], 1)
