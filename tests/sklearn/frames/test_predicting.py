"""`model.predict(df)`: frames of pandas and polars, columns by name, and what does not fit, with the column's name."""

from __future__ import annotations

import datetime
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import onnxsmith
from onnxsmith.errors import ModelInputError, PipelineError

COLUMNS: dict[str, list[Any]] = {
    "sex": ["m", "f", None, "m", "f", "f"],
    "age": [1.5, 30.0, 41.0, 8.0, 77.0, 20.0],
    "rooms": [1, 2, 2, 3, 3, 4],
    "is new": [True, False, True, True, False, False],
}
FRAME = pd.DataFrame(COLUMNS)
Y = np.array(["yes", "no", "no", "yes", "no", "yes"], dtype=object)


@pytest.fixture(scope="module")
def fitted() -> Any:
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["sex"]),
        (StandardScaler(), make_column_selector(dtype_include="number")),
        remainder="passthrough",
    )
    return make_pipeline(columns, LogisticRegression()).fit(FRAME, Y)


@pytest.fixture(scope="module")
def model(fitted: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("models") / "model.onnx"
    onnxsmith.sklearn.convert(fitted, FRAME).save(path)
    return onnxsmith.load(path)


def test_a_model_has_one_input_for_each_column(model: Any) -> None:
    assert [each.name for each in model.inputs] == ["sex", "age", "rooms", "is new"]
    assert [str(each.type) for each in model.inputs] == [
        "STRING['N']",
        "DOUBLE['N']",
        "INT64['N']",
        "BOOL['N']",
    ]


@pytest.mark.parametrize(
    "given",
    [
        FRAME,
        FRAME[["rooms", "is new", "sex", "age"]],
        FRAME.assign(other=1),
        FRAME.astype({"sex": object}),
        FRAME.astype({"sex": "category"}),
        FRAME.astype({"sex": "string", "rooms": "Int64", "age": "Float64", "is new": "boolean"}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("sex").cast(pl.Categorical)),
        COLUMNS,
    ],
    ids=[
        "frame",
        "other order",
        "more",
        "object",
        "category",
        "nullable",
        "polars",
        "polars category",
        "dict",
    ],
)
def test_a_frame_is_taken_by_the_names_of_its_columns(fitted: Any, model: Any, given: Any) -> None:
    assert model.predict(given).tolist() == fitted.predict(FRAME).tolist()
    np.testing.assert_allclose(model.predict_proba(given), fitted.predict_proba(FRAME), rtol=1e-12)


def test_one_row_and_none(fitted: Any, model: Any) -> None:
    assert model.predict(FRAME[:1]).tolist() == fitted.predict(FRAME[:1]).tolist()
    assert model.predict(FRAME[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (FRAME.drop(columns="age"), "column 'age' is not there"),
        (FRAME.assign(age="old"), "column 'age' holds text, and the model was made for float64"),
        (FRAME.assign(sex=1), "column 'sex' holds int64, and the model was made for text"),
        (FRAME.assign(rooms=1.5), "column 'rooms' holds float64, and the model was made for int64"),
        (FRAME.assign(age=pd.Timestamp("2020-01-01")), "column 'age' holds dates"),
        (pl.DataFrame(COLUMNS).with_columns(age=pl.date(2020, 1, 1)), "column 'age' holds dates"),
        (FRAME.assign(sex=[{"a"}] * 6), "column 'sex' holds set"),
        (FRAME.assign(sex=["m", 1, "f", 2, 3, 4]), "column 'sex' holds int and str"),
        (np.zeros((2, 3)), "X has 3 columns, and the model takes 4"),
        (np.zeros(3), "X has 1 dimensions"),
    ],
    ids=["missing", "text", "number", "float", "date", "polars date", "sets", "mixed", "width", "flat"],
)
def test_what_does_not_fit_is_refused_with_its_column(model: Any, given: Any, why: str) -> None:
    with pytest.raises(PipelineError, match=why) as caught:
        model.predict(given)
    if isinstance(given, np.ndarray):
        assert "in this order" in str(caught.value.help) or given.ndim == 1


def test_a_column_that_is_there_twice_is_refused(fitted: Any, model: Any) -> None:
    twice = pd.concat([FRAME, FRAME[["age"]]], axis=1)
    for call in (lambda: model.predict(twice), lambda: onnxsmith.sklearn.convert(fitted, twice)):
        with pytest.raises(PipelineError, match="there are two columns 'age'"):
            call()


def test_a_column_that_the_model_does_not_take_may_be_there_twice(fitted: Any, model: Any) -> None:
    other = pd.DataFrame(np.zeros((6, 2)), columns=["note", "note"])
    assert model.predict(pd.concat([FRAME, other], axis=1)).tolist() == fitted.predict(FRAME).tolist()


@pytest.mark.filterwarnings("ignore:pandas.DataFrame with sparse columns")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool"])
def test_columns_that_pandas_keeps_sparse(dtype: str) -> None:
    numbers = np.array([[0, 1], [2, 0], [0, 0], [4, 3], [0, 0], [1, 5]], dtype)
    dense = pd.DataFrame(numbers, columns=["a", "b"])
    # Where all columns are sparse scikit-learn makes a sparse matrix of them, and none of truth values.
    for names in [["a"]] + [["a", "b"]] * (dtype != "bool"):
        sparse = dense.assign(
            **{name: pd.arrays.SparseArray(dense[name], fill_value=np.dtype(dtype).type(0)) for name in names}
        )
        fitted = DecisionTreeClassifier(random_state=0).fit(sparse, Y)
        model = onnxsmith.sklearn.convert(fitted, sparse)
        assert onnxsmith.sklearn.signature(model).columns == (("a", dtype), ("b", dtype))
        for frame in (sparse, dense):
            assert model.predict(frame).tolist() == fitted.predict(sparse).tolist()


def test_text_that_pandas_keeps_sparse(fitted: Any, model: Any) -> None:
    texts = pd.arrays.SparseArray(np.array(["m", "f", "m", "m", "f", "f"], object), fill_value="m")
    sparse = FRAME.assign(sex=texts)
    assert model.predict(sparse).tolist() == fitted.predict(sparse).tolist()


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(COLUMNS)], ids=["pandas", "polars"])
def test_a_call_with_a_frame_is_told_of_predict(model: Any, frame: Any) -> None:
    for call in (lambda: model(frame), lambda: model.run(frame)):
        with pytest.raises(ModelInputError, match=r"model\.predict\(frame\)"):
            call()


