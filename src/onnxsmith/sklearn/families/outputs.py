"""Several targets: one estimator for each."""

from __future__ import annotations

from collections.abc import Iterator

from onnxsmith.numpy import Array, stack
from onnxsmith.sklearn.calling import call, step
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Given


def _of_each(estimator: Fitted, method: str, x: Given) -> Iterator[Array]:
    for k, each in enumerate(estimator.estimators_):
        with step(f"estimators_[{k}]"):
            found = call(each, method, x)
        if not isinstance(found, Array):
            raise NotCovered("targets that are text are no columns of one array")
        yield found


@converts("sklearn.multioutput.MultiOutputRegressor", "sklearn.multioutput.MultiOutputClassifier", "predict")
def columns_of_targets(estimator: Fitted, x: Given) -> Array:
    """A column for each target."""
    return stack(list(_of_each(estimator, "predict", x)), axis=1)


@converts("sklearn.multioutput.MultiOutputClassifier", "predict_proba")
def probabilities_of_targets(estimator: Fitted, x: Given) -> Array:
    """The matrices of all targets as one array; scikit-learn gives them as a list."""
    if len({len(each.classes_) for each in estimator.estimators_}) > 1:
        raise NotCovered("targets with different numbers of classes, whose probabilities are no single array")
    return stack(list(_of_each(estimator, "predict_proba", x)), axis=0)
