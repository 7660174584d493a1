"""LightGBM: sums of trees are equal for every row, at thresholds, near zero, with NaN and with categories."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import onnxsmith
from onnxsmith.errors import UnconvertedStepError
from onnxsmith.sklearn.calling import METADATA_KEY
from tests.sklearn.families import boosters as data

lightgbm = pytest.importorskip("lightgbm")

OPTIONS: dict[str, Any] = {
    "n_estimators": 8,
    "num_leaves": 9,
    "min_child_samples": 3,
    "verbose": -1,
    "n_jobs": 1,
}


def _thresholds(node: dict[str, Any]) -> Iterator[tuple[int, float]]:
    if "split_feature" in node:
        if node["decision_type"] == "<=":
            yield node["split_feature"], node["threshold"]
        yield from _thresholds(node["left_child"])
        yield from _thresholds(node["right_child"])


def thresholds(estimator: Any) -> list[tuple[int, float]]:
    trees = estimator.booster_.dump_model()["tree_info"]
    return [each for tree in trees for each in _thresholds(tree["tree_structure"])]


@pytest.mark.parametrize("given", [data.X, data.HOLES, data.ZEROS], ids=["plain", "holes", "zeros"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"boosting_type": "rf", "subsample": 0.7, "subsample_freq": 1},
        {"boosting_type": "dart"},
        {"zero_as_missing": True},
        {"use_missing": False},
    ],
    ids=["default", "forest", "dart", "zero as missing", "no missing"],
)
def test_two_classes(options: dict[str, Any], given: Any) -> None:
    fitted = lightgbm.LGBMClassifier(**OPTIONS, **options).fit(given, data.TWO)
    data.check_agreement(fitted, given, thresholds(fitted), allowed=data.DOUBLE)


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
def test_three_classes_with_names(objective: str) -> None:
    names = np.array(["low", "mid", "high"])[data.THREE]
    fitted = lightgbm.LGBMClassifier(**OPTIONS, objective=objective).fit(data.X, names)
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=data.DOUBLE)


@pytest.mark.parametrize(
    ("objective", "target"),
    [
        *(
            (each, data.NUMBER)
            for each in ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
        ),
        *((each, data.POSITIVE) for each in ("poisson", "gamma", "tweedie")),
        *((each, data.SHARE) for each in ("cross_entropy", "cross_entropy_lambda")),
    ],
)
def test_objectives(objective: str, target: Any) -> None:
    fitted = lightgbm.LGBMRegressor(**OPTIONS, objective=objective).fit(data.X, target)
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=data.DOUBLE)


def test_an_objective_that_is_a_function() -> None:
    def squares(wanted: Any, given: Any) -> tuple[Any, Any]:
        return given - wanted, np.ones_like(given)

    fitted = lightgbm.LGBMRegressor(**OPTIONS, objective=squares).fit(data.X, data.NUMBER)
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=data.DOUBLE)


def test_roots_are_squared() -> None:
    fitted = lightgbm.LGBMRegressor(**OPTIONS, reg_sqrt=True).fit(data.X, data.NUMBER)
    data.check_agreement(fitted, data.X, allowed=data.DOUBLE)


def test_ranks() -> None:
    fitted = lightgbm.LGBMRanker(**OPTIONS).fit(data.X, data.THREE, group=[80, 80])
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=data.DOUBLE)


def test_the_best_iteration_counts() -> None:
    stop = lightgbm.early_stopping(2, verbose=False)
    fitted = lightgbm.LGBMRegressor(**{**OPTIONS, "n_estimators": 60})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the name of an argument is another from version 4.7 on
        fitted.fit(data.X, data.NUMBER, eval_set=[(data.HOLES, data.NUMBER)], callbacks=[stop])
    assert fitted.best_iteration_ < 60
    data.check_agreement(fitted, data.X, allowed=data.DOUBLE)


def test_trees_that_are_leaves() -> None:
    fitted = lightgbm.LGBMClassifier(**{**OPTIONS, "min_child_samples": 1000}).fit(data.X, data.TWO)
    data.check_agreement(fitted, data.X, allowed=data.DOUBLE)


def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(data.X[:, :2], columns=["a", "b"])
    frame["town"] = pd.Categorical(rng.choice(["Bern", "Graz", "Köln", "Ulm"], len(frame)))
    frame["code"] = pd.Categorical(rng.integers(3, 9, len(frame)))
    return frame


@pytest.mark.parametrize("has_holes", [False, True])
def test_categories_of_a_frame(has_holes: bool) -> None:
    frame = _frame()
    target = (frame["a"] > 0).astype(int) + (frame["town"] == "Köln")
    if has_holes:
        frame.loc[::5, "town"] = None
        frame.loc[::7, ["a", "code"]] = np.nan
    fitted = lightgbm.LGBMClassifier(**OPTIONS, min_data_per_group=1, cat_smooth=1).fit(frame, target)
    model = data.check_agreement(fitted, frame, allowed=data.DOUBLE)
    other = frame.astype({"town": object})
    other.loc[::3, "town"] = "Wien"
    wanted = fitted.predict_proba(other.astype({"town": "category"}))
    np.testing.assert_allclose(model.predict_proba(other), wanted, rtol=1e-14)


def test_categories_of_an_array() -> None:
    codes = np.random.default_rng(5).integers(0, 9, (160, 3)).astype(float)
    fitted = lightgbm.LGBMClassifier(**OPTIONS, min_data_per_group=1, cat_smooth=1)
    fitted.fit(codes, codes[:, 0] % 3 == 1, categorical_feature=[0, 1])
    model = data.check_agreement(fitted, codes, allowed=data.DOUBLE)
    odd = np.array([[each, 1.0, 1.0] for each in (np.nan, -1.0, -0.5, 3.7, 99.0, 1e12, -np.inf)])
    np.testing.assert_allclose(model.predict_proba(odd), fitted.predict_proba(odd), rtol=1e-14)


def test_whole_numbers_beyond_single_precision() -> None:
    whole = np.random.default_rng(5).integers(0, 60, (160, 3)) + 2**24
    fitted = lightgbm.LGBMClassifier(**OPTIONS).fit(whole, whole[:, 0] % 3 == 1)
    data.check_agreement(fitted, whole, allowed=data.DOUBLE)


def test_as_the_last_step_behind_columns() -> None:
    frame = _frame().astype({"town": object})
    columns = ColumnTransformer([("n", StandardScaler(), ["a", "b"]), ("t", OneHotEncoder(), ["town"])])
    fitted = make_pipeline(columns, lightgbm.LGBMClassifier(**OPTIONS)).fit(frame, data.TWO)
    model = data.check_agreement(fitted, frame, allowed=data.DOUBLE)
    assert ("lightgbm.sklearn.LGBMClassifier", "predict_proba", "converter") in [
        each[1:] for each in model.roads
    ]
    assert {each.road for each in model.roads} == {"converter"}
    notes = [note for each in model.proto.graph.node for note in each.metadata_props]
    said = [json.loads(each.value) for each in notes if each.key == METADATA_KEY]
    assert said[-1]["lightgbm"] == lightgbm.__version__


@pytest.mark.parametrize(
    ("options", "words"),
    [({"linear_tree": True}, "linear_tree"), ({"pred_early_stop": True}, "pred_early_stop")],
)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    fitted = lightgbm.LGBMRegressor(**OPTIONS, **options).fit(data.X, data.NUMBER)
    with pytest.raises(UnconvertedStepError, match=words):
        onnxsmith.sklearn.convert(fitted, data.X)
