"""Encoders of categories: what comes out is decided by the place of an element among the categories alone.

So a converter works out, when it converts, what each category becomes, and what an unknown one becomes; the model
looks the place up.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import (
    Array,
    arange,
    argmax,
    asarray,
    concatenate,
    searchsorted,
    stack,
    take,
)
from onnxsmith.numpy import (
    all as all_of,
)
from onnxsmith.sklearn.arrays import is_equal, where
from onnxsmith.sklearn.categories import Known, columns_of, places
from onnxsmith.sklearn.failing import raise_unless
from onnxsmith.sklearn.families.checking import wide_floats
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Columns, Fitted, Given, Part, labels


def _names(estimator: Fitted, x: Given) -> list[str]:
    """The names of the columns in errors, in order."""
    if isinstance(x, Columns):
        return [repr(each) for each in x]
    given = getattr(estimator, "feature_names_in_", None)
    count = len(estimator.categories_)
    return [str(each) for each in range(count)] if given is None else [repr(str(each)) for each in given]


def _known_places(estimator: Fitted, x: Given) -> list[Array]:
    """The place of each element among the categories of its column, -1 for an unknown one where that is allowed."""
    columns, names = columns_of(x), _names(estimator, x)
    refuses = getattr(estimator, "handle_unknown", "ignore") == "error"
    found: list[Array] = []
    for column, categories, name in zip(columns, estimator.categories_, names, strict=True):
        place = places(column, categories, name)
        if refuses:
            text = f"Found unknown categories in column {name} during transform"
            place = raise_unless(all_of(place >= 0), place, text)
        found.append(place)
    return found


def _grouped(estimator: Fitted, position: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """For each category of a column, and last for an unknown one: its number after grouping, and whether it counts."""
    count = len(estimator.categories_[position])
    number, counts = np.arange(count + 1), np.ones(count + 1, bool)
    number[count], counts[count] = 0, False
    if not getattr(estimator, "_infrequent_enabled", False):
        return number, counts
    infrequent = estimator._infrequent_indices[position]
    if infrequent is None:
        return number, counts
    number[count] = infrequent[0]
    if getattr(estimator, "handle_unknown", None) in ("infrequent_if_exist", "warn"):
        counts[count] = True
    mapping = estimator._default_to_infrequent_mappings[position]
    ignored = getattr(estimator, "_missing_indices", {}).get(position)
    for each in range(count + 1):
        if number[each] != ignored:
            number[each] = mapping[number[each]]
    return number, counts


# -- one column for each category ------------------------------------------------------------------------


def _indicators(index: Array, count: int, dtype: DTypeLike) -> Array:
    """A row of zeros with a one at a place, and no one where the place is -1."""
    return is_equal(index[:, None], arange(count)).astype(dtype)


@converts("sklearn.preprocessing.OneHotEncoder", "transform", columns=True)
def one_hot(estimator: Fitted, x: Given) -> Array:
    """A column for each category that is not dropped; infrequent ones share one."""
    made: list[Array] = []
    dropped = estimator._drop_idx_after_grouping
    for position, place in enumerate(_known_places(estimator, x)):
        number, counts = _grouped(estimator, position)
        if dropped is not None and dropped[position] is not None:
            counts = counts & (number != dropped[position])
            number = number - (number > dropped[position])
        target = np.where(counts, number, -1).astype(np.int64)
        width = int(estimator._n_features_outs[position])
        made.append(_indicators(take(asarray(target), place), width, estimator.dtype))
    return concatenate(made, axis=1)


@converts("sklearn.preprocessing.OneHotEncoder", "inverse_transform")
def one_hot_back(estimator: Fitted, x: Array) -> Part:
    """The category whose column has the largest number."""
    if estimator.drop is not None or estimator._infrequent_enabled or estimator.handle_unknown != "error":
        raise NotCovered("drop, infrequent and unknown categories have no single category to go back to")
    sizes = [len(each) for each in estimator.categories_]
    ends = np.cumsum([0, *sizes])
    index = [argmax(x[:, begin:end], axis=1) for begin, end in itertools.pairwise(ends)]
    return _stacked_labels(estimator, index)


def _stacked_labels(estimator: Fitted, index: list[Array]) -> Part:
    kinds = {each.dtype.kind in "OUST" for each in estimator.categories_}
    if len(kinds) > 1:
        raise NotCovered("some columns are text and others are numbers, which no array holds")
    made: Any = [labels(known, each) for known, each in zip(estimator.categories_, index, strict=True)]
    if kinds == {False}:
        return stack(made, axis=1)
    return joined_text(made)


def joined_text(columns: Sequence[Tensor]) -> Tensor:
    """Columns of text side by side."""
    return op.Concat(*[op.Unsqueeze(each, np.array([1])) for each in columns], axis=1)


# -- one number for each category ------------------------------------------------------------------------


@converts("sklearn.preprocessing.OrdinalEncoder", "transform", columns=True)
def ordinal(estimator: Fitted, x: Given) -> Array:
    """The number of each category, and what is given for unknown and missing ones."""
    made: list[Array] = []
    for position, place in enumerate(_known_places(estimator, x)):
        number, counts = _grouped(estimator, position)
        values = number.astype(estimator.dtype)
        if position in estimator._missing_indices:
            values[number == estimator._missing_indices[position]] = estimator.encoded_missing_value
        if estimator.handle_unknown == "use_encoded_value":
            values[~counts] = estimator.unknown_value
        made.append(take(asarray(values), place))
    return stack(made, axis=1)


@converts("sklearn.preprocessing.OrdinalEncoder", "inverse_transform")
def ordinal_back(estimator: Fitted, x: Array) -> Part:
    """The category of each number."""
    special = estimator._missing_indices or estimator.handle_unknown != "error"
    if special or getattr(estimator, "_infrequent_enabled", False):
        raise NotCovered(
            "missing, infrequent and unknown categories have no number of their own to go back from"
        )
    index = [x[:, position].astype("int64") for position in range(len(estimator.categories_))]
    return _stacked_labels(estimator, index)


@converts("sklearn.preprocessing.TargetEncoder", "transform", columns=True)
def target(estimator: Fitted, x: Given) -> Array:
    """The mean of the target for each category, and the mean of all for an unknown one."""
    found = _known_places(estimator, x)
    per_column = len(estimator.classes_) if estimator.target_type_ == "multiclass" else 1
    means = np.atleast_1d(estimator.target_mean_)
    made: list[Array] = []
    for number, encoding in enumerate(estimator.encodings_):
        values = np.append(encoding, means[number % per_column]).astype(np.float64)
        made.append(take(asarray(values), found[number // per_column]))
    return stack(made, axis=1)


# -- labels ----------------------------------------------------------------------------------------------


def _label_places(classes: Known, y: Part, *, refuses: bool) -> Array:
    place = places(_one_column(y), classes, "y")
    if not refuses:
        return place
    return raise_unless(all_of(place >= 0), place, "y contains previously unseen labels")


def _one_column(y: Part) -> Part:
    return y if len(y.shape) == 1 else y.reshape(-1)


@converts("sklearn.preprocessing.LabelEncoder", "transform")
def label_numbers(estimator: Fitted, y: Part) -> Array:
    """The number of each label."""
    return _label_places(estimator.classes_, y, refuses=True)


@converts("sklearn.preprocessing.LabelEncoder", "inverse_transform")
def label_numbers_back(estimator: Fitted, y: Array) -> Part:
    """The label of each number."""
    count = len(estimator.classes_)
    index = y.astype("int64")
    is_right = all_of((index >= 0) & (index < count))
    return labels(estimator.classes_, raise_unless(is_right, index, "y contains previously unseen labels"))


@converts("sklearn.preprocessing.LabelBinarizer", "transform")
def label_indicators(estimator: Fitted, y: Part) -> Array:
    """A column for each label; one column where there are two."""
    _check_single(estimator)
    count = len(estimator.classes_)
    place = _label_places(estimator.classes_, y, refuses=False)
    is_it = is_equal(place[:, None], arange(count))
    made = where(is_it, int(estimator.pos_label), int(estimator.neg_label))
    if count == 1:
        return where(is_it, int(estimator.neg_label), int(estimator.neg_label))
    return made[:, 1:2] if estimator.y_type_ == "binary" else made


@converts("sklearn.preprocessing.LabelBinarizer", "inverse_transform")
def label_indicators_back(estimator: Fitted, y: Array) -> Part:
    """The label of the largest column, or of what is above the threshold."""
    _check_single(estimator)
    if estimator.y_type_ == "multiclass":
        return labels(estimator.classes_, argmax(y, axis=1))
    threshold = (estimator.pos_label + estimator.neg_label) / 2.0
    if len(estimator.classes_) == 1:
        raise NotCovered("there is one class only")
    column = y[:, -1] if y.ndim == 2 else y
    return labels(estimator.classes_, (column > threshold).astype("int64"))


def _check_single(estimator: Fitted) -> None:
    if estimator.y_type_.startswith("multilabel") or "output" in estimator.y_type_:
        raise NotCovered("it was fitted on several labels for each row")


@converts("sklearn.preprocessing.MultiLabelBinarizer", "transform")
def label_sets(estimator: Fitted, y: Given) -> Array:
    """Refused: rows are sets of labels, of any number."""
    raise NotCovered("it takes a set of labels for each row, which no tensor holds")


# -- bins ------------------------------------------------------------------------------------------------


@converts("sklearn.preprocessing.KBinsDiscretizer", "transform")
def bins(estimator: Fitted, x: Array) -> Array:
    """The number of the bin that an element falls into, or a column for each bin."""
    elements = wide_floats(x) if estimator.dtype is None else x.astype(estimator.dtype)
    found: list[Array] = []
    for position, edges in enumerate(estimator.bin_edges_):
        found.append(searchsorted(asarray(edges[1:-1]), elements[:, position], side="right"))
    if estimator.encode == "ordinal":
        return stack(found, axis=1).astype(elements.dtype)
    sizes = estimator.n_bins_
    made = [_indicators(each, int(size), elements.dtype) for each, size in zip(found, sizes, strict=True)]
    return concatenate(made, axis=1)
