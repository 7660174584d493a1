"""Views share their elements with what they are a part of, as numpy's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, trace
from onnxsmith.errors import OnnxsmithError, ShapeError


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


def test_a_diagonal_sees_what_is_written_to_its_matrix() -> None:
    matrix = xp.asarray(np.arange(9).reshape(3, 3))
    diagonal = xp.diagonal(matrix)
    matrix += 1
    assert diagonal.tolist() == [1, 5, 9]


def test_a_reshaped_transpose_is_a_copy_and_one_that_keeps_the_order_a_view() -> None:
    whole = xp.asarray(np.arange(6).reshape(2, 3))
    xp.reshape(whole.T, -1)[0] = 9
    assert whole.tolist() == [[0, 1, 2], [3, 4, 5]]
    xp.reshape(whole.T.T, -1)[0] = 9
    assert whole.tolist() == [[9, 1, 2], [3, 4, 5]]


def test_ravel_copies_what_does_not_lie_side_by_side_and_reshape_does_not() -> None:
    whole = xp.asarray(np.arange(6))
    xp.ravel(whole[::2])[0] = 9
    assert whole.tolist() == [0, 1, 2, 3, 4, 5]
    xp.reshape(whole[::2], -1)[0] = 9
    assert whole.tolist() == [9, 1, 2, 3, 4, 5]


def test_an_array_never_grows_to_the_value_written_to_it() -> None:
    row = xp.asarray(np.zeros((1, 5)))
    with pytest.raises(ShapeError, match=r"\(5, 5\) does not fit into \(1, 5\)"):
        row[...] = np.ones((5, 5))
    with pytest.raises(ShapeError):
        xp.copyto(row, np.ones((5, 1)), where=np.ones((5, 5), bool))

    def written(tensor: Any, value: Any) -> Any:
        made = xp.asarray(tensor).copy()
        made[...] = xp.asarray(value)
        return made.tensor

    model = trace(written, DOUBLE["N", 5], DOUBLE["M", 5])
    np.testing.assert_array_equal(model(np.zeros((2, 5)), np.ones((1, 5))), np.ones((2, 5)))
    with pytest.raises(OnnxsmithError):
        model(np.zeros((1, 5)), np.ones((2, 5)))
