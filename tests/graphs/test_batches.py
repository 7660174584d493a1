"""Data of any kind as batches of named arrays."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from onnxsmith.errors import ModelInputError
from onnxsmith.graphs.batches import Batches, row_count, rows_at

MATRIX = np.arange(10.0).reshape(5, 2)
COLUMNS = {"a": np.arange(5.0), "b": np.array(["v", "w", "x", "y", "z"], object)}


def arrays(data: Any, names: list[str], size: int | None = None) -> list[dict[str, list[Any]]]:
    return [
        {name: each.tolist() for name, each in batch.items()} for batch in Batches(data, size).arrays(names)
    ]


def joined(batches: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    return {name: [row for each in batches for row in each[name]] for name in batches[0]}


EXPECTED = {name: each.tolist() for name, each in COLUMNS.items()}


@pytest.mark.parametrize("size", [None, 1, 2, 5, 9])
def test_arrays_and_dicts(size: int | None) -> None:
    assert joined(arrays(MATRIX, ["x"], size)) == {"x": MATRIX.tolist()}
    assert joined(arrays(MATRIX.tolist(), ["x"], size)) == {"x": MATRIX.tolist()}
    assert joined(arrays(COLUMNS, ["a", "b"], size)) == EXPECTED
    assert Batches(COLUMNS, size).rows == 5
    assert len(arrays(MATRIX, ["x"], size)) == (1 if size is None else -(-5 // size))


def test_no_rows_are_one_batch() -> None:
    for size in (None, 3):
        assert [each["x"].shape for each in Batches(MATRIX[:0], size).arrays(["x"])] == [(0, 2)]


def test_other_columns_are_left_alone_and_missing_ones_told() -> None:
    assert joined(arrays(COLUMNS, ["a"], 2)) == {"a": EXPECTED["a"]}
    with pytest.raises(ModelInputError, match="no column 'c'"):
        arrays(COLUMNS, ["a", "c"])


def test_generators_give_one_batch_at_a_time() -> None:
    pulled: list[int] = []

    def rows() -> Any:
        for k in range(3):
            pulled.append(k)
            yield MATRIX[k : k + 1]

    found = Batches(rows())
    assert found.rows is None
    assert [len(pulled) for _ in found.arrays(["x"])] == [1, 2, 3]
    assert joined(arrays(iter([COLUMNS, COLUMNS]), ["a", "b"]))["a"] == EXPECTED["a"] * 2


def test_several_arrays_have_the_names_of_inputs_in_order() -> None:
    pairs = ((MATRIX[k], MATRIX[k] + 1) for k in range(2))
    assert arrays(pairs, ["x", "y"])[1] == {"x": [2, 3], "y": [3, 4]}
    with pytest.raises(ModelInputError, match="a batch has 2 arrays, and the model 1 input: x"):
        arrays(iter([(MATRIX, MATRIX)]), ["x"])
    with pytest.raises(ModelInputError, match="a batch has 1 array, and the model 2 inputs: x, y"):
        arrays(MATRIX, ["x", "y"])
    assert joined(arrays([MATRIX[0], MATRIX[1]], ["x"])) == {"x": MATRIX[:2].tolist()}  # rows, in memory


def test_frames_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**COLUMNS, "c": 1})
    for size in (None, 2):
        assert joined(arrays(frame, ["b", "a"], size)) == {"b": EXPECTED["b"], "a": EXPECTED["a"]}
    assert joined(arrays(iter([frame, frame]), ["a"]))["a"] == EXPECTED["a"] * 2
    assert row_count(rows_at(frame, [4, 0])) == 2


def test_frames_of_polars_and_parquet(tmp_path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({**COLUMNS, "c": 1})
    path = tmp_path / "rows.parquet"
    frame.write_parquet(path)
    for data in (frame, frame.lazy(), path, str(path)):
        for size in (None, 2):
            assert joined(arrays(data, ["a", "b"], size)) == EXPECTED, data
            assert Batches(data, size).rows == 5
    assert [len(each["a"]) for each in Batches(path, 2).arrays(["a"])] == [2, 2, 1]


def test_arrow() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({**COLUMNS, "c": [1, None, 3, 4, 5]})
    for data in (table, table.to_batches()[0], iter(table.to_batches()), table.to_reader()):
        assert joined(arrays(data, ["a", "b"])) == EXPECTED
    assert np.isnan(joined(arrays(table, ["c"], 2))["c"][1])


class _Column:
    """What Arrow's columns have, without Arrow."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def to_numpy(self, zero_copy_only: bool = True) -> Any:
        assert not zero_copy_only
        return np.asarray(self._values)


