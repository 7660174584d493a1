"""Encoders give what scikit-learn's give, on text, numbers and what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import (
    KBinsDiscretizer,
    LabelBinarizer,
    LabelEncoder,
    MultiLabelBinarizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)

import onnxsmith
from onnxsmith.errors import OnnxsmithError, UnconvertedStepError

TEXT = np.array([["a", "x"], ["b", "y"], ["c", "x"], ["a", "zß"], ["a", "x"], ["b", "x"]], dtype=object)
UNSEEN = np.array([["a", "q"], ["d", "x"], ["c", "zß"]], dtype=object)
NUMBERS = np.array([[1.0, 2], [np.nan, 3], [2, 2], [1, 5]])
FRAME = pd.DataFrame(
    {
        "text": ["m", "f", None, "m", "f", "m"],
        "number": [1, 2, 2, 3, 3, 3],
        "kind": pd.Categorical(["u", "v", "u", "w", None, "u"]),
        "flag": [True, False, True, True, False, False],
        "maybe": pd.array([1, None, 2, 2, 1, 1], dtype="Int64"),
    }
)


def _dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else value


def _check(fitted: Any, *data: Any, method: str = "transform") -> None:
    model = onnxsmith.sklearn.convert(fitted, data[0], outputs=[method])
    for each in data:
        wanted = _dense(getattr(fitted, method)(each))
        [found] = [model(*onnxsmith.sklearn.signature(model).feeds(each))]
        assert found.dtype == wanted.dtype or {found.dtype.kind, wanted.dtype.kind} <= {"O", "U"}
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize(
    "settings",
    [
        {"handle_unknown": "ignore"},
        {"handle_unknown": "ignore", "drop": "first"},
        {"handle_unknown": "ignore", "drop": "if_binary", "dtype": np.float32},
        {"handle_unknown": "infrequent_if_exist", "min_frequency": 2},
        {"handle_unknown": "ignore", "max_categories": 2},
        {"handle_unknown": "infrequent_if_exist", "min_frequency": 2, "drop": "first"},
        {"handle_unknown": "warn"},
    ],
    ids=str,
)
def test_one_hot(settings: dict[str, Any]) -> None:
    _check(OneHotEncoder(**settings).fit(TEXT), TEXT, UNSEEN, TEXT[:1])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"encoded_missing_value": -7},
        {"handle_unknown": "use_encoded_value", "unknown_value": -1},
        {"handle_unknown": "use_encoded_value", "unknown_value": np.nan, "min_frequency": 2},
    ],
    ids=str,
)
def test_ordinal(settings: dict[str, Any]) -> None:
    _check(OrdinalEncoder(**settings).fit(NUMBERS), NUMBERS, NUMBERS[1:2])
    if settings.get("handle_unknown"):
        _check(OrdinalEncoder(**settings).fit(NUMBERS), np.array([[99.0, 2], [np.nan, 7]]))
        _check(OrdinalEncoder(**settings).fit(TEXT), TEXT, UNSEEN)


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OrdinalEncoder(encoded_missing_value=-1)], ids=str)
def test_columns_of_a_frame(encoder: Any) -> None:
    _check(encoder.fit(FRAME), FRAME, FRAME[::-1])


def test_integers_beyond_what_floats_tell_apart() -> None:
    data = np.array([[2**53], [2**53 + 1], [-1]])
    _check(OneHotEncoder().fit(data), data)


@pytest.mark.parametrize(
    "target", [np.array([0, 1, 2, 0, 1, 2]), np.array([0.5, 1, 2, 3, 4, 5])], ids=["classes", "numbers"]
)
def test_target(target: Any) -> None:
    _check(TargetEncoder(cv=2).fit(TEXT, np.array(target)), TEXT, UNSEEN)


@pytest.mark.parametrize("encoder", [OneHotEncoder(sparse_output=False), OrdinalEncoder()], ids=str)
def test_encoders_go_back(encoder: Any) -> None:
    fitted = encoder.fit(TEXT)
    _check(fitted, fitted.transform(TEXT), method="inverse_transform")


def test_an_unknown_category_fails_with_the_name_of_its_column() -> None:
    fitted = OneHotEncoder().fit(FRAME[["text"]])
    model = onnxsmith.sklearn.convert(fitted, FRAME[["text"]])
    with pytest.raises(
        OnnxsmithError, match='raises ValueError: Found unknown categories in column "text" during transform'
    ):
        model.transform(pd.DataFrame({"text": ["m", "x"]}))


def test_none_and_nan_as_two_categories_are_refused() -> None:
    data = pd.DataFrame({"a": pd.Series(["x", None, np.nan], dtype=object)})
    with pytest.raises(UnconvertedStepError, match="None and NaN as two categories"):
        onnxsmith.sklearn.convert(OneHotEncoder().fit(data), data)


@pytest.mark.parametrize("encode", ["onehot", "onehot-dense", "ordinal"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bins(encode: str, dtype: Any) -> None:
    data = np.random.default_rng(0).normal(size=(50, 3)).astype(dtype)
    fitted = KBinsDiscretizer(4, encode=encode, quantile_method="averaged_inverted_cdf").fit(data)
    edges = data.copy()
    edges[:2, 0] = fitted.bin_edges_[0][1]
    _check(fitted, data, edges)


LABELS = np.array(["no", "yes", "yes", "maybe"], dtype=object)


@pytest.mark.parametrize("labels", [LABELS, LABELS[:2]], ids=["three", "two"])
@pytest.mark.parametrize("settings", [{}, {"neg_label": -1, "pos_label": 3}], ids=str)
def test_labels_as_columns(labels: Any, settings: dict[str, Any]) -> None:
    fitted = LabelBinarizer(**settings).fit(labels)
    _check(fitted, labels)
    _check(fitted, fitted.transform(labels), method="inverse_transform")


def test_labels_as_numbers() -> None:
    fitted = LabelEncoder().fit(LABELS)
    _check(fitted, LABELS)
    with pytest.raises(OnnxsmithError, match="y contains previously unseen labels"):
        onnxsmith.sklearn.convert(fitted, LABELS).transform(["never"])


def test_sets_of_labels_are_refused_by_name() -> None:
    fitted = MultiLabelBinarizer().fit([["a"], ["a", "b"]])
    with pytest.raises(OnnxsmithError, match="MultiLabelBinarizer"):
        onnxsmith.sklearn.convert(fitted, LABELS)


def test_classifiers_give_labels_that_are_text() -> None:
    data = np.random.default_rng(0).normal(size=(12, 2))
    fitted = LogisticRegression().fit(data, LABELS.tolist() * 3)
    assert onnxsmith.sklearn.convert(fitted, data).predict(data).tolist() == fitted.predict(data).tolist()