def test_a_matrix_for_all_columns_where_that_is_asked(tmp_path: Path) -> None:
    numbers = FRAME[["age", "rooms"]]
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers, Y)
    model = onnxsmith.sklearn.convert(fitted, numbers, inputs="matrix")
    assert [str(each.type) for each in model.inputs] == ["DOUBLE['N', 2]"]
    assert model.predict(FRAME[["rooms", "age"]]).tolist() == fitted.predict(numbers).tolist()
    with pytest.raises(PipelineError, match="column 'sex' is text and column 'age' is not"):
        onnxsmith.sklearn.convert(fitted, FRAME[["age", "sex"]], inputs="matrix")
    with pytest.raises(PipelineError, match="neither 'columns' nor 'matrix'"):
        onnxsmith.sklearn.convert(fitted, numbers, inputs="both")


def test_dates_are_refused_when_converting() -> None:
    dates = FRAME.assign(day=pd.Timestamp("2020-01-01"))
    with pytest.raises(PipelineError, match="column 'day' holds dates") as caught:
        onnxsmith.sklearn.convert(SimpleImputer().fit(FRAME[["age"]]), dates)
    assert "total_seconds" in str(caught.value)


def test_a_method_that_is_no_output_is_refused(model: Any) -> None:
    with pytest.raises(PipelineError, match="no output for transform, but for predict, predict_proba"):
        model.transform(FRAME)


def test_a_model_of_another_kind_says_so() -> None:
    other = onnxsmith.trace(lambda x: x + 1.0, onnxsmith.FLOAT["N"])
    with pytest.raises(PipelineError, match=r"was not made by onnxsmith\.sklearn\.convert"):
        other.predict(FRAME)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"layout": "columns"}', '{"layout": "x", "columns": []}', "nan"]
)
def test_a_signature_that_does_not_fit_is_refused(model: Any, text: str) -> None:
    key = "onnxsmith.sklearn.signature"
    with pytest.raises(PipelineError, match="does not fit its inputs and outputs"):
        model.with_metadata({key: text}).predict(FRAME)


