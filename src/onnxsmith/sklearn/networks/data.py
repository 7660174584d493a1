"""Data of estimators as networks take them: checked by scikit-learn, dense, in one element type, and split."""

from __future__ import annotations

import importlib
from typing import Any, TypeAlias, cast

import numpy as np
from sklearn.base import BaseEstimator  # pyright: ignore[reportMissingTypeStubs]

from onnxsmith.core.value import Array
from onnxsmith.errors import AttributeValueError, PipelineError
from onnxsmith.sklearn.rows import Elements, Rows

# scikit-learn has no types.
_validation: Any = importlib.import_module("sklearn.utils.validation")
_multiclass: Any = importlib.import_module("sklearn.utils.multiclass")
_selection: Any = importlib.import_module("sklearn.model_selection")
_metrics: Any = importlib.import_module("sklearn.metrics")
_utils: Any = importlib.import_module("sklearn.utils")

#: Rows, targets and weights.
Examples: TypeAlias = "tuple[Array, Array, Array | None]"


def checked_rows(estimator: BaseEstimator, X: Rows, dtype: str) -> Array:
    """Rows to predict for, with the columns that an estimator was fitted on."""
    found = _validation.validate_data(
        estimator, X, accept_sparse=["csr", "csc"], dtype=(np.float64, np.float32), reset=False
    )
    return dense_rows(found, dtype)


def checked_examples(estimator: BaseEstimator, X: Rows, y: Rows, *, is_first: bool) -> tuple[Any, Elements]:
    """Rows, which may be a sparse matrix, and targets; of a single column as a vector."""
    rows, given = _validation.validate_data(
        estimator,
        X,
        y,
        accept_sparse=["csr", "csc"],
        multi_output=True,
        dtype=(np.float64, np.float32),
        reset=is_first,
    )
    if given.ndim == 2 and given.shape[1] == 1:
        given = _validation.column_or_1d(given, warn=True)
    return rows, given


def dense_rows(rows: Rows, dtype: str) -> Array:
    """Rows as a network takes them: dense, and of its element type."""
    dense = cast(Any, rows).toarray() if hasattr(rows, "toarray") else rows
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(dense, dtype)
    if found.dtype != np.float64 and not np.isfinite(found).all():
        raise PipelineError(
            "X has numbers that are infinite in float32", help="scale X, or train with dtype='float64'"
        )
    return found


def with_weights(data: Array, target: Array, sample_weight: Rows | None) -> Examples:
    """Examples with their weights; one of weight 0 is as if it were not there."""
    if sample_weight is None:
        return data, target, None
    weight = cast(
        Array,
        _validation._check_sample_weight(sample_weight, data, ensure_non_negative=True, dtype=data.dtype),
    )
    if not weight.any():
        raise PipelineError("all weights of examples are zero: sample_weight has to have one that is not")
    kept = weight != 0
    return (data, target, weight) if kept.all() else (data[kept], target[kept], weight[kept])


def split(
    examples: Examples, share: float, random: np.random.RandomState, *, is_of_labels: bool
) -> tuple[Examples, Examples]:
    """Examples for training and for a score, both with all classes where targets are labels."""
    data, target, weight = examples
    train, test = _selection.train_test_split(
        np.arange(len(data)),
        test_size=share,
        random_state=random,
        stratify=target.ravel() if is_of_labels else None,
    )
    if len(test) < 2:
        raise AttributeValueError(f"validation_fraction={share} of {len(data)} rows are too few to score")

    def taken(rows: Array) -> Examples:
        return data[rows], target[rows], None if weight is None else weight[rows]

    return taken(train), taken(test)


def random_of(state: int | np.random.RandomState | None) -> np.random.RandomState:
    """The source of random numbers that a parameter `random_state` names."""
    return _utils.check_random_state(state)


def check_fitted(estimator: BaseEstimator) -> None:
    """Raise scikit-learn's NotFittedError for an estimator that is not fitted."""
    _validation.check_is_fitted(estimator, "n_iter_")


def kind_of_labels(y: Elements) -> str:
    """The kind of labels, by scikit-learn's names; numbers that are none are refused."""
    _multiclass.check_classification_targets(y)
    return _multiclass.type_of_target(y)


def accuracy(wanted: Elements, found: Elements, weight: Elements | None) -> float:
    """The share of right labels."""
    return float(_metrics.accuracy_score(wanted, found, sample_weight=weight))


def r2(wanted: Elements, found: Elements, weight: Elements | None) -> float:
    """The share of the variance that is explained."""
    return float(_metrics.r2_score(wanted, found, sample_weight=weight))
