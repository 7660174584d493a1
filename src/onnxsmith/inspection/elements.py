"""Finds the elements that differ between two arrays."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.inspection.attributes import Elements


def differing(left: Elements, right: Elements) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """A mask of the elements that differ between two flat arrays of one type: NaN equals NaN, and -0.0 is not 0.0."""
    if left.dtype.kind == "c":
        return np.asarray(differing(_parts(left), _parts(right)).reshape(-1, 2).any(axis=1))
    differs = cast("np.ndarray[Any, np.dtype[np.bool_]]", np.asarray(left != right, np.bool_))
    if left.dtype.kind in "iubOSU":
        return differs
    differs &= ~((left != left) & (right != right))  # only NaN is not what it is
    zeros = np.flatnonzero((left == 0) & (right == 0))
    one, two = (np.ascontiguousarray(each[zeros]).view(np.uint8) for each in (left, right))
    if not np.array_equal(one, two):  # dividing by them gives other infinities
        differs[zeros] = (one != two).reshape(len(zeros), -1).any(axis=1)
    return differs


def _parts(numbers: Elements) -> Elements:
    """Complex numbers as twice as many real ones."""
    return np.ascontiguousarray(numbers).view(f"f{numbers.dtype.itemsize // 2}")