@pytest.mark.parametrize(
    "change",
    [
        {"layout": "rows"},
        {"columns": []},
        {"columns": [["sex", "STRING"]]},
        {"columns": [["age", "STRING"], ["sex", "DOUBLE"], ["rooms", "INT64"], ["is new", "BOOL"]]},
        {"columns": [["sex", "TEXT"], ["age", "DOUBLE"], ["rooms", "INT64"], ["is new", "BOOL"]]},
        {"columns": [["sex"], ["age"], ["rooms"], ["is new"]]},
        {"outputs": [["predict", "nothing"]]},
        {"outputs": None},
        {"feature_names": 3},
        {"row_shape": ["a"]},
        {"refused": [["nan"]]},
        {"refused": [["nan", ["a"]]]},
    ],
    ids=str,
)
def test_a_signature_with_one_wrong_part_is_refused(model: Any, change: dict[str, Any]) -> None:
    key = "onnxsmith.sklearn.signature"
    (text,) = [each.value for each in model.proto.metadata_props if each.key == key]
    said = json.loads(text)
    assert said.keys() | {"row_shape", "refused"} >= change.keys()
    assert model.with_metadata({key: json.dumps(said)}).predict(FRAME).shape == (6,)
    with pytest.raises(PipelineError, match="does not fit its inputs and outputs"):
        model.with_metadata({key: json.dumps(said | change)}).predict(FRAME)


def test_names_of_features_are_in_the_signature() -> None:
    fitted = OneHotEncoder().fit(FRAME[["sex"]])
    model = onnxsmith.sklearn.convert(fitted, FRAME[["sex"]])
    names = onnxsmith.sklearn.signature(model).feature_names
    assert list(names) == fitted.get_feature_names_out().tolist()


