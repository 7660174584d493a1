"""The table of converters: which class takes which converter."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from onnxsmith.sklearn.table import CONVERTERS, converter_of, public_name


def test_a_class_is_known_by_its_public_name() -> None:
    assert public_name(LogisticRegression) == "sklearn.linear_model.LogisticRegression"


def test_a_subclass_takes_the_converter_unless_it_overrides_what_takes_part() -> None:
    class Fits(StandardScaler):
        def fit(self, X: object, y: object = None) -> Fits:
            return self

    class Transforms(StandardScaler):
        def transform(self, X: object, copy: object = None) -> object:
            return X

    class Scores(LogisticRegression):
        def decision_function(self, X: object) -> object:
            return X

    assert converter_of(Fits, "transform") is CONVERTERS["sklearn.preprocessing.StandardScaler", "transform"]
    assert converter_of(Transforms, "transform") is None
    assert converter_of(Scores, "predict") is None
    assert converter_of(Transforms, "transform", after=Transforms) is not None
