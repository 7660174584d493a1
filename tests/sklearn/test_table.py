"""The table of converters: who takes which, and that each is found where `homes` says."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from onnxsmith.sklearn.homes import HOMES, OTHER_HOMES, load_all
from onnxsmith.sklearn.table import CONVERTERS, converter_of, public_name


def test_homes_lists_what_the_families_enter() -> None:
    load_all()
    every = [f"sklearn.{each}" for names in HOMES.values() for each in names.split()]
    every += [each for names in OTHER_HOMES.values() for each in names.split()]
    listed = set(every)
    assert len(every) == len(listed)
    assert listed == {name for name, _ in CONVERTERS}


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
