"""What is staged in the places of other libraries' helpers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, INT64
from onnxsmith.errors import OnnxsmithError
from onnxsmith.scripting.dialects.numpy.stand_ins import STAND_INS


def _of_library(module: str, name: str) -> Callable[..., Any]:
    """A function that is taken for a library's own, which must not be called."""

    def function(*_: object, **__: object) -> Any:
        raise AssertionError("the library's own helper is called")

    function.__module__, function.__name__ = module, name
    return function


check_array = _of_library("sklearn.utils.validation", "check_array")
check_consistent_length = _of_library("sklearn.utils.validation", "check_consistent_length")
pair_confusion_matrix = _of_library("sklearn.metrics.cluster._supervised", "pair_confusion_matrix")
confusion_matrix = _of_library("sklearn.metrics._classification", "confusion_matrix")
type_of_target = _of_library("sklearn.utils.multiclass", "type_of_target")


def checked(x: Any) -> Any:
    return check_array(x, dtype=[np.float64, np.float32], ensure_min_samples=2) * 2


def sums(x: Any, y: Any) -> Any:
    check_consistent_length(x, y, None)
    return x.sum() + y.sum()


def pairs(x: Any, y: Any) -> Any:
    return pair_confusion_matrix(x, y)


def confusion(x: Any, y: Any) -> Any:
    return confusion_matrix(x, y)


def is_binary(y: Any) -> Any:
    return np.where(type_of_target(y) == "binary", 1, 0)


def test_check_array_gives_the_array_and_raises_where_the_library_does() -> None:
    model = xp.to_model(checked, DOUBLE["N", "M"])
    np.testing.assert_array_equal(model(np.ones((3, 2))), np.full((3, 2), 2.0))
    for bad in (np.ones((1, 2)), np.full((2, 2), np.nan), np.full((2, 2), np.inf), np.ones((3, 0))):
        with pytest.raises(OnnxsmithError):
            model(bad)


def test_lengths_must_agree() -> None:
    model = xp.to_model(sums, DOUBLE["N"], DOUBLE["M"])
    assert model(np.ones(3), np.ones(3)) == 6
    with pytest.raises(OnnxsmithError, match="inconsistent"):
        model(np.ones(3), np.ones(2))


def test_counts_of_labels() -> None:
    first, second = np.array([0, 0, 1, 1, 2]), np.array([1, 1, 1, 0, 0])
    same, other = first[:, None] == first, second[:, None] == second
    apart = ~np.eye(5, dtype=bool)
    expected = [
        [np.sum(apart & ~same & ~other), np.sum(apart & ~same & other)],
        [np.sum(apart & same & ~other), np.sum(apart & same & other)],
    ]
    np.testing.assert_array_equal(xp.to_model(pairs, INT64["N"], INT64["N"])(first, second), expected)
    found = xp.to_model(confusion, INT64["N"], INT64["N"])(first, second)
    np.testing.assert_array_equal(found, [[0, 2, 0], [1, 1, 0], [1, 0, 0]])


def test_the_type_of_targets_is_what_the_model_finds() -> None:
    model = xp.to_model(is_binary, DOUBLE["N"])
    assert [int(model(np.array(each))) for each in ([1.0, 2, 1], [1.0, 2, 3], [0.5, 1, 1])] == [1, 0, 0]


def test_stand_ins_are_code_of_numpy() -> None:
    assert all(
        each.__module__ == "onnxsmith.scripting.dialects.numpy.stand_ins" for each in STAND_INS.values()
    )
