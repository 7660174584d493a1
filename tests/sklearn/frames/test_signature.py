"""The signature of a model on data of every kind: the arrays that its inputs are given, and the words of refusals."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest

from onnxsmith.errors import PipelineError
from onnxsmith.sklearn.frames.signature import Signature, dtype_of, kind_of, signature_of, text_elements
from onnxsmith.sklearn.missing import NAN_TEXT
from onnxsmith.types.dtypes import DType

FRAME = pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2], "c": ["x", None], "d": [True, False]})
COLUMNS = Signature("columns", (("a", "float64"), ("b", "int64"), ("c", "str")))
MATRIX = Signature("matrix", ((None, "float32"), (None, "float32")))
NAMED = Signature("matrix", (("a", "float64"), ("b", "float64")))
TEXTS = Signature("texts", ((None, "str"),))
IMAGES = Signature("array", ((None, "float32"),), row_shape=(2, 2))


@pytest.mark.parametrize(
    ("given", "names", "shapes"),
    [
        (COLUMNS, ["a", "b", "c"], [("N",), ("N",), ("N",)]),
        (MATRIX, ["X"], [("N", 2)]),
        (TEXTS, ["X"], [("N",)]),
        (IMAGES, ["X"], [("N", 2, 2)]),
        (Signature("array", ((None, "int64"),)), ["X"], [("N",)]),
    ],
)
def test_inputs(given: Signature, names: list[str], shapes: list[tuple[Any, ...]]) -> None:
    assert given.names == names
    assert [each.shape for each in given.types] == shapes
    kinds = [kind for _, kind in given.columns][: len(names)]
    assert [each.dtype for each in given.types] == [dtype_of(kind) for kind in kinds]


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [(DType.STRING, "str"), (DType.FLOAT, "float32"), (DType.BOOL, "bool"), (DType.INT8, "int8")],
)
def test_element_types_have_names(dtype: DType, kind: str) -> None:
    assert kind_of(dtype) == kind
    assert dtype_of(kind) is dtype


def test_a_type_that_no_model_has() -> None:
    with pytest.raises(PipelineError, match="datetime64 is no element type of a model"):
        dtype_of("datetime64")


def _same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_columns_by_name_in_any_order() -> None:
    texts = np.array(["x", NAN_TEXT], object)
    wanted = [np.array([1.5, 2.5]), np.array([1, 2]), texts]
    _same(COLUMNS.feeds(FRAME[["d", "c", "b", "a"]]), wanted)
    _same(COLUMNS.feeds({"c": ["x", None], "b": [1, 2], "a": [1.5, 2.5]}), wanted)


def test_columns_by_position() -> None:
    numbers = Signature("columns", (("a", "float64"), ("b", "int8")))
    _same(numbers.feeds(np.array([[1, 2], [3, 4]])), [np.array([1.0, 3.0]), np.array([2, 4], np.int8)])


def test_matrices() -> None:
    _same(MATRIX.feeds([[1, 2], [3, 4]]), [np.array([[1, 2], [3, 4]], np.float32)])
    _same(MATRIX.feeds(FRAME[["a", "b"]]), [np.array([[1.5, 1], [2.5, 2]], np.float32)])
    _same(NAMED.feeds(FRAME[["b", "a"]]), [np.array([[1.5, 1], [2.5, 2]])])
    _same(NAMED.feeds(np.float32([[1, 2]])), [np.array([[1.0, 2.0]])])


def test_texts_and_arrays() -> None:
    texts = Signature("matrix", ((None, "str"), (None, "str")))
    _same(texts.feeds(np.array([["a", "b"], ["c", "d"]])), [np.array([["a", "b"], ["c", "d"]], object)])
    _same(TEXTS.feeds(["a", None]), [np.array(["a", NAN_TEXT], object)])
    images = np.arange(8).reshape(2, 2, 2)
    _same(IMAGES.feeds(images), [images.astype(np.float32)])


REFUSED: dict[str, tuple[Signature, Any, str]] = {
    "a column is missing": (COLUMNS, FRAME[["a", "b"]], "column 'c' is not there"),
    "columns are missing": (COLUMNS, FRAME[["d"]], "column 'a' is not there, nor 'b', 'c'"),
    "a matrix is too wide": (MATRIX, np.ones((1, 3)), "X has 3 columns, and the model takes 2"),
    "a frame is too narrow": (MATRIX, FRAME[["a"]], "X has 1 columns, and the model takes 2"),
    "one row": (MATRIX, np.ones(2), "X has 1 dimensions, and the model takes rows of 2 columns"),
    "rows of another shape": (
        IMAGES,
        np.ones((2, 3, 2)),
        "shape (2, 3, 2), and the model takes rows of the shape (2, 2)",
    ),
    "text for numbers": (MATRIX, np.array([["a", "b"]]), "X holds text, and the model was made for float32"),
    "numbers for text": (TEXTS, np.array([1.5]), "X holds float64, and the model was made for text"),
    "fractions for whole numbers": (
        COLUMNS,
        FRAME.assign(b=[1.5, 2]),
        "column 'b' holds float64, and the model was made for int64",
    ),
    "two columns of one name": (
        COLUMNS,
        pd.concat([FRAME, FRAME[["b"]]], axis=1),
        "there are two columns 'b'",
    ),
    "too large for float32": (
        MATRIX,
        np.array([[1e300, 1]]),
        "X holds float64, and the model was made for float32",
    ),
    "too large for int8": (
        Signature("matrix", ((None, "int8"),)),
        np.array([[200]]),
        "made for int8, which does not hold it",
    ),
    "another sign": (Signature("matrix", ((None, "int8"),)), np.array([[200]], np.uint8), "made for int8"),
    "one text": (TEXTS, "a text", "X is one text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    given, data, words = REFUSED[name]
    with pytest.raises(PipelineError) as caught:
        given.feeds(data)
    assert words in caught.value.message
    assert caught.value.span is not None
    assert caught.value.span.file.endswith("test_signature.py")


@pytest.mark.parametrize(
    ("given", "data", "words"),
    [
        (COLUMNS, FRAME.assign(b=[1.0, 2]), ".astype('int64')"),
        (COLUMNS, FRAME.assign(b=[1.5, 2]), "convert the pipeline for data with this element type"),
        (
            Signature("columns", tuple((f"c{k}", "int64") for k in range(10))),
            np.ones((1, 2)),
            "'c7' and 2 more, in this",
        ),
        (MATRIX, np.ones((1, 3)), "the columns that the pipeline was fitted on"),
        (COLUMNS, {}, "the model takes 'a', 'b', 'c'"),
    ],
)
def test_the_help_says_what_to_do(given: Signature, data: Any, words: str) -> None:
    with pytest.raises(PipelineError) as caught:
        given.feeds(data)
    assert caught.value.help is not None
    assert words in caught.value.help


def test_values_that_type_conversion_keeps() -> None:
    small = Signature("matrix", ((None, "int8"),))
    _same(small.feeds(np.array([[-128], [127]])), [np.array([[-128], [127]], np.int8)])
    _same(MATRIX.feeds(np.array([[np.inf, np.nan]])), [np.array([[np.inf, np.nan]], np.float32)])
    # A column of nothing but missing values has no type of its own.
    _same(COLUMNS.feeds(FRAME.assign(a=[None, None]))[:1], [np.array([np.nan, np.nan])])


def test_refused_kinds_name_the_column() -> None:
    frame = FRAME.assign(a=[np.nan, 1.0])
    for places, words in ((None, "column 'a' holds NaN"), ((0,), "column 'a' holds NaN"), ((1,), "")):
        given = Signature("columns", COLUMNS.columns, refused=(("NaN", places),))
        if words:
            with pytest.raises(PipelineError, match=words):
                given.feeds(frame)
        else:
            given.feeds(frame)
    matrix = Signature("matrix", MATRIX.columns, refused=(("NaN", None),))
    with pytest.raises(PipelineError, match="column 1 of X holds NaN"):
        matrix.feeds(np.array([[1, np.nan]]))
    array = Signature("array", IMAGES.columns, row_shape=(2, 2), refused=(("infinity", None),))
    with pytest.raises(PipelineError, match="X holds infinity"):
        array.feeds(np.full((1, 2, 2), np.inf))


@pytest.mark.parametrize(
    ("places", "data", "is_held"),
    [
        (None, [[1, np.nan]], True),
        ((0,), [[1, np.nan]], False),
        ((1,), [[1, np.nan]], True),
        (None, [[1, 2]], False),
    ],
)
def test_which_columns_hold_a_kind(places: Any, data: Any, is_held: bool) -> None:
    assert MATRIX.holds("NaN", places, np.array(data)) == is_held


@pytest.mark.parametrize(
    ("data", "inputs", "used", "expected"),
    [
        (FRAME[["a", "b", "c"]], None, None, COLUMNS),
        (FRAME, None, ["d"], Signature("columns", (("d", "bool"),))),
        (FRAME[["a", "b"]], "matrix", ["a"], NAMED),
        (FRAME[["c"]], "matrix", None, Signature("matrix", (("c", "str"),))),
        (np.ones((3, 2), np.float32), None, None, MATRIX),
        (["a", "b"], None, None, TEXTS),
        (np.ones((3, 2, 2), np.float32), None, None, IMAGES),
        (np.ones(3, np.int64), None, None, Signature("array", ((None, "int64"),))),
    ],
)
def test_the_signature_of_data(data: Any, inputs: Any, used: Any, expected: Signature) -> None:
    assert signature_of(data, inputs, used) == expected


@pytest.mark.parametrize(
    ("data", "inputs", "words"),
    [
        (FRAME, "rows", "inputs='rows' is neither 'columns' nor 'matrix'"),
        (np.float64(1), None, "X is a single value"),
        (np.ones((2, 2)), "columns", "takes the names of columns from a data frame"),
        (FRAME, "matrix", "column 'c' is text and column 'a' is not"),
    ],
)
def test_data_without_a_signature(data: Any, inputs: Any, words: str) -> None:
    with pytest.raises(PipelineError) as caught:
        signature_of(data, inputs)
    assert words in caught.value.message


@pytest.mark.parametrize(
    "data", [["a", "b"], np.array(["a", "b"]), pd.Series(["a", "b"]), {"t": ["a", "b"]}, [["a"], ["b"]]]
)
def test_texts_in_a_row(data: Any) -> None:
    assert text_elements(data).tolist() == ["a", "b"]


def test_a_signature_is_json() -> None:
    given = Signature("columns", (("ä", "str"),), (("predict", "p"),), ("f",), (), (("NaN", (0,)),))
    text = given.to_json()
    assert "ä" in text
    assert json.loads(text) == json.loads(json.dumps(asdict(given)))
