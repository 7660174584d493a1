"""Views share their elements with what they are a part of, as numpy's do."""

from __future__ import annotations

import numpy as np

import onnxsmith.numpy as xp


def test_a_view_writes_to_its_base_and_sees_what_is_written_there() -> None:
    ours, theirs = xp.asarray(np.arange(12.0).reshape(3, 4)), np.arange(12.0).reshape(3, 4)
    for array in (ours, theirs):
        part = array[1:]
        reverse = part[:, ::-1]
        part[0] = 5
        reverse[1, 0] = -1
        array[:, 1] = [7, 8, 9]
        assert float(reverse[1, 2]) == 9
        assert float(part[1, 3]) == -1
    np.testing.assert_array_equal(np.asarray(ours), theirs)


def test_taking_by_an_array_copies() -> None:
    whole = xp.asarray([1, 2, 3])
    taken = whole[[0, 1]]
    taken[0] = 9
    assert whole.tolist() == [1, 2, 3]
