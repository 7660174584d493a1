"""Metrics by name against scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as theirs

from onnxsmith.training.metrics import NAMED, measured, read_metrics

RANDOM = np.random.default_rng(0)
VALUES = RANDOM.normal(size=(40, 2)), RANDOM.normal(size=(40, 2))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("mean_absolute_error", theirs.mean_absolute_error),
        ("mean_squared_error", theirs.mean_squared_error),
        ("r2", theirs.r2_score),
    ],
)
def test_regression(name: str, wanted: Callable[..., Any]) -> None:
    prediction, target = VALUES
    assert measured(name, NAMED[name], [prediction], target) == pytest.approx(wanted(target, prediction))
    constant = np.stack([target[:, 0], np.ones(40)], 1)
    assert measured(name, NAMED[name], [constant], constant) == wanted(constant, constant)
    one = target[:, :1]
    assert measured(name, NAMED[name], [prediction[:, :1]], one) == pytest.approx(
        wanted(one, prediction[:, :1])
    )


def test_accuracy_of_classes_and_of_single_scores() -> None:
    scores = np.float32([[0, 1], [2, 1], [0, 3]])
    assert measured("accuracy", NAMED["accuracy"], [scores], np.array([1, 1, 1])) == pytest.approx(2 / 3)
    logits = np.float32([[1], [-1], [3]])
    assert measured("accuracy", NAMED["accuracy"], [logits], np.float32([[1], [0], [0]])) == pytest.approx(
        2 / 3
    )


def test_names_functions_and_dicts() -> None:
    def mine(prediction: Any, target: Any) -> float:
        return 1.0

    assert list(read_metrics("accuracy")) == ["accuracy"]
    assert list(read_metrics(["accuracy", mine])) == ["accuracy", "mine"]
    assert list(read_metrics({"a": "r2", "b": mine})) == ["a", "b"]
    assert read_metrics(mine) == {"mine": mine}
