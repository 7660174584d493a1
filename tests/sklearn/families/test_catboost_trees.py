"""CatBoost: sums of trees are equal for every row; splits by categories are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onnxsmith
from onnxsmith.errors import UnconvertedStepError
from tests.sklearn.families import boosters as data

catboost = pytest.importorskip("catboost")

OPTIONS: dict[str, Any] = {
    "iterations": 8,
    "depth": 3,
    "verbose": 0,
    "allow_writing_files": False,
    "thread_count": 1,
}


def thresholds(estimator: Any) -> list[tuple[int, float]]:
    return [(column, each) for column, borders in estimator.get_borders().items() for each in borders]


@pytest.mark.parametrize("given", [data.X, data.HOLES, data.ZEROS], ids=["plain", "holes", "zeros"])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_two_classes(policy: str, given: Any) -> None:
    fitted = catboost.CatBoostClassifier(**OPTIONS, grow_policy=policy).fit(given, data.TWO)
    data.check_agreement(fitted, given, thresholds(fitted), allowed=data.DOUBLE)


def test_missing_values_above_all() -> None:
    fitted = catboost.CatBoostClassifier(**OPTIONS, nan_mode="Max").fit(data.HOLES, data.TWO)
    data.check_agreement(fitted, data.HOLES, thresholds(fitted), allowed=data.DOUBLE)


@pytest.mark.parametrize("loss", ["MultiClass", "MultiClassOneVsAll"])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide"])
def test_three_classes_with_names(policy: str, loss: str) -> None:
    names = np.array(["low", "mid", "high"])[data.THREE]
    fitted = catboost.CatBoostClassifier(**OPTIONS, loss_function=loss, grow_policy=policy).fit(
        data.HOLES, names
    )
    data.check_agreement(fitted, data.HOLES, thresholds(fitted), allowed=data.DOUBLE)


@pytest.mark.parametrize("names", [["no", "yes"], [False, True], [0.0, 1.5]], ids=str)
def test_labels_are_what_they_were(names: list[Any]) -> None:
    fitted = catboost.CatBoostClassifier(**OPTIONS).fit(data.X, np.array(names)[data.TWO])
    data.check_agreement(fitted, data.X, allowed=data.DOUBLE)


def test_another_threshold_of_probability() -> None:
    fitted = catboost.CatBoostClassifier(**OPTIONS).fit(data.X, data.TWO)
    before = fitted.predict(data.X)
    fitted.set_probability_threshold(0.2)
    assert fitted.predict(data.X).sum() > before.sum()
    data.check_agreement(fitted, data.X, allowed=data.DOUBLE)


@pytest.mark.parametrize(
    "loss", ["RMSE", "MAE", "Poisson", "Quantile:alpha=0.3", "Tweedie:variance_power=1.5", "LogCosh"]
)
def test_losses_of_numbers(loss: str) -> None:
    fitted = catboost.CatBoostRegressor(**OPTIONS, loss_function=loss).fit(data.X, data.POSITIVE)
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=data.DOUBLE)


def test_several_targets_and_ranks() -> None:
    both = np.stack([data.NUMBER, data.SHARE], axis=1)
    several = catboost.CatBoostRegressor(**OPTIONS, loss_function="MultiRMSE").fit(data.X, both)
    data.check_agreement(several, data.X, allowed=data.DOUBLE)
    ranker = catboost.CatBoostRanker(**OPTIONS).fit(data.X, data.THREE, group_id=np.repeat([0, 1], 80))
    data.check_agreement(ranker, data.X, allowed=data.DOUBLE)


def test_as_the_last_step() -> None:
    fitted = make_pipeline(StandardScaler(), catboost.CatBoostClassifier(**OPTIONS)).fit(data.X, data.TWO)
    model = data.check_agreement(fitted, data.X, allowed=data.DOUBLE)
    roads = [each[1:] for each in model.roads]
    assert ("catboost.core.CatBoostClassifier", "predict_proba", "converter") in roads


def test_categories_are_refused() -> None:
    frame = pd.DataFrame({"a": data.X[:, 0], "town": np.where(data.X[:, 1] > 0, "Bern", "Ulm")})
    fitted = catboost.CatBoostClassifier(**OPTIONS, cat_features=["town"]).fit(frame, data.TWO)
    with pytest.raises(UnconvertedStepError, match="categorical features"):
        onnxsmith.sklearn.convert(fitted, frame)
