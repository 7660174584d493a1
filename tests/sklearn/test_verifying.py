"""Never silently wrong: a model that differs from its pipeline is refused, with the rows and the difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import onnxsmith
from onnxsmith.errors import VerificationError

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2


class Off(TransformerMixin, BaseEstimator):
    """Says something else of itself than it computes, where a number is above a bound."""

    def __init__(self, by: float = 0.25, above: float = -np.inf) -> None:
        self.by, self.above = by, above

    def fit(self, X: Any, y: Any = None) -> Off:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return X * 1.0

    def to_onnx(self, op: Any, x: Any) -> Any:
        return op.Where(op.Greater(x, np.float64(self.above)), x + self.by, x)


class Blind(TransformerMixin, BaseEstimator):
    """Wrong for NaN alone."""

    def fit(self, X: Any, y: Any = None) -> Blind:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return np.nan_to_num(X)

    def to_onnx(self, op: Any, x: Any) -> Any:
        return op.Identity(x)


class Flipped(ClassifierMixin, BaseEstimator):
    """Labels that its model takes for others above 1."""

    def fit(self, X: Any, y: Any) -> Flipped:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > 0).astype(np.int64)

    def decision_function(self, X: Any) -> Any:
        return X[:, 0]

    def to_onnx(self, op: Any, x: Any) -> Any:
        first = op.Squeeze(op.Slice(x, [0], [1], [1]), [1])
        return op.Cast(op.And(op.Greater(first, np.float64(0)), op.Less(first, np.float64(1))), to=7)


def test_a_difference_is_refused_with_rows_and_how_much() -> None:
    told = r"on X, the model differs from Off.transform by up to 0\.\d+ of the largest number"
    with pytest.raises(VerificationError, match=told):
        onnxsmith.sklearn.convert(Off().fit(X), X)


def test_only_the_rows_that_differ_are_named() -> None:
    above = float(np.sort(X.ravel())[-2])
    row = int(np.argmax(X.max(axis=1)))
    with pytest.raises(VerificationError, match=f"in rows {row} of 12"):
        onnxsmith.sklearn.convert(Off(above=above).fit(X), X)


def test_a_difference_that_is_allowed_is_reported() -> None:
    model = onnxsmith.sklearn.convert(Off(1e-3).fit(X), X, tolerance=1e-2)
    # Of all rows that are compared, the first one alone has the smallest numbers.
    assert model.report.largest == pytest.approx(1e-3 / np.abs(X[0]).max())
    assert f"transform differs by {1e-3 / np.abs(X).max():.3g}" in str(model.report)


class Tripled(RegressorMixin, BaseEstimator):
    """Targets of a size that its model takes for three times as large."""

    def fit(self, X: Any, y: Any) -> Tripled:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return X[:, 0] * 1e-6

    def to_onnx(self, op: Any, x: Any) -> Any:
        return op.Squeeze(op.Slice(x, [0], [1], [1]), [1]) * 3e-6


def test_small_numbers_are_compared_by_their_size() -> None:
    with pytest.raises(VerificationError, match=r"Tripled.predict by up to 2 of the largest number"):
        onnxsmith.sklearn.convert(Tripled().fit(X, Y), X)


def test_what_is_wrong_for_nan_alone_is_found() -> None:
    with pytest.raises(VerificationError, match="on NaN, the model differs"):
        onnxsmith.sklearn.convert(Blind().fit(X), X)


def test_labels_that_flip_are_refused() -> None:
    with pytest.raises(VerificationError, match=r"the model differs from Flipped.predict in \d+ labels"):
        onnxsmith.sklearn.convert(Flipped().fit(X, Y), X)


def test_rows_that_flip_are_explained() -> None:
    fitted = Flipped().fit(X, Y)
    model = onnxsmith.sklearn.convert(fitted, X, verify=False)
    found = onnxsmith.sklearn.discrepancies(fitted, model, X)
    assert [each.row for each in found] == np.flatnonzero(X[:, 0] >= 1).tolist()
    assert found[0].expected == 1
    assert found[0].found == 0
    assert "the two best labels are" in found[0].reason


def test_a_model_without_discrepancies_has_none() -> None:
    fitted = LogisticRegression().fit(X, Y)
    assert onnxsmith.sklearn.discrepancies(fitted, onnxsmith.sklearn.convert(fitted, X), X) == []


def test_a_report_says_on_what_a_model_was_compared() -> None:
    model = onnxsmith.sklearn.convert(LinearRegression().fit(X, Y), X)
    beyond = "numbers outside the range of X"
    assert {each.rows for each in model.report.checks} == {"X", "one row", "25 rows", beyond}
    assert [each.partition(":")[0] for each in model.report.notes] == ["no rows", "NaN"]


def test_thresholds_of_trees_are_hit() -> None:
    model = onnxsmith.sklearn.convert(DecisionTreeClassifier(random_state=0).fit(X, Y), X)
    assert "thresholds exactly hit" in {each.rows for each in model.report.checks}


def test_whole_numbers_that_float32_does_not_hold_are_compared() -> None:
    numbers = np.arange(12).reshape(4, 3)
    model = onnxsmith.sklearn.convert(StandardScaler().fit(numbers), numbers)
    assert "integers beyond 2**24" in {each.rows for each in model.report.checks}
