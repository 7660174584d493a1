"""Columns of pandas, polars, numpy and Python as arrays: numbers stay what they are, text has one word for missing."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from onnxsmith.errors import PipelineError
from onnxsmith.sklearn.frames import reading
from onnxsmith.sklearn.missing import NAN_TEXT

NAN = np.nan
DAY = datetime.datetime(2020, 1, 1)


def _text(*values: str) -> np.ndarray[Any, Any]:
    return np.array(values, object)


COLUMNS: dict[str, tuple[Any, np.ndarray[Any, Any]]] = {
    "a list of whole numbers": ([1, 2], np.array([1, 2])),
    "a list with None": ([1.5, None], np.array([1.5, NAN])),
    "truth with None": ([True, None], np.array([1.0, NAN])),
    "objects that are numbers": (np.array([1, 2.5], object), np.array([1, 2.5])),
    "text with None and NaN": (["a", None, NAN], _text("a", NAN_TEXT, NAN_TEXT)),
    "numpy's text": (np.array(["a", "b"]), _text("a", "b")),
    "small numbers": (np.array([1, 2], np.int8), np.array([1, 2], np.int8)),
    "pandas: numbers": (pd.Series([1, 2], dtype="int32"), np.array([1, 2], np.int32)),
    "pandas: categories of text": (pd.Series(["a", None], dtype="category"), _text("a", NAN_TEXT)),
    "pandas: categories of numbers": (pd.Series([3, 5], dtype="category"), np.array([3, 5])),
    "pandas: text": (pd.Series(["a", None], dtype="string"), _text("a", NAN_TEXT)),
    "pandas: whole numbers that may be missing": (pd.Series([1, None], dtype="Int8"), np.array([1.0, NAN])),
    "pandas: whole numbers of which none is": (pd.Series([1, 2], dtype="Int8"), np.array([1, 2], np.int8)),
    "pandas: truth that may be missing": (pd.Series([True, None], dtype="boolean"), np.array([1.0, NAN])),
    "pandas: floats that may be missing": (
        pd.Series([1.5, None], dtype="Float32"),
        np.array([1.5, NAN], np.float32),
    ),
    "pandas: sparse": (
        pd.Series(pd.arrays.SparseArray(np.array([0, 3], np.int32))),
        np.array([0, 3], np.int32),
    ),
    "polars: text": (pl.Series(["a", None]), _text("a", NAN_TEXT)),
    "polars: categories": (pl.Series(["a", None], dtype=pl.Categorical), _text("a", NAN_TEXT)),
    "polars: nothing": (pl.Series([None, None]), _text(NAN_TEXT, NAN_TEXT)),
    "polars: truth": (pl.Series([True, False]), np.array([True, False])),
    "polars: truth with None": (pl.Series([True, None]), np.array([1.0, NAN])),
    "polars: numbers": (pl.Series([1, 2], dtype=pl.Int16), np.array([1, 2], np.int16)),
    "polars: numbers with None": (pl.Series([1, None]), np.array([1.0, NAN])),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name: str) -> None:
    given, expected = COLUMNS[name]
    found = reading.column_elements(given, "c")
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


REFUSED: dict[str, tuple[Any, str, str]] = {
    "dates of pandas": (
        pd.Series([DAY]),
        "column 'c' holds dates (datetime64",
        "df['c'].dt.dayofweek, or the seconds since a day that you choose, (df['c'] - day).dt.total_seconds()",
    ),
    "dates of polars": (pl.Series([DAY]), "column 'c' holds dates (Datetime", "df['c'].dt.weekday()"),
    "durations of pandas": (
        pd.Series([DAY - DAY]),
        "column 'c' holds durations (timedelta64",
        "give the pipeline their seconds, df['c'].dt.total_seconds()",
    ),
    "durations of polars": (pl.Series([DAY - DAY]), "column 'c' holds durations (Duration", "their seconds"),
    "dates of numpy": (
        np.array(["2020-01-01"], "M8[D]"),
        "column 'c' holds dates (datetime64[D])",
        "df['c'].astype('M8[M]')",
    ),
    "durations of numpy": (
        np.array([1], "m8[s]"),
        "durations (timedelta64[s])",
        "df['c'] / np.timedelta64(1, 's')",
    ),
    "dates of Python": ([DAY], "column 'c' holds datetime", "(each - day).total_seconds()"),
    "dates and numbers": (
        [DAY, 1],
        "column 'c' holds datetime and int, in one column",
        "day.weekday() of each",
    ),
    "text and numbers": (
        np.array(["a", 1], object),
        "column 'c' holds int and str, in one column",
        "a column is text or numbers",
    ),
    "lists": (pd.Series([[1], [2]]), "column 'c' holds list", "a column is text or numbers"),
    "complex numbers": (np.array([1j]), "column 'c' holds complex128, and a model takes", "convert it first"),
    "long floats": (np.array([1], np.longdouble), "which no model computes with", "use float64"),
    "text of polars and more": (
        pl.Series([{"a": 1}], dtype=pl.Object),
        "holds text and dict",
        "text or numbers",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_columns(name: str) -> None:
    given, message, help = REFUSED[name]
    with pytest.raises(PipelineError) as caught:
        reading.column_elements(given, "c")
    assert message in caught.value.message
    assert help in (caught.value.help or "")


@pytest.mark.parametrize(
    ("data", "library", "is_frame"),
    [
        (pd.DataFrame({"a": [1]}), "pandas", True),
        (pl.DataFrame({"a": [1]}), "polars", True),
        (pd.Series([1]), "pandas", False),
        (np.ones(1), "numpy", False),
        ({"a": [1]}, "", True),
        ([1], "", False),
    ],
)
def test_what_is_a_frame(data: Any, library: str, is_frame: bool) -> None:
    assert reading.library_of(data) == library
    assert reading.is_frame(data) == is_frame


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_frames_by_column(make: Any) -> None:
    frame = make({"a": [1, 2], "b": ["x", "y"], "c": [1.5, 2]})
    found = reading.columns_of_frame(frame)
    assert list(found) == ["a", "b", "c"]
    assert [each.dtype.kind for each in found.values()] == ["i", "O", "f"]
    assert list(reading.columns_of_frame(frame, {"c", "a"})) == ["a", "c"]


def test_names_of_columns() -> None:
    with pytest.raises(PipelineError, match="columns have names that are text, and one is 1"):
        reading.columns_of_frame(pd.DataFrame({1: [1]}))
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    with pytest.raises(PipelineError, match="there are two columns 'a'"):
        reading.columns_of_frame(twice)
    reading.refuse_twice(["b"], list(twice.columns))


def test_arrays() -> None:
    assert reading.as_array([[1, 2]]).shape == (1, 2)
    with pytest.raises(PipelineError, match="X is a sparse matrix"):
        reading.as_array(scipy.sparse.eye(2))
    with pytest.raises(PipelineError, match="X is no array"):
        reading.as_array([[1], [1, 2]])
    texts = reading.array_elements(np.array([["a", None], [NAN, "b"]], object), "X")
    assert texts.tolist() == [["a", NAN_TEXT], [NAN_TEXT, "b"]]
    for days, words in (
        (np.array([["2020-01-01"]], "M8[D]"), "X.astype('M8[M]')"),
        (np.array([1], "m8[s]"), "X / np."),
    ):
        with pytest.raises(PipelineError) as caught:
            reading.array_elements(days, "X")
        assert words in (caught.value.help or "")
    numbers = reading.array_elements(np.array([[1, None], [True, 2.5]], object), "X")
    np.testing.assert_array_equal(numbers, [[1, NAN], [1, 2.5]])
    assert numbers.dtype == np.float64
