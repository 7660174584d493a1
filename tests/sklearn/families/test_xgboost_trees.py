"""XGBoost: sums in single precision are equal for every row; what a sigmoid makes of them differs in the last bit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onnxsmith
from onnxsmith.errors import OnnxsmithError, UnconvertedStepError
from tests.sklearn.families import boosters as data

xgboost = pytest.importorskip("xgboost")

OPTIONS: dict[str, Any] = {"n_estimators": 6, "max_depth": 3, "n_jobs": 1}


def thresholds(estimator: Any) -> list[tuple[int, float]]:
    learner = json.loads(bytes(estimator.get_booster().save_raw("json")))["learner"]
    booster = learner["gradient_booster"]
    trees = booster.get("gbtree", booster)["model"]["trees"]
    return [
        (column, np.float32(split))
        for tree in trees
        for column, split, left in zip(
            tree["split_indices"], tree["split_conditions"], tree["left_children"], strict=True
        )
        if left >= 0
    ]


@pytest.mark.parametrize("given", [data.X, data.HOLES, data.ZEROS], ids=["plain", "holes", "zeros"])
@pytest.mark.parametrize("kind", ["two", "three", "number"])
def test_defaults(kind: str, given: Any) -> None:
    target = {"two": data.TWO, "three": data.THREE, "number": data.NUMBER}[kind]
    made = xgboost.XGBRegressor if kind == "number" else xgboost.XGBClassifier
    fitted = made(**OPTIONS).fit(given, target)
    data.check_agreement(fitted, given, thresholds(fitted), allowed=0.0 if kind == "number" else data.SINGLE)


@pytest.mark.parametrize(
    ("objective", "target", "allowed"),
    [
        *(
            (f"reg:{each}", data.NUMBER, 0.0)
            for each in ("squarederror", "pseudohubererror", "absoluteerror", "quantileerror")
        ),
        ("reg:squaredlogerror", data.POSITIVE, 0.0),
        ("reg:logistic", data.SHARE, data.SINGLE),
        *(
            (each, data.POSITIVE, data.SINGLE)
            for each in ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox")
        ),
    ],
)
def test_objectives_of_numbers(objective: str, target: Any, allowed: float) -> None:
    options = {"quantile_alpha": 0.3} if objective == "reg:quantileerror" else {}
    fitted = xgboost.XGBRegressor(**OPTIONS, **options, objective=objective).fit(data.X, target)
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=allowed)


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "binary:hinge"},
        {"objective": "binary:logitraw"},
        {"base_score": 0.2},
        {"booster": "dart", "rate_drop": 0.3},
        {"missing": 0.0},
        {"num_parallel_tree": 3, "subsample": 0.5},
    ],
    ids=str,
)
def test_options_of_two_classes(options: dict[str, Any]) -> None:
    fitted = xgboost.XGBClassifier(**OPTIONS, **options).fit(data.ZEROS, data.TWO)
    data.check_agreement(fitted, data.ZEROS, thresholds(fitted), allowed=data.SINGLE)


def test_classes_without_probabilities() -> None:
    fitted = xgboost.XGBClassifier(**OPTIONS, objective="multi:softmax").fit(data.X, data.THREE)
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=data.SINGLE)


@pytest.mark.parametrize("name", ["XGBRFClassifier", "XGBRFRegressor"])
def test_forests(name: str) -> None:
    fitted = getattr(xgboost, name)(**OPTIONS).fit(data.X, data.TWO)
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=data.SINGLE)


def test_several_targets_and_labels() -> None:
    both = np.stack([data.TWO, data.THREE > 0], axis=1).astype(int)
    for fitted in (
        xgboost.XGBClassifier(**OPTIONS).fit(data.X, both),
        xgboost.XGBRegressor(**OPTIONS).fit(data.X, both + data.NUMBER[:, None]),
        xgboost.XGBRegressor(**OPTIONS, objective="reg:quantileerror", quantile_alpha=[0.1, 0.9]).fit(
            data.X, data.NUMBER
        ),
    ):
        data.check_agreement(fitted, data.X, allowed=data.SINGLE)


def test_ranks() -> None:
    fitted = xgboost.XGBRanker(**OPTIONS).fit(data.X, data.THREE, qid=np.repeat([0, 1], 80))
    data.check_agreement(fitted, data.X, thresholds(fitted), allowed=0.0)


def test_the_best_iteration_counts() -> None:
    fitted = xgboost.XGBRegressor(**{**OPTIONS, "n_estimators": 60}, early_stopping_rounds=2)
    fitted.fit(data.X, data.NUMBER, eval_set=[(data.HOLES, data.NUMBER)], verbose=False)
    assert fitted.best_iteration < 58
    data.check_agreement(fitted, data.X, allowed=0.0)


def test_a_linear_booster() -> None:
    fitted = xgboost.XGBRegressor(n_estimators=6, n_jobs=1, booster="gblinear").fit(data.X, data.NUMBER)
    model = onnxsmith.sklearn.convert(fitted, data.X)
    np.testing.assert_allclose(model.predict(data.HOLES), fitted.predict(data.HOLES), rtol=1e-5, atol=1e-6)


def _frame(towns: list[str]) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(data.X[:, :2], columns=["a", "b"])
    frame["town"] = pd.Categorical(rng.choice(towns, len(frame)))
    frame["code"] = pd.Categorical(rng.integers(3, 9, len(frame)))
    return frame, (frame["a"] > 0).astype(int) + (frame["town"] == towns[0])


@pytest.mark.parametrize("has_holes", [False, True])
@pytest.mark.parametrize("to_one_hot", [1, 10])
def test_categories_of_a_frame(to_one_hot: int, has_holes: bool) -> None:
    frame, target = _frame(["Bern", "Graz", "Linz", "Ulm"])
    if has_holes:
        frame.loc[::5, "town"] = None
        frame.loc[::7, ["a", "code"]] = np.nan
    fitted = xgboost.XGBClassifier(**OPTIONS, enable_categorical=True, max_cat_to_onehot=to_one_hot)
    fitted.fit(frame, target)
    if (
        "cats"
        not in json.loads(bytes(fitted.get_booster().save_raw("json")))["learner"]["gradient_booster"][
            "model"
        ]
    ):
        pytest.skip("this version of XGBoost does not keep categories")
    model = data.check_agreement(fitted, frame, allowed=data.SINGLE)
    with pytest.raises(OnnxsmithError, match="Found a category not in the training set"):
        model.predict(frame.astype({"town": object}).replace({"town": {"Bern": "Wien"}}))


def test_names_beyond_ascii_are_refused() -> None:
    frame, target = _frame(["Bern", "Köln", "Ulm"])
    fitted = xgboost.XGBClassifier(**OPTIONS, enable_categorical=True).fit(frame, target)
    with pytest.raises(UnconvertedStepError, match=r"ASCII|has not kept the categories"):
        onnxsmith.sklearn.convert(fitted, frame)


@pytest.mark.parametrize("to_one_hot", [1, 10])
def test_categories_of_an_array(to_one_hot: int) -> None:
    codes = np.random.default_rng(5).integers(0, 9, (160, 3)).astype(float)
    fitted = xgboost.XGBClassifier(
        **OPTIONS, enable_categorical=True, feature_types=["c", "c", "q"], max_cat_to_onehot=to_one_hot
    ).fit(codes, codes[:, 0] % 3 == 1)
    model = data.check_agreement(fitted, codes, allowed=data.SINGLE)
    odd = np.array([[each, 1.0, 1.0] for each in (np.nan, -1.0, -0.5, 3.7, 99.0, 1e7)])
    np.testing.assert_allclose(model.predict_proba(odd), fitted.predict_proba(odd), rtol=data.SINGLE)


def test_whole_numbers_beyond_single_precision() -> None:
    whole = np.random.default_rng(5).integers(0, 60, (160, 3)) + 2**24
    fitted = xgboost.XGBClassifier(**OPTIONS).fit(whole, whole[:, 0] % 3 == 1)
    data.check_agreement(fitted, whole, allowed=data.SINGLE)


def test_as_the_last_step() -> None:
    fitted = make_pipeline(StandardScaler(), xgboost.XGBClassifier(**OPTIONS)).fit(data.X, data.TWO)
    model = data.check_agreement(fitted, data.X, allowed=data.SINGLE)
    assert ("xgboost.sklearn.XGBClassifier", "predict_proba", "converter") in [
        each[1:] for each in model.roads
    ]


def test_leaves_of_several_numbers_are_refused() -> None:
    both = np.stack([data.NUMBER, data.SHARE], axis=1)
    fitted = xgboost.XGBRegressor(**OPTIONS, multi_strategy="multi_output_tree").fit(data.X, both)
    with pytest.raises(UnconvertedStepError, match="multi_output_tree"):
        onnxsmith.sklearn.convert(fitted, data.X)
