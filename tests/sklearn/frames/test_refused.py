"""Values that a pipeline refuses are refused by `predict` and `transform`, and numbers never change their value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import NMF
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import onnxsmith
from onnxsmith.errors import PipelineError
from onnxsmith.sklearn import convert, signature

DRAWS = np.random.RandomState(0)
X = DRAWS.randn(30, 40)
Y = np.where(X[:, 0] > 0, "u", "v")
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": ["x", "y", "z"] * 10})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("width", [2, 40])
def test_numbers_that_a_matrix_may_not_hold(value: float, width: int, tmp_path: Any) -> None:
    convert(make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:, :width], Y), X[:, :width]).save(
        tmp_path / "m.onnx"
    )
    model = onnxsmith.load(tmp_path / "m.onnx")
    wrong = X[:3, :width].copy()
    wrong[1, width - 1] = value
    with pytest.raises(PipelineError, match=f"column {width - 1} of X holds (NaN|infinity)"):
        model.predict(wrong)
    with pytest.raises(PipelineError):
        model.predict_proba(wrong)


def test_trees_take_no_number_beyond_float32() -> None:
    fitted = DecisionTreeClassifier().fit(X, Y)
    model = convert(fitted, X)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="infinity"):
        fitted.predict(X * 1e300)
    with pytest.raises(PipelineError, match="beyond float32"):
        model.predict(X * 1e300)


@pytest.mark.parametrize(
    ("estimator", "value", "said"),
    [
        (NMF(2), -1e-3, "a negative number"),
        (AdditiveChi2Sampler(), -5.0, "a negative number"),
        (PowerTransformer("box-cox"), -1.0, "a negative number"),
        (PowerTransformer("box-cox"), 0.0, "a zero"),
        (FunctionTransformer(), -1.0, None),
        (make_pipeline(MinMaxScaler(), StandardScaler()), 0.0, None),
        (OneHotEncoder(), -2.0, None),  # which knows it
        (PolynomialFeatures(2), 1e39, None),
        (make_pipeline(PolynomialFeatures(2), StandardScaler()), 1e200, "square is beyond float64"),
    ],
)
def test_numbers_of_a_range(estimator: Any, value: float, said: str | None) -> None:
    data = np.abs(X[:, :2]) + 0.5
    if isinstance(estimator, OneHotEncoder):
        data = np.array([[-2.0, 1.0], [3.0, -2.0]])
    fitted = estimator.fit(data)
    model = convert(fitted, data)
    rows = np.array([[value, 1.0]])
    if said is None:
        wanted = fitted.transform(rows)
        np.testing.assert_allclose(
            model.transform(rows), wanted.toarray() if hasattr(wanted, "toarray") else wanted
        )
        return
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"strictly positive|Negative|infinity"):
        fitted.transform(rows)
    with pytest.raises(PipelineError, match=said):
        model.transform(rows)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_category_below_zero_is_not_counted_from_the_end(dtype: Any) -> None:
    """A fraction above -1 is the first category, for scikit-learn as well."""
    data = np.array([[0, 1], [1, 2], [2, 0], [3, 1]] * 3).astype(dtype)
    fitted = CategoricalNB(min_categories=6).fit(data, np.arange(12) % 2)
    model = convert(fitted, data)
    for value in (-1, -3):
        rows = np.array([[0, value]]).astype(dtype)
        with pytest.raises(ValueError, match="Negative"):
            fitted.predict(rows)
        with pytest.raises(PipelineError, match="column 1 of X holds a number of -1 or less"):
            model.predict(rows)
    rows = np.array([[-0.5, 1]]).astype(dtype)
    assert model.predict(rows).tolist() == fitted.predict(rows).tolist()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_columns_refuse_each_for_themselves(kind: Any) -> None:
    """The first is filled in, the second is not, and the third has no such category."""
    data = kind(FRAME.to_dict("list"))
    columns = make_column_transformer(
        (SimpleImputer(), ["a"]), (StandardScaler(), ["b"]), (OneHotEncoder(), ["c"])
    )
    fitted = make_pipeline(columns, LogisticRegression()).fit(data, Y)
    model = convert(fitted, data)
    assert dict(signature(model).refused)["NaN"] == (1,)
    base = FRAME.head(3).to_dict("list")
    fine = kind(base | {"a": [np.nan, 1.0, 2.0]})
    assert model.predict(fine).tolist() == fitted.predict(fine).tolist()
    with pytest.raises(PipelineError, match="column 'b' holds NaN"):
        model.predict(kind(base | {"b": [np.nan, 1.0, 2.0]}))
    with pytest.raises(PipelineError, match="column 'c' holds a missing text"):
        model.predict(kind(base | {"c": ["x", None, "y"]}))


def test_what_the_pipeline_takes_is_not_refused() -> None:
    missing = X.copy()
    missing[::3, ::2] = np.nan
    for fitted in (
        HistGradientBoostingClassifier(max_iter=3).fit(missing, Y),
        make_pipeline(SimpleImputer(), LogisticRegression()).fit(missing, Y),
    ):
        model = convert(fitted, missing)
        assert "NaN" not in dict(signature(model).refused)
        assert model.predict(missing).tolist() == fitted.predict(missing).tolist()


@pytest.mark.parametrize(
    "texts",
    [["good", None], ["good", np.nan], pd.Series(["good", None]), pd.DataFrame({"t": ["good", None]})],
)
def test_missing_texts(texts: Any) -> None:
    given = ["good thing", "bad thing", "good", "bad"]
    model = convert(make_pipeline(CountVectorizer(), LogisticRegression()).fit(given, list("pnpn")), given)
    with pytest.raises(PipelineError, match="X holds a missing text"):
        model.predict(texts)


@pytest.mark.parametrize(
    ("fitted_on", "given", "value"),
    [
        ("int8", "uint8", 200),
        ("int64", "uint64", 2**63 + 5),
        ("int8", "int16", 300),
        ("float32", "float64", 1e300),
        ("float64", "uint64", 2**64 - 1),
    ],
)
@pytest.mark.parametrize("form", ["frame", "array"])
def test_numbers_that_the_element_type_does_not_hold(
    fitted_on: str, given: str, value: float, form: str
) -> None:
    data = pd.DataFrame({"n": np.array([1, 2, 3, 4]).astype(fitted_on)})
    model = convert(make_pipeline(FunctionTransformer()).fit(data), data)
    new = pd.DataFrame({"n": np.array([value], given)})
    with pytest.raises(PipelineError, match="does not hold it"):
        model.transform(new if form == "frame" else new.to_numpy())
    fine = pd.DataFrame({"n": np.array([7], given)})
    assert model.transform(fine).item() == 7
