"""Labels of classifiers, and rows outside what an estimator was fitted on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import SplineTransformer

from onnxsmith.errors import UnconvertedStepError, VerificationError
from onnxsmith.sklearn import convert
from onnxsmith.sklearn.rows import variants
from onnxsmith.sklearn.thresholds import rows_at_thresholds
from tests.laws.named import law

X = np.random.RandomState(0).randn(300, 4)


def test_labels_are_those_of_the_models_own_probabilities() -> None:
    draws = np.random.RandomState(1)
    y = (X @ draws.randn(4, 3) + draws.randn(300, 3)).argmax(1)
    fitted = CalibratedClassifierCV(LogisticRegression(), method="isotonic").fit(
        X, np.array(["a", "b", "c"])[y]
    )
    model = convert(fitted, X[:20])
    assert not [each for each in model.roads if each.road == "skl2onnx"]
    labels, probabilities = model(draws.randn(3000, 4))
    assert np.array_equal(labels, fitted.classes_[probabilities.argmax(1)])


@pytest.mark.parametrize("extrapolation", ["constant", "linear", "continue"])
@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_splines_outside_their_knots(extrapolation, degree, is_sparse) -> None:
    fitted = SplineTransformer(5, degree=degree, extrapolation=extrapolation, sparse_output=is_sparse).fit(X)
    far = np.random.RandomState(2).randn(300, 4) * 3
    try:
        wanted = fitted.transform(far)
    except ValueError:  # scikit-learn's own mistake with a degree of 0
        assert degree == 0
        return
    found = convert(fitted, X[:50])(far)
    assert np.allclose(found, wanted.toarray() if is_sparse else wanted)


def test_splines_that_raise_are_refused_in_words() -> None:
    with pytest.raises(UnconvertedStepError, match="as extrapolation='error' does") as raised:
        convert(SplineTransformer(extrapolation="error").fit(X), X[:50])
    assert raised.value.message.endswith("takes no array that only the model knows")


def test_rows_outside_the_range_of_the_data_are_compared() -> None:
    rows = dict(variants(X))["numbers outside the range of X"]
    assert (rows.min(0) < X.min(0)).all()
    assert (rows.max(0) > X.max(0)).all()


def test_a_converter_that_is_wrong_outside_the_range_is_found() -> None:
    class Clipped(SplineTransformer):
        def to_onnx(self, op, x):
            return op.Clip(x, X.min(), X.max())

        def transform(self, X):
            return np.asarray(X)

    with pytest.raises(VerificationError, match="outside the range"):
        convert(Clipped().fit(X), X)


def test_edges_are_hit_exactly() -> None:
    fitted = SplineTransformer(5, degree=1).fit(X)
    rows = rows_at_thresholds(fitted, convert(fitted, X), X)
    assert rows is not None
    assert X[:, 0].min() in rows[:, 0]


def test_the_law_of_labels() -> None:
    assert not law("labels").wrong(0, 5)
