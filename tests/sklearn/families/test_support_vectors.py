"""Support vector machines: libsvm's votes, ties and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(70, 4))
_CLASSES = (_ROWS[:, 0] > 0).astype(int) + (_ROWS[:, 1] > 0.5)
_ASKED = np.concatenate([_ROWS[:10], _RANDOM.normal(size=(41, 4))])


def _agrees(estimator: Any, *methods: str) -> None:
    found = convert(estimator, _ASKED, outputs=list(methods))(_ASKED)
    for method, each in zip(methods, found if len(methods) > 1 else [found], strict=True):
        expected = getattr(estimator, method)(_ASKED)
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(each, expected, rtol=1e-9, atol=1e-11)
        else:
            np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
@pytest.mark.parametrize("count", [2, 3])
def test_kernels(kernel: Any, count: int):
    _agrees(SVC(kernel=kernel, coef0=0.5).fit(_ROWS, _CLASSES % count), "predict", "decision_function")
    _agrees(SVR(kernel=kernel).fit(_ROWS, _ROWS[:, 1]), "predict")


@pytest.mark.parametrize("options", [{"decision_function_shape": "ovo"}, {"break_ties": True}], ids=str)
def test_votes(options: dict[str, Any]):
    _agrees(SVC(**options).fit(_ROWS, _CLASSES), "predict", "decision_function")


def test_ties_are_won_by_the_first_class_and_broken_where_that_is_asked_for():
    """Three classes that beat each other in a circle have a vote each."""
    angles = np.array([90.0, 210.0, 330.0]) / 180 * np.pi
    corners = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rows = np.concatenate([corners + shift for shift in _RANDOM.normal(0, 0.3, (12, 3, 2))])
    classes = np.tile(np.array(["a", "b", "c"]), 12)
    asked = _RANDOM.normal(0, 0.1, (200, 2))
    found: list[Any] = []
    for breaks in (False, True):
        estimator = SVC(kernel="linear", break_ties=breaks).fit(rows, classes)
        found.append(convert(estimator, asked, outputs=["predict"])(asked))
        np.testing.assert_array_equal(found[-1], estimator.predict(asked))


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("count", [2, 3])
def test_probabilities(count: int):
    _agrees(SVC(probability=True, random_state=0).fit(_ROWS, _CLASSES % count), "predict_proba")


def test_the_other_machines():
    _agrees(NuSVC(nu=0.2).fit(_ROWS, _CLASSES), "predict", "decision_function")
    _agrees(NuSVR().fit(_ROWS, _ROWS[:, 0]), "predict")
    _agrees(OneClassSVM(nu=0.2).fit(_ROWS), "predict", "decision_function", "score_samples")
