"""Transformers side by side: which columns each is given, what is dropped, and what the others do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import onnxsmith

Y = np.array(["yes", "no", "no", "yes", "no", "yes"], dtype=object)
WIDE = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 5)), columns=["a", "b", "c", "d", "e"]).assign(
    when=pd.date_range("2024-01-01", periods=6)
)


@pytest.mark.parametrize(
    ("columns", "used"),
    [
        (["c", "a"], "ac"),
        ([4, 2], "ce"),
        ([-6, 3], "ad"),
        (slice(1, 3), "bc"),
        (slice("b", "d"), "bcd"),
        (slice(None, "b"), "ab"),
        ([False, True, False, True, False, False], "bd"),
        pytest.param(make_column_selector(pattern="^[be]$"), "be", id="selector"),
    ],
    ids=str,
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_columns_that_the_pipeline_does_not_use_are_no_inputs(columns: Any, used: str, frame: Any) -> None:
    if isinstance(columns, make_column_selector):
        columns = list(columns(WIDE))  # it asks for a frame of pandas
    rest = [name for name in WIDE.columns if name not in used]
    chosen = ColumnTransformer([("scaled", StandardScaler(), columns), ("none", "drop", rest[:1])])
    given = frame(WIDE)
    fitted = make_pipeline(chosen, LogisticRegression()).fit(given, Y)
    model = onnxsmith.sklearn.convert(fitted, given)
    assert [each.name for each in model.inputs] == list(used)
    wanted = fitted.predict_proba(given)
    for rows in (given, given[list(used)], given[list(used[::-1])]):
        np.testing.assert_allclose(model.predict_proba(rows), wanted)
    np.testing.assert_allclose(fitted.predict_proba(given[list(used)]), wanted)  # as the pipeline does


def test_the_columns_of_a_rest_that_is_passed_on_are_inputs() -> None:
    numbers = WIDE.drop(columns="when")
    chosen = ColumnTransformer(
        [("s", StandardScaler(), ["d"]), ("none", "drop", ["b"])], remainder="passthrough"
    )
    fitted = GridSearchCV(make_pipeline(chosen, LogisticRegression()), {}, cv=2).fit(numbers, Y == "yes")
    model = onnxsmith.sklearn.convert(fitted, numbers)
    assert [each.name for each in model.inputs] == ["a", "c", "d", "e"]
    np.testing.assert_allclose(model.predict_proba(numbers), fitted.predict_proba(numbers))


MATRIX = WIDE[["a", "b", "c", "d", "e"]].to_numpy()


@pytest.mark.parametrize(
    ("columns", "rest"),
    [
        ([0, 2], "drop"),
        ([-1], "passthrough"),
        (slice(1, 3), MinMaxScaler()),
        (slice(2, None), "drop"),
        ([True, False, True, True, False], "passthrough"),
        ([], "drop"),
        ([False] * 5, MinMaxScaler()),
    ],
    ids=str,
)
def test_columns_of_a_matrix(columns: Any, rest: Any) -> None:
    parts = [("scaled", StandardScaler(), columns), ("again", MinMaxScaler(), [4])]
    chosen = ColumnTransformer(parts, remainder=rest).fit(MATRIX)
    model = onnxsmith.sklearn.convert(chosen, MATRIX)
    np.testing.assert_allclose(model(MATRIX), chosen.transform(MATRIX), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, {"one": 2.0}, {"one": 0.5, "two": -3.0}], ids=str)
def test_a_union_with_weights(weights: Any) -> None:
    parts = [("one", StandardScaler()), ("none", "drop"), ("two", MinMaxScaler())]
    union = FeatureUnion(parts, transformer_weights=weights).fit(MATRIX)
    model = onnxsmith.sklearn.convert(union, MATRIX)
    np.testing.assert_allclose(model(MATRIX), union.transform(MATRIX), rtol=1e-12)
