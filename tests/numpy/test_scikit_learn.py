"""Estimators of scikit-learn and functions of scipy on our arrays: at once, and recorded with an open batch.

Both are staged: they compute with the namespace of the arrays that they are given. What was fitted on numpy's arrays
becomes constants of the model. scikit-learn asks for one row or more, so that the batch is declared so, and looks for
NaN unless it is told that there is none.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.special
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    KernelCenterer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, Dim, Model, trace
from onnxsmith.errors import ModelInputError

pytestmark = pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1", reason="the environment says that scipy is not staged"
)

_RANDOM = np.random.default_rng(0)
X = _RANDOM.normal(size=(40, 6))
LABELS = _RANDOM.integers(0, 3, 40)
TARGETS = _RANDOM.normal(size=40)
SIZES = (1, 3, 40)

#: Estimators that scikit-learn documents as staged, fitted on numpy's arrays, and what is asked of them.
CASES: dict[str, tuple[Any, str]] = {
    "PCA": (PCA(3).fit(X), "transform"),
    "PCA, back": (PCA(6).fit(X), "inverse_transform"),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis().fit(X, LABELS), "predict"),
    "LinearDiscriminantAnalysis, transformed": (LinearDiscriminantAnalysis().fit(X, LABELS), "transform"),
    "LinearDiscriminantAnalysis, probabilities": (
        LinearDiscriminantAnalysis().fit(X, LABELS),
        "predict_proba",
    ),
    "LinearRegression": (LinearRegression().fit(X, TARGETS), "predict"),
    "Ridge": (Ridge().fit(X, TARGETS), "predict"),
    "RidgeCV": (RidgeCV().fit(X, TARGETS), "predict"),
    "RidgeClassifier": (RidgeClassifier().fit(X, LABELS), "predict"),
    "LogisticRegression": (LogisticRegression().fit(X, LABELS), "predict"),
    "LogisticRegression, probabilities": (LogisticRegression().fit(X, LABELS), "predict_proba"),
    "PoissonRegressor": (PoissonRegressor().fit(X, np.abs(TARGETS)), "predict"),
    "GaussianNB": (GaussianNB().fit(X, LABELS), "predict"),
    "GaussianNB, probabilities": (GaussianNB().fit(X, LABELS), "predict_proba"),
    "GaussianMixture": (GaussianMixture(2, random_state=0).fit(X), "predict"),
    "GaussianMixture, probabilities": (GaussianMixture(2, random_state=0).fit(X), "predict_proba"),
    "Nystroem": (Nystroem(n_components=5, random_state=0).fit(X), "transform"),
    "StandardScaler": (StandardScaler().fit(X), "transform"),
    "StandardScaler, back": (StandardScaler().fit(X), "inverse_transform"),
    "MinMaxScaler": (MinMaxScaler(clip=True).fit(X), "transform"),
    "MaxAbsScaler": (MaxAbsScaler().fit(X), "transform"),
    "Normalizer": (Normalizer().fit(X), "transform"),
    "Normalizer, greatest": (Normalizer("max").fit(X), "transform"),
    "Binarizer": (Binarizer().fit(X), "transform"),
    "KernelCenterer": (KernelCenterer().fit(X[:6] @ X[:6].T), "transform"),
    "PolynomialFeatures": (PolynomialFeatures(2).fit(X), "transform"),
    "a pipeline": (make_pipeline(StandardScaler(), PCA(3), Ridge()).fit(X, TARGETS), "predict"),
}


def staged(estimator: Any) -> Any:
    """A fitted estimator with what it learnt as arrays of ours."""
    made = copy.copy(estimator)
    for name, value in vars(estimator).items():
        if name == "steps":
            made.steps = [(step, staged(each)) for step, each in value]
        elif isinstance(value, np.ndarray | np.floating) and value.dtype.kind in "biuf":
            setattr(made, name, xp.asarray(value))
    return made


def assert_near(ours: Any, expected: Any) -> None:
    assert np.asarray(ours).shape == np.asarray(expected).shape
    np.testing.assert_allclose(np.asarray(ours), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_an_estimator_computes_with_our_arrays(name: str) -> None:
    estimator, method = CASES[name]
    with config_context(array_api_dispatch=True):
        ours = getattr(staged(estimator), method)(xp.asarray(X))
    assert isinstance(ours, xp.Array)
    assert_near(ours, getattr(estimator, method)(X))


@pytest.mark.parametrize("name", CASES)
def test_an_estimator_is_recorded_with_an_open_batch(name: str) -> None:
    estimator, method = CASES[name]
    ready = staged(estimator)
    with config_context(array_api_dispatch=True, assume_finite=True):
        model = trace(lambda t: getattr(ready, method)(xp.asarray(t)).tensor, DOUBLE[Dim("N", min=1), 6])
    loaded = Model.from_proto(model.proto)
    for size in SIZES:
        assert_near(loaded(X[:size]), getattr(estimator, method)(X[:size]))
    with pytest.raises(ModelInputError, match="N >= 1"):  # as scikit-learn refuses no rows
        loaded(X[:0])


#: Functions of scipy that are staged.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "special.softmax": lambda x: scipy.special.softmax(x, axis=1),
    "special.log_softmax": lambda x: scipy.special.log_softmax(x, axis=1),
    "special.expit": lambda x: scipy.special.expit(x),
    "special.logit": lambda x: scipy.special.logit(x * x / (1 + x * x)),
    "special.entr": lambda x: scipy.special.entr(x * x),
    "special.erf": lambda x: scipy.special.erf(x),
    "special.erfc": lambda x: scipy.special.erfc(x),
    "special.ndtr": lambda x: scipy.special.ndtr(x),
    "special.log_ndtr": lambda x: scipy.special.log_ndtr(x),
    "special.i0e": lambda x: scipy.special.i0e(x),
    "special.xlogy": lambda x: scipy.special.xlogy(x * x, x * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_scipy_computes_with_our_arrays(name: str) -> None:
    ours = FUNCTIONS[name](xp.asarray(X))
    assert isinstance(ours, xp.Array)
    assert_near(ours, FUNCTIONS[name](X))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_scipy_is_recorded_with_an_open_batch(name: str) -> None:
    model = trace(lambda t: FUNCTIONS[name](xp.asarray(t)).tensor, DOUBLE[Dim("N", min=1), 6])
    for size in SIZES:
        assert_near(model(X[:size]), FUNCTIONS[name](X[:size]))
