"""Flips, rolls, deletions and diagonals, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import numpy as xp
from tests.numpy.every_argument import disagreements

A = np.arange(24.0).reshape(2, 3, 4)
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "flip": lambda p, x: p.flip(x),
    "flip, axis": lambda p, x: p.flip(x, 1),
    "flip, axes": lambda p, x: p.flip(x, (0, -1)),
    "fliplr": lambda p, x: p.fliplr(x),
    "flipud": lambda p, x: p.flipud(x),
    **{f"rot90 {k}": lambda p, x, k=k: p.rot90(x, k) for k in (-1, 0, 1, 2, 3, 5)},
    "rot90, axes": lambda p, x: p.rot90(x, 1, (2, 0)),
    **{f"roll {shift}": lambda p, x, shift=shift: p.roll(x, shift) for shift in (0, 1, -5, 30)},
    **{f"roll {shift} axis": lambda p, x, shift=shift: p.roll(x, shift, 2) for shift in (0, 1, -1, 4, 7)},
    "roll, axes": lambda p, x: p.roll(x, (1, -2), (0, 2)),
    "roll, one shift": lambda p, x: p.roll(x, 1, (0, 2)),
    "diagonal": lambda p, x: p.diagonal(x),
    **{f"diagonal {k}": lambda p, x, k=k: p.diagonal(x, k, 1, 2) for k in (-2, -1, 0, 1, 3)},
    "diagonal, axes": lambda p, x: p.diagonal(x, 1, 2, 0),
    "diag of a matrix": lambda p, x: p.diag(x[0], 1),
    **{f"diag {k}": lambda p, x, k=k: p.diag(x[0, 0], k) for k in (-2, 0, 3)},
    "diagflat": lambda p, x: p.diagflat(x[0], 1),
    "delete": lambda p, x: p.delete(x, 1),
    "delete, axis": lambda p, x: p.delete(x, 1, 1),
    "delete from the end": lambda p, x: p.delete(x, -1, 2),
    "delete, list": lambda p, x: p.delete(x, [0, 2], 2),
    "delete, same twice": lambda p, x: p.delete(x, [1, 1, -1], 2),
    "delete, slice": lambda p, x: p.delete(x, slice(None, None, 2), 2),
    "delete, mask": lambda p, x: p.delete(x, np.array([True, False, True]), 1),
    "delete, nothing": lambda p, x: p.delete(x, [], 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_numpy(name: str) -> None:
    found, wanted = FUNCTIONS[name](xp, xp.asarray(A)), FUNCTIONS[name](np, A)
    np.testing.assert_array_equal(np.asarray(found), wanted)
    assert found.dtype == wanted.dtype


def test_all_kinds_of_arguments() -> None:
    assert disagreements("rearranging") == []
