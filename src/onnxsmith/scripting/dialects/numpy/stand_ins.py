"""Helpers of other libraries, written again for plain arrays: staged in the places of the libraries' own.

The libraries ask what they are given for classes of data frames, sparse matrices and more, in ways that cannot be
staged (generators, sets of sizes, texts that depend on values). Of arrays the answers are known, and here is what
remains. This module is code for numpy, as a user's is: it is not called, but staged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.errors import TracedValueError
from onnxsmith.scripting.dialects.numpy.target_types import SomeClasses, TargetType

Numbers: TypeAlias = np.ndarray[Any, Any]


# -- scikit-learn ------------------------------------------------------------------------------------------


def _is_frame(x: object) -> bool:
    return False


def _check_lengths(*arrays: Numbers | None) -> None:
    given = [each for each in arrays if each is not None]
    for each in given[1:]:
        if each.shape[0] != given[0].shape[0]:
            raise ValueError("Found input variables with inconsistent numbers of samples")


def _check_finite(
    X: Numbers,
    allow_nan: bool = False,
    msg_dtype: object = None,
    estimator_name: str | None = None,
    input_name: str = "",
) -> None:
    if X.dtype.kind in "fc":
        if np.any(np.isinf(X)):
            raise ValueError("Input contains infinity or a value too large for its element type")
        if not allow_nan and np.any(np.isnan(X)):
            raise ValueError("Input contains NaN")


def _check_array(
    array: Numbers,
    accept_sparse: object = False,
    *,
    accept_large_sparse: bool = True,
    dtype: str | type | Sequence[type] | None = "numeric",
    order: str | None = None,
    copy: bool = False,
    force_writeable: bool = False,
    ensure_all_finite: bool | str = True,
    ensure_non_negative: bool = False,
    ensure_2d: bool = True,
    allow_nd: bool = False,
    ensure_min_samples: int = 1,
    ensure_min_features: int = 1,
    estimator: object = None,
    input_name: str = "",
) -> Numbers:
    given = np.asarray(array)
    if given.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    wanted: Any = dtype
    if isinstance(dtype, str) and dtype == "numeric":
        wanted = None
    if isinstance(dtype, list | tuple):
        wanted = None if given.dtype in [np.dtype(each) for each in dtype] else dtype[0]
    if wanted is not None and np.dtype(wanted).kind in "iu":
        _check_finite(given)
    checked = given if wanted is None else given.astype(np.dtype(wanted), copy=False)
    if ensure_2d and checked.ndim < 2:
        raise ValueError(f"Expected 2D array, got {checked.ndim}D array instead")
    if not allow_nd and checked.ndim >= 3:
        raise ValueError(f"Found array with dim {checked.ndim}, while dim <= 2 is required")
    if ensure_all_finite:
        _check_finite(checked, ensure_all_finite == "allow-nan")
    if copy:
        checked = np.array(checked)
    if ensure_min_samples > 0:
        if checked.ndim == 0:
            raise TypeError("Input should have at least 1 dimension")
        if checked.shape[0] < ensure_min_samples:
            raise ValueError(f"Found fewer samples than the minimum of {ensure_min_samples}")
    if ensure_min_features > 0 and checked.ndim == 2 and checked.shape[1] < ensure_min_features:
        raise ValueError(f"Found fewer features than the minimum of {ensure_min_features}")
    if ensure_non_negative and np.any(checked < 0):
        raise ValueError("Negative values in data")
    return checked


def _check_clusterings(labels_true: Numbers, labels_pred: Numbers) -> tuple[Numbers, Numbers]:
    first = _check_array(labels_true, ensure_2d=False, ensure_min_samples=0, dtype=None)
    second = _check_array(labels_pred, ensure_2d=False, ensure_min_samples=0, dtype=None)
    if first.ndim != 1:
        raise ValueError("labels_true must be 1D")
    if second.ndim != 1:
        raise ValueError("labels_pred must be 1D")
    _check_lengths(first, second)
    return first, second


def _contingency(
    labels_true: Numbers,
    labels_pred: Numbers,
    *,
    eps: float | None = None,
    sparse: bool = False,
    dtype: type[np.number[Any]] = np.int64,
) -> Numbers:
    if sparse:
        raise TracedValueError("a sparse matrix is made here, which a model does not have")
    counts: Any = _counts(labels_true, labels_pred).astype(dtype)
    return counts if eps is None else counts + eps


def _counts(labels_true: Numbers, labels_pred: Numbers) -> Numbers:
    """How many samples have each two labels."""
    classes, clusters = np.unique(labels_true), np.unique(labels_pred)
    return _weighted_counts(labels_true[:, None] == classes, labels_pred[:, None] == clusters, None)


def _pair_confusion(labels_true: Numbers, labels_pred: Numbers) -> Numbers:
    first, second = _check_clusterings(labels_true, labels_pred)
    counts = _counts(first, second)
    size = first.shape[0]
    both = np.sum(counts**2)
    one = np.sum(np.sum(counts, axis=0) ** 2) - both
    other = np.sum(np.sum(counts, axis=1) ** 2) - both
    neither = size**2 - one - other - both
    return np.stack([np.stack([neither, one]), np.stack([other, both - size])])


def _fowlkes_mallows(labels_true: Numbers, labels_pred: Numbers) -> float:
    first, second = _check_clusterings(labels_true, labels_pred)
    counts = _counts(first, second)
    size = first.shape[0]
    both = np.sum(counts**2) - size
    one = np.sum(np.sum(counts, axis=0) ** 2) - size
    other = np.sum(np.sum(counts, axis=1) ** 2) - size
    return float(np.sqrt(both / one) * np.sqrt(both / other)) if both != 0 else 0.0


def _information(counts: Numbers) -> float:
    """Of two labels that are counted together."""
    rows, columns = np.sum(counts, axis=1), np.sum(counts, axis=0)
    total = np.sum(counts)
    is_there = counts > 0
    held = np.where(is_there, counts, 1)
    outer = np.where(is_there, rows[:, None] * columns[None, :], 1)
    part = held / total
    each = part * (np.log(held) - np.log(total)) + part * (2 * np.log(total) - np.log(outer))
    each = np.where(is_there & (np.abs(each) >= np.finfo(np.float64).eps), each, 0.0)
    found = np.clip(np.sum(each), 0.0, None)
    return float(np.where((rows.shape[0] == 1) | (columns.shape[0] == 1), 0.0, found))


def _mutual_information(
    labels_true: Numbers, labels_pred: Numbers, *, contingency: Numbers | None = None
) -> float:
    if contingency is not None:
        return _information(_check_array(contingency, dtype=[int, np.int32, np.int64]))
    first, second = _check_clusterings(labels_true, labels_pred)
    return _information(_counts(first, second))


def _entropy_of(counts: Numbers) -> float:
    total = np.sum(counts)
    return -float(np.sum((counts / total) * (np.log(counts) - np.log(total))))


def _homogeneity(
    labels_true: Numbers, labels_pred: Numbers, *, beta: float = 1.0
) -> tuple[float, float, float]:
    first, second = _check_clusterings(labels_true, labels_pred)
    if first.shape[0] == 0:
        return 1.0, 1.0, 1.0
    counts = _counts(first, second)
    shared = _information(counts)
    of_first, of_second = _entropy_of(np.sum(counts, axis=1)), _entropy_of(np.sum(counts, axis=0))
    homogeneity = shared / of_first if of_first != 0.0 else 1.0
    completeness = shared / of_second if of_second != 0.0 else 1.0
    if homogeneity + completeness == 0.0:
        measure = 0.0
    else:
        measure = (1 + beta) * homogeneity * completeness / (beta * homogeneity + completeness)
    return float(homogeneity), float(completeness), float(measure)


def _type_of_target(y: Numbers, input_name: str = "", raise_unknown: bool = False) -> TargetType:
    given = np.asarray(y)
    if given.ndim != 1 or given.dtype.kind not in "biuf":
        raise TracedValueError("whether targets of several columns are labels depends on their values")
    is_few = np.asarray(np.unique(given).shape[0]) <= 2
    is_whole = np.all(given == np.trunc(given)) if given.dtype.kind == "f" else np.asarray(True)
    return TargetType(
        {
            "binary": np.logical_and(is_few, is_whole),
            "multiclass": np.logical_and(np.logical_not(is_few), is_whole),
            "continuous": np.logical_not(is_whole),
        }
    )


def _unique_labels(*ys: Numbers, ys_types: object = None) -> Numbers:
    arrays = [np.asarray(each) for each in ys]
    for each in arrays:
        if each.ndim != 1:
            raise TracedValueError("whether targets of several columns are labels depends on their values")
        if each.dtype.kind == "f" and np.any(each != np.trunc(each)):
            raise ValueError("Unknown label type")
    return np.unique(np.concatenate(arrays))


def _check_targets(
    y_true: Numbers, y_pred: Numbers, sample_weight: Numbers | None = None
) -> tuple[str, Numbers, Numbers, Numbers, Numbers | None]:
    _check_lengths(y_true, y_pred, sample_weight)
    first, second = np.asarray(y_true), np.asarray(y_pred)
    labels = _unique_labels(first, second)
    if first.shape[0] < 1:
        raise ValueError("Found empty input array while a minimum of 1 sample is required")
    if sample_weight is None:
        return SomeClasses("multiclass"), labels, first, second, None
    weights = _check_array(sample_weight, ensure_2d=False, dtype=None)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if np.all(weights == 0):
        raise ValueError("Sample weights must contain at least one non-zero number")
    return SomeClasses("multiclass"), labels, first, second, weights


def _check_averaging(
    y_true: Numbers, y_pred: Numbers, average: str | None, labels: Numbers | None, pos_label: float
) -> Any:
    if average != "binary":
        return labels
    present = _check_targets(y_true, y_pred)[1]
    if present.shape[0] > 2:
        raise ValueError("Target is multiclass but average='binary'")
    if present.shape[0] == 2 and not np.any(present == pos_label):
        raise ValueError(f"pos_label={pos_label} is not a valid label")
    return [pos_label]


def _weighted_counts(has_first: Numbers, has_second: Numbers, weights: Numbers | None) -> Numbers:
    """How many samples have a column of one and a column of the other, or how much they weigh."""
    if weights is None:
        return np.matmul(has_first.astype(np.float64).T, has_second.astype(np.float64)).astype(np.int64)
    if weights.dtype.kind != "f":
        raise TracedValueError("weights are whole numbers here: make floats of them")
    wide = weights.astype(np.float64)
    return np.matmul((has_first * wide[:, None]).T, has_second.astype(np.float64))


def _confusion_matrix(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    labels: Numbers | None = None,
    sample_weight: Numbers | None = None,
    normalize: str | None = None,
) -> Numbers:
    if labels is not None or normalize is not None:
        raise TracedValueError("confusion_matrix is there without labels and normalize alone")
    _, present, first, second, weights = _check_targets(y_true, y_pred, sample_weight)
    return _weighted_counts(first[:, None] == present, second[:, None] == present, weights)


def _matthews(y_true: Numbers, y_pred: Numbers, *, sample_weight: Numbers | None = None) -> float:
    counts = _confusion_matrix(y_true, y_pred, sample_weight=sample_weight)
    first, second = np.sum(counts, axis=1), np.sum(counts, axis=0)
    total = np.sum(counts)
    both = np.sum(np.diagonal(counts)) * total - np.sum(first * second)
    of_first = total**2 - np.sum(first * first)
    of_second = total**2 - np.sum(second * second)
    product = of_first * of_second
    return float(both / np.sqrt(product)) if product != 0 else 0.0


def _precision_and_recall(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    beta: float = 1.0,
    labels: Numbers | None = None,
    pos_label: float = 1,
    average: str | None = None,
    warn_for: Sequence[str] = (),
    sample_weight: Numbers | None = None,
    zero_division: str | float = "warn",
) -> tuple[float, float, float, None]:
    if average != "binary" or (not isinstance(zero_division, str) and zero_division not in (0, 1)):
        raise TracedValueError(
            "precision and recall are there for average='binary' and zero_division of 0 or 1 alone"
        )
    if beta < 0 or beta == np.inf:
        raise TracedValueError("precision and recall are there for a finite beta that is not negative")
    _check_averaging(y_true, y_pred, average, labels, pos_label)
    _, _, first, second, weights = _check_targets(y_true, y_pred, sample_weight)
    is_first, is_second = first == pos_label, second == pos_label
    heavy = 1.0 if weights is None else weights.astype(np.float64)
    both = np.sum(np.where(is_first & is_second, heavy, 0.0))
    of_first = np.sum(np.where(is_first, heavy, 0.0))
    of_second = np.sum(np.where(is_second, heavy, 0.0))
    other = 0.0 if isinstance(zero_division, str) else float(zero_division)
    below = beta**2 * of_first + of_second
    precision = np.where(of_second == 0, other, both / np.where(of_second == 0, 1.0, of_second))
    recall = np.where(of_first == 0, other, both / np.where(of_first == 0, 1.0, of_first))
    score = np.where(below == 0, other, (1 + beta**2) * both / np.where(below == 0, 1.0, below))
    return float(precision), float(recall), float(score), None


# -- Python: functions that call others, as loops, where only the model can go through what they are given ---


def mapped(function: Callable[..., Any], *values: Sequence[Any]) -> list[Any]:
    """`map(function, values, …)`"""
    if len(values) == 1:
        return [function(each) for each in values[0]]
    if len(values) == 2:
        return [function(a, b) for a, b in zip(values[0], values[1])]  # noqa: B905  # a script's has no `strict`
    return [function(a, b, c) for a, b, c in zip(values[0], values[1], values[2])]  # noqa: B905  # as above


def reduced(function: Callable[..., Any], values: Sequence[Any], *initial: Any) -> Any:
    """`functools.reduce(function, values, initial)`"""
    if initial:
        found, left = initial[0], values
    else:
        found, left = values[0], values[1:]
    for each in left:
        found = function(found, each)
    return found


def collected(values: Sequence[Any], count: int) -> list[Any]:
    """`list(values)`, of which there are so many as only the model knows."""
    return [each for each in values]  # noqa: C416  # which is what is staged


# -- numba -------------------------------------------------------------------------------------------------


def _prange(*bounds: int) -> range:
    return range(*bounds)


#: By module and name.
STAND_INS: dict[tuple[str, str], Callable[..., object]] = {
    ("numba.misc.special", "prange"): _prange,
    ("sklearn.utils.validation", "_nw_into_df_or_series"): _is_frame,
    ("sklearn.utils.validation", "check_consistent_length"): _check_lengths,
    ("sklearn.utils.validation", "_assert_all_finite"): _check_finite,
    ("sklearn.utils.validation", "check_array"): _check_array,
    ("sklearn.metrics.cluster._supervised", "check_clusterings"): _check_clusterings,
    ("sklearn.metrics.cluster._supervised", "contingency_matrix"): _contingency,
    ("sklearn.metrics.cluster._supervised", "pair_confusion_matrix"): _pair_confusion,
    ("sklearn.metrics.cluster._supervised", "fowlkes_mallows_score"): _fowlkes_mallows,
    ("sklearn.metrics.cluster._supervised", "mutual_info_score"): _mutual_information,
    ("sklearn.metrics.cluster._supervised", "homogeneity_completeness_v_measure"): _homogeneity,
    ("sklearn.utils.multiclass", "type_of_target"): _type_of_target,
    ("sklearn.utils.multiclass", "unique_labels"): _unique_labels,
    ("sklearn.metrics._classification", "_check_targets"): _check_targets,
    ("sklearn.metrics._classification", "_check_set_wise_labels"): _check_averaging,
    ("sklearn.metrics._classification", "precision_recall_fscore_support"): _precision_and_recall,
    ("sklearn.metrics._classification", "confusion_matrix"): _confusion_matrix,
    ("sklearn.metrics._classification", "matthews_corrcoef"): _matthews,
}


def stand_in(function: object) -> Callable[..., object] | None:
    """The function that is staged in the place of a library's helper; None for all others."""
    home: object = getattr(function, "__module__", None)
    name: object = getattr(function, "__name__", None)
    if not isinstance(home, str) or not isinstance(name, str):
        return None
    return STAND_INS.get((home, name))
