"""Places among categories, against a search through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
from onnxsmith import numpy as xp  # scikit-learn may be missing
from onnxsmith.runtime.tensor import tensor
from onnxsmith.sklearn.categories import columns_of, places, places_of_text
from onnxsmith.sklearn.table import NotCovered
from onnxsmith.sklearn.values import Columns

NAN = float("nan")


def searched(elements: Any, categories: Any) -> list[int]:
    """Where each element stands, as Python finds it; NaN is NaN."""

    def is_same(one: Any, other: Any) -> bool:
        return one == other or (one != one and other != other)

    return [next((k for k, other in enumerate(categories) if is_same(each, other)), -1) for each in elements]


# scikit-learn lets no category stand behind NaN.
NUMBERS: list[tuple[Any, Any]] = [
    (np.array([3.0, 1.0, 2.5, -7.0]), [1.0, 2.0, 3.0]),
    (np.array([3, 1, 5, 4], np.int32), [5, 3, 1]),
    (np.array([3, 1, 9], np.int64), np.array([9, 1, 3])),
    (np.array([1.0, NAN, 2.0]), [1.0, 2.0, NAN]),
    (np.array([1.0, NAN, 2.0]), np.array([2.0, NAN])),
    (np.array([1.0, NAN]), [1.0]),
    (np.array([True, False]), [True, False]),
    (np.array([True, False]), np.array([False])),
    (np.array([1.0, NAN]), [NAN]),
    (np.array([1.0, 2.0]), []),
    (np.array([4, 2]), [2, NAN]),
    (np.array([0.1, 0.2], np.float32), np.array([0.2, 0.1], np.float32)),
]


@pytest.mark.parametrize(("elements", "categories"), NUMBERS)
def test_numbers(elements: Any, categories: Any) -> None:
    found = np.asarray(places(xp.asarray(elements), categories, "c"))
    assert found.tolist() == searched(elements.tolist(), list(categories))
    assert found.dtype == np.int64


@pytest.mark.parametrize("categories", [["b", "a"], np.array(["a", "c"]), np.array(["c", "b"], object)])
def test_text(categories: Any) -> None:
    elements = ["a", "b", "", "c"]
    found = np.asarray(places(tensor(np.array(elements, object)), categories, "c"))
    assert found.tolist() == searched(elements, list(categories))


def test_text_by_keys() -> None:
    assert np.asarray(places_of_text(tensor(np.array(["x", "y"], object)), ["y"])).tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("column", "categories", "reason"),
    [
        (xp.asarray([1.0]), ["a", "b"], "has numbers, and its categories are"),
        (tensor(np.array(["a"], object)), ["a", 3], "is text, and its category 3 is not"),
        (tensor(np.array(["a"], object)), [None, NAN], "None and NaN as two categories"),
    ],
)
def test_refused(column: Any, categories: Any, reason: str) -> None:
    with pytest.raises(NotCovered, match=reason):
        places(column, categories, "c")


def test_columns() -> None:
    matrix = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert [np.asarray(each).tolist() for each in columns_of(matrix)] == [[1.0, 3.0], [2.0, 4.0]]
    given = Columns({"a": matrix[:, 1]})
    assert [np.asarray(each).tolist() for each in columns_of(given)] == [[2.0, 4.0]]