def test_a_call_needs_neither_scikit_learn_nor_pandas(model: Any, tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / "model.onnx"
    model.save(path)
    code = (
        "import sys; sys.modules['sklearn'] = sys.modules['pandas'] = None\n"
        "import onnxsmith, polars\n"
        f"frame = polars.DataFrame({COLUMNS!r})\n"
        f"print(onnxsmith.load({str(path)!r}).predict(frame).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr(model.predict(FRAME).tolist())


@pytest.mark.parametrize("dtype", [None, object], ids=["str", "object"])
def test_a_column_of_texts_is_taken_as_a_list_is(dtype: Any) -> None:
    texts = pd.Series(["one two", "two three", "three"], index=[7, 3, 5], dtype=dtype)
    model = onnxsmith.sklearn.convert(CountVectorizer().fit(texts), texts)
    assert model.transform(texts).tolist() == model.transform(list(texts)).tolist()


WHEN = ["2024-02-01", "2024-03-01", "2025-02-03"]
DATES = {
    "datetime64": (pd.to_datetime(pd.Series(WHEN)), r"df\['when'\].dt.dayofweek"),
    "with a zone": (pd.to_datetime(pd.Series(WHEN)).dt.tz_localize("UTC"), r"df\['when'\].dt.dayofweek"),
    "period": (pd.Series(pd.PeriodIndex(WHEN, freq="D")), r"df\['when'\].dt.dayofweek"),
    "duration": (
        pd.to_timedelta(pd.Series([1, 2, 3]), unit="D"),
        r"durations(?s:.*)seconds, df\['when'\].dt.total_seconds\(\);",
    ),
    "durations as objects": (
        pd.Series([datetime.timedelta(day) for day in (1, 2, 3)], dtype=object),
        r"seconds, each.total_seconds\(\);",
    ),
    "objects": (pd.Series([datetime.date(2024, 2, day) for day in (1, 2, 3)]), "weekday"),
}


@pytest.mark.parametrize(("column", "words"), DATES.values(), ids=DATES)
def test_dates_are_refused_with_what_to_write_instead(column: Any, words: str) -> None:
    numbers = pd.DataFrame({"when": [1.0, 2.0, 3.0]})
    fitted = StandardScaler().fit(numbers)
    model, dates = onnxsmith.sklearn.convert(fitted, numbers), pd.DataFrame({"when": column})
    for call in (lambda: onnxsmith.sklearn.convert(fitted, dates), lambda: model.transform(dates)):
        with pytest.raises(PipelineError, match="column 'when' holds") as caught:
            call()
        assert re.search(words, str(caught.value))


def test_dates_of_polars_and_numpy() -> None:
    fitted = StandardScaler().fit(np.zeros((2, 1)))
    for dates, words in [
        (pl.DataFrame({"when": [datetime.date(2024, 2, 1)] * 2}), r"df\['when'\].dt.weekday\(\)"),
        (pl.DataFrame({"when": [datetime.timedelta(1)] * 2}), r"seconds, df\['when'\].dt.total_seconds"),
        (np.array([[1], [2]], "m8[s]"), r"seconds, X / np.timedelta64\(1, 's'\)"),
        (np.array([WHEN], "M8[D]").T, r"X.astype\('M8\[M\]'\)"),
    ]:
        with pytest.raises(PipelineError, match=r"holds (dates|durations)") as caught:
            onnxsmith.sklearn.convert(fitted, dates)
        assert re.search(words, str(caught.value))


@pytest.mark.parametrize(
    ("rows", "words"),
    [([[1.0, 2.0], [3.0]], "inhomogeneous"), (scipy.sparse.csr_matrix(np.eye(2)), r"toarray\(\)")],
    ids=["ragged", "sparse"],
)
def test_what_is_no_array_is_refused(rows: Any, words: str) -> None:
    fitted = StandardScaler(with_mean=False).fit(np.eye(2))
    model = onnxsmith.sklearn.convert(fitted, np.eye(2))
    for call in (lambda: onnxsmith.sklearn.convert(fitted, rows), lambda: model.transform(rows)):
        with pytest.raises(PipelineError, match=words):
            call()


def test_completion_shows_the_methods_that_the_model_has() -> None:
    features, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    model = onnxsmith.sklearn.convert(LogisticRegression().fit(features, labels), features)
    assert {"predict", "predict_proba"} <= set(dir(model))
    assert not {"transform", "decision_function"} & set(dir(model))


def test_batch_by_batch(fitted, tmp_path) -> None:
    model = onnxsmith.sklearn.convert(fitted, FRAME)
    wanted = fitted.predict(FRAME).tolist()
    path = tmp_path / "rows.parquet"
    frame = pl.DataFrame(COLUMNS)
    frame.write_parquet(path)
    sources: list[Any] = [
        (FRAME.iloc[[k]] for k in range(len(FRAME))),
        iter([FRAME.iloc[:2], FRAME.iloc[2:]]),
        iter([frame[:4], FRAME.iloc[4:], frame[:0]]),
        frame.lazy(),
        path,
        str(path),
    ]
    for source in sources:
        assert model.predict(source).tolist() == wanted, source
    assert model.predict_proba(iter([FRAME, FRAME])).shape == (2 * len(FRAME), 2)
    with pytest.raises(PipelineError, match="X has no batches"):
        model.predict(iter([]))


def test_batches_of_a_loader() -> None:
    torch = pytest.importorskip("torch")
    rows = np.arange(12.0).reshape(6, 2)
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, Y)
    model = onnxsmith.sklearn.convert(fitted, rows)
    x = torch.from_numpy(rows)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=4)
    assert model.predict(loader).tolist() == fitted.predict(rows).tolist()
    assert model.predict(x).tolist() == fitted.predict(rows).tolist()
    with_labels = torch.utils.data.TensorDataset(x, torch.zeros(6))
    with pytest.raises(ModelInputError, match="a batch has 2 arrays, and the model 1 input: X"):
        model.predict(with_labels)


def test_whole_numbers_in_floats_are_told_how_to_become_whole(model: Any) -> None:
    for rooms, words in (
        (2.0, "all of these are whole numbers: give it as .astype('int64')"),
        (2.5, "convert the pipeline"),
    ):
        with pytest.raises(PipelineError, match="column 'rooms' holds float64") as caught:
            model.predict(FRAME.assign(rooms=rooms))
        assert words in str(caught.value.help)
    assert model.predict(FRAME.assign(rooms=2.0).astype({"rooms": "int64"})).shape == (6,)
