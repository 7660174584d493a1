"""Ensembles of pipelines that take the columns of a frame, text among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(1)
_FRAME = pd.DataFrame({"size": _RANDOM.normal(size=40), "town": _RANDOM.choice(["Bern", "Graz", "Ulm"], 40)})
_CLASSES = np.where(_FRAME["size"] > 0, "large", "small")


def _columns() -> Any:
    return make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["town"]))


_MEMBERS: list[Any] = [
    ("tree", make_pipeline(_columns(), DecisionTreeClassifier(max_depth=2))),
    ("line", make_pipeline(_columns(), LogisticRegression())),
    ("left out", "drop"),
]


@pytest.mark.parametrize("weights", [None, [1, 3, 9]])
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_voting_of_classes(voting: str, weights: Any) -> None:
    members = [(name, each if isinstance(each, str) else clone(each)) for name, each in _MEMBERS]
    fitted = VotingClassifier(members, voting=voting, weights=weights).fit(_FRAME, _CLASSES)
    model = convert(fitted, _FRAME)
    assert model.predict(_FRAME).tolist() == fitted.predict(_FRAME).tolist()
    if voting == "soft":
        np.testing.assert_allclose(model.predict_proba(_FRAME), fitted.predict_proba(_FRAME), rtol=1e-14)


@pytest.mark.parametrize("weights", [None, [1, 3]])
def test_voting_of_numbers(weights: Any) -> None:
    members = [(f"{alpha}", make_pipeline(_columns(), Ridge(alpha))) for alpha in (0.1, 10.0)]
    fitted = VotingRegressor(members, weights=weights).fit(_FRAME, _FRAME["size"] ** 2)
    np.testing.assert_allclose(convert(fitted, _FRAME).predict(_FRAME), fitted.predict(_FRAME), rtol=1e-12)
