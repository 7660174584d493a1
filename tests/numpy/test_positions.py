"""Places in a row and along dimensions, against numpy."""

from __future__ import annotations

import numpy as np

from tests.numpy.agreement import agrees
from tests.numpy.every_argument import disagreements


def test_unravel_index() -> None:
    for order in ("C", "F"):
        for index in (
            np.array([0, 5, 23]),
            np.array([[7], [1]], np.uint8),
            np.zeros(0, np.int64),
            np.array(3),
        ):
            agrees("unravel_index", index, (2, 3, 4), order=order)
    agrees("unravel_index", np.array([24]), (2, 3, 4))
    agrees("unravel_index", np.array([-1]), (2, 3))
    agrees("unravel_index", np.array([1.5]), (2, 3))


def test_ravel_multi_index() -> None:
    rows, columns = np.array([0, 1, 1]), np.array([2, 0, 1])
    for order in ("C", "F"):
        agrees("ravel_multi_index", (rows, columns), (2, 3), order=order)
        for mode in ("wrap", "clip", ("wrap", "clip")):
            agrees("ravel_multi_index", (rows - 3, columns + 5), (2, 3), mode=mode, order=order)
    agrees("ravel_multi_index", (rows + 1, columns), (2, 3))
    agrees("ravel_multi_index", (rows,), (2, 3))


def test_all_kinds_of_arguments() -> None:
    assert disagreements("positions", count=60) == []
