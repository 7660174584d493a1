"""Reading by index tensors and masks against numpy: where indexed dimensions stand, broadcasting, no elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import indexing
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

X = np.arange(120).reshape(2, 3, 4, 5)
ROWS, COLUMNS = np.array([[0], [2], [-1]]), np.array([1, 3])
CASES: dict[str, tuple[Any, ...]] = {
    "one": (None, ROWS),
    "two together": (None, ROWS, COLUMNS),
    "two in front": (np.array([0, 1]), np.array([2, -1])),
    "two apart": (np.array([0, 1]), None, COLUMNS),
    "three apart": (np.array([[0]]), None, COLUMNS, np.array([4, 0])),
    "mask of a dimension": (None, None, np.array([True, False, True, True])),
    "mask of two": (None, np.arange(12).reshape(3, 4) % 3 == 0),
    "mask of all": (X % 7 == 0,),
    "mask beside an index": (np.array([True, False]), np.array([2])),
    "nothing": (np.zeros(0, np.int64),),
}


def as_numpy(indices: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(slice(None) if each is None else each for each in indices)


@pytest.mark.parametrize("name", CASES)
def test_reading(name: str):
    indices = CASES[name]
    given = [each for each in indices if each is not None]

    def read(x: Any, *tensors: Any) -> Any:
        rest = iter(tensors)
        return indexing.indexed(x, [None if each is None else next(rest) for each in indices])

    (found,) = computed(read, X, *given)
    np.testing.assert_array_equal(found, X[as_numpy(indices)])


@pytest.mark.parametrize("repeats", [[2, 0, 3], [0, 0], [1], []])
def test_repeating(repeats: list[int]):
    counts = np.array(repeats, np.int64)
    (found,) = computed(indexing.repeated_positions, counts)
    np.testing.assert_array_equal(found, np.repeat(np.arange(len(repeats)), counts))


def test_positions():
    x = np.array([[0, 3, 0], [1, 0, 2]])
    np.testing.assert_array_equal(computed(indexing.positions, x)[0], np.argwhere(x))
    np.testing.assert_array_equal(computed(indexing.positions, np.array(1))[0], np.argwhere(np.array(1)))
    np.testing.assert_array_equal(computed(indexing.positions, np.array(0))[0], np.argwhere(np.array(0)))


@pytest.mark.parametrize(
    "shapes", [[(2, 1), (3,)], [(1,), (4, 1)], [(2, 3), (2, 3)], [(1, 1), (0,)], [(), (2,)]]
)
def test_broadcasting(shapes: list[tuple[int, ...]]):
    arrays = [np.ones(each) for each in shapes]
    for found in computed(lambda *given: tuple(indexing.broadcast_together(given)), *arrays):
        assert found.shape == np.broadcast_shapes(*shapes)


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("taking") == []