def test_batches_of_arrow_by_what_they_have() -> None:
    def batch(*places: int) -> Any:
        columns = [_Column(each[list(places)]) for each in COLUMNS.values()]
        schema = type("Schema", (), {"names": list(COLUMNS)})()
        return type("RecordBatch", (), {"schema": schema, "columns": columns, "num_rows": len(places)})()

    class Table:
        num_rows = 5

        def to_batches(self, max_chunksize: int | None = None) -> Any:
            return [batch(0, 1), batch(2, 3, 4)]

    Table.__module__ = "pyarrow.lib"
    assert Batches(Table()).rows == 5
    assert joined(arrays(Table(), ["a", "b"])) == EXPECTED


def test_loaders_and_datasets_of_torch() -> None:
    torch = pytest.importorskip("torch")
    data = torch.utils.data
    x, y = torch.arange(6.0).reshape(3, 2), torch.arange(3.0)
    assert joined(arrays(x.requires_grad_(), ["x"])) == {"x": x.tolist()}
    both = data.TensorDataset(x.detach(), y)
    for each in (both, data.DataLoader(both, batch_size=2), data.DataLoader(both, batch_size=None)):
        assert Batches(each).rows == 3
    assert joined(arrays(data.DataLoader(both, batch_size=2), ["x", "y"])) == {
        "x": x.tolist(),
        "y": y.tolist(),
    }
    assert joined(arrays(both, ["x", "y"], 2)) == {"x": x.tolist(), "y": y.tolist()}
    assert joined(arrays(data.DataLoader(data.TensorDataset(x.detach()), batch_size=2), ["x"])) == {
        "x": x.tolist()
    }

    class Named(data.Dataset):
        def __len__(self) -> int:
            return 3

        def __getitem__(self, k: int) -> Any:
            return {"x": x[k].detach(), "label": k}

    assert joined(arrays(Named(), ["x"], 2)) == {"x": x.tolist()}
    assert joined(arrays(data.DataLoader(Named(), batch_size=2), ["x"])) == {"x": x.tolist()}

    class Streamed(data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(x.detach())

    assert Batches(Streamed()).rows is None
    assert [len(each["x"]) for each in Batches(Streamed(), 2).arrays(["x"])] == [2, 1]


def test_nothing_is_imported_that_was_not_given() -> None:
    code = """
import sys
import numpy as np
from onnxsmith.graphs.batches import Batches
list(Batches({"x": np.ones(3)}, 2).arrays(["x"]))
list(Batches(np.ones((2, 2)) for _ in range(2)).arrays(["x"]))
print([each for each in ("pandas", "polars", "pyarrow", "torch", "datasets", "sklearn") if each in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_two_columns_of_one_name_are_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    for rows in (2, 0):
        table = pa.table([[1.0, 2.0][:rows], [3.0, 4.0][:rows]], names=["a", "a"])
        with pytest.raises(ModelInputError, match="two columns 'a'"):
            list(Batches(table).arrays(["a"]))


@pytest.mark.parametrize("value", [1.0, "text", None])
def test_a_column_has_elements(value: object) -> None:
    with pytest.raises(ModelInputError, match=r"column 'a' is .*one element for each row"):
        Batches({"a": value})


def test_files_that_cannot_be_read(tmp_path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(ModelInputError, match="there is no such file"):
        Batches("nowhere.parquet")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ModelInputError, match=r"cannot read .* as a parquet file"):
        Batches(tmp_path / "a.csv")
