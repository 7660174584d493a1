"""Data as batches: the one source of them, for everything here that runs a model on more than one array.

Arrays, lists, dicts of columns, frames of pandas and polars, tables, readers and datasets of Arrow, parquet files,
generators, and loaders and datasets of torch and Hugging Face become an iterator of named arrays. No library is
imported that the data is not from, but for a file, which the first library reads that is installed. What the elements
of a column mean, such as missing text, is for callers to say.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import MissingDependencyError, ModelInputError
from onnxsmith.graphs.run_values import Array

#: Rows as somebody's library has them: an array, a frame, a dict of columns, a list. No type covers all of them.
GivenRows: TypeAlias = Any
#: A column as an array, by the column and its name.
ReadColumn: TypeAlias = Callable[[GivenRows, str], Array]

#: Rows of a batch, where the source has no batches of its own and somebody asks for some.
DEFAULT_SIZE = 65_536
#: The same of a dataset that gives single rows.
_SINGLE_ROWS = 1024
_PARQUET = (".parquet", ".pq")


class Batches:
    """An iterator of batches, of a known or unknown number of rows.

    >>> import numpy as np
    >>> found = Batches(np.arange(6.0).reshape(3, 2), size=2)
    >>> found.rows, [each["x"].shape for each in found.arrays(["x"])]
    (3, [(2, 2), (1, 2)])
    >>> stream = Batches({"a": np.full(k, 1.0), "b": np.zeros(k)} for k in (1, 4))
    >>> stream.rows, [each["b"].shape for each in stream.arrays(["a", "b"])]
    (None, [(1,), (4,)])
    """

    def __init__(self, data: GivenRows, size: int | None = None) -> None:
        """Without a `size`, data that lies in memory is one batch, and others come as their source has them."""
        #: How many rows there are; None where only the end says it.
        self.rows: int | None
        self.rows, self._pieces = _opened(data, size)

    def pieces(self, names: Sequence[str]) -> Iterator[GivenRows]:
        """The batches in what the data is in: arrays, frames, or dicts of columns.

        Several arrays of a loader or generator become a dict by the names of inputs, in order.
        """
        for piece in self._pieces:
            yield _named(piece.arrays, names) if isinstance(piece, _Several) else piece

    def arrays(self, names: Sequence[str], read: ReadColumn | None = None) -> Iterator[dict[str, Array]]:
        """The batches as arrays, by the names of inputs; columns of other names are left alone."""
        read = _plain if read is None else read
        for piece in self.pieces(names):
            if not (isinstance(piece, Mapping) or (hasattr(piece, "columns") and hasattr(piece, "shape"))):
                if len(names) != 1:
                    raise _unnamed(1, names)
                yield {names[0]: read(piece, names[0])}
                continue
            columns: Iterable[Any] = cast(Any, piece) if isinstance(piece, Mapping) else piece.columns
            held = [str(each) for each in columns]
            missing = next((each for each in names if each not in held), None)
            if missing is not None:
                raise ModelInputError(f"a batch has no column '{missing}'", help=f"it has {', '.join(held)}")
            yield {name: read(piece[name], name) for name in names}


class _Several(NamedTuple):
    """A batch that is several arrays without names."""

    arrays: Sequence[GivenRows]


# -- rows of any container --------------------------------------------------------------------------------


def row_count(data: GivenRows) -> int:
    """How many rows data in memory has."""
    if isinstance(data, Mapping):
        columns = cast("Mapping[str, GivenRows]", data)
        for name, each in columns.items():
            if not hasattr(each, "__len__") or isinstance(each, str):
                raise ModelInputError(
                    f"column {name!r} is {each!r}, and a column has one element for each row",
                    help="give a list for each column, of one element for one row",
                )
        return len(next(iter(columns.values()))) if columns else 0
    shape: Sequence[int] | None = getattr(data, "shape", None)
    return len(data) if shape is None else int(shape[0])


def rows_at(data: GivenRows, places: Sequence[int]) -> GivenRows:
    """The rows at places, in what the data is in."""
    if isinstance(data, Mapping):
        return {name: rows_at(each, places) for name, each in cast("Mapping[str, GivenRows]", data).items()}
    if hasattr(data, "iloc"):  # a frame of pandas, or one column of it
        return data.iloc[list(places)]
    if isinstance(data, list | tuple):
        rows = cast("list[Any]", data)
        return [rows[each] for each in places]
    return data[np.asarray(places, dtype=np.int64) if isinstance(data, np.ndarray) else list(places)]


# -- sources ----------------------------------------------------------------------------------------------


def _opened(data: GivenRows, size: int | None) -> tuple[int | None, Iterable[GivenRows]]:
    """How many rows data has, and its batches."""
    path = _path_in(data)
    if path is not None:
        return _of_file(path, size or DEFAULT_SIZE)
    homes = {each.__module__.partition(".")[0] for each in type(data).__mro__}
    if "pyarrow" in homes:
        return _of_arrow(data, size)
    if "polars" in homes and hasattr(data, "collect"):  # a lazy frame
        return _opened(data.collect(), size)
    if "datasets" in homes and hasattr(data, "iter"):
        rows = len(data) if hasattr(data, "__len__") else None
        return rows, (_of_lists(each) for each in data.iter(batch_size=size or _SINGLE_ROWS))
    if "torch" in homes and not hasattr(data, "detach"):
        return _of_torch(data, size)
    if hasattr(data, "__next__"):
        return None, map(_of_tensors, data)
    if hasattr(data, "detach"):
        data = _of_tensor(data)
    if size is None:
        return (row_count(data) if hasattr(data, "__len__") else None), [data]
    count = row_count(data)
    starts = range(0, max(count, 1), size)
    return count, (rows_at(data, range(each, min(each + size, count))) for each in starts)


def _path_in(data: object) -> str | None:
    """The path of a parquet file that data is; a text may also be one row."""
    if isinstance(data, os.PathLike):
        return str(os.fspath(cast("os.PathLike[str]", data)))
    return data if isinstance(data, str) and data.endswith(_PARQUET) else None


def _of_file(path: str, size: int) -> tuple[int | None, Iterable[GivenRows]]:
    try:
        return _of_parquet(path, size)
    except MissingDependencyError:
        raise
    except Exception as error:  # those of pyarrow and polars are classes of their own
        reason = str(error).partition("\n")[0] if os.path.exists(path) else "there is no such file"
        raise ModelInputError(
            f"cannot read {path!r} as a parquet file: {reason}", help="read other files into a data frame"
        ) from None


def _of_parquet(path: str, size: int) -> tuple[int | None, Iterable[GivenRows]]:
    if find_spec("pyarrow") is not None:
        file: Any = import_module("pyarrow.parquet").ParquetFile(path)
        return file.metadata.num_rows, map(_of_record_batch, file.iter_batches(batch_size=size))
    if find_spec("polars") is None:
        raise MissingDependencyError(
            f"a parquet file is read by pyarrow or polars, and neither is installed: {path}",
            help="pip install pyarrow, or pip install polars",
        )
    polars: Any = import_module("polars")
    lazy = polars.scan_parquet(path)
    count = int(lazy.select(polars.len()).collect().item())
    return count, (lazy.slice(each, size).collect() for each in range(0, max(count, 1), size))


def _of_arrow(data: GivenRows, size: int | None) -> tuple[int | None, Iterable[GivenRows]]:
    kind = type(data).__name__
    if kind == "Table":
        if not data.num_rows:  # of which Arrow makes no batch
            empty = [np.empty(0, each.type.to_pandas_dtype()) for each in data.schema]
            return 0, [_by_name(data.schema.names, empty)]
        return data.num_rows, map(_of_record_batch, data.to_batches(max_chunksize=size))
    if kind == "RecordBatch":
        return data.num_rows, [_of_record_batch(data)]
    if hasattr(data, "to_batches"):  # a dataset, or a scanner of one
        return data.count_rows(), map(_of_record_batch, data.to_batches())
    if hasattr(data, "__iter__"):  # a reader
        return None, map(_of_record_batch, data)
    raise ModelInputError(f"rows cannot be read from {described_type(type(cast(object, data)))}")


def _of_record_batch(batch: GivenRows) -> GivenRows:
    """The columns of an Arrow batch by name; a missing number is NaN, and a missing text None."""
    columns = (
        each.to_numpy(zero_copy_only=False) if hasattr(each, "to_numpy") else np.asarray(each)
        for each in batch.columns
    )
    return _by_name(batch.schema.names, columns)


def _by_name(names: Sequence[str], columns: Iterable[Array]) -> dict[str, Array]:
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise ModelInputError(f"there are two columns {twice!r}", help="give each a name of its own")
    return dict(zip(names, columns, strict=True))


def _of_torch(data: GivenRows, size: int | None) -> tuple[int | None, Iterable[GivenRows]]:
    """The batches of a loader, or of a dataset that gives rows by number or one after the other."""
    if hasattr(data, "batch_sampler") or hasattr(data, "batch_size"):
        held: Any = getattr(data, "dataset", None)
        return (len(held) if hasattr(held, "__len__") else None), map(_of_tensors, data)
    is_known = hasattr(data, "__len__") and hasattr(data, "__getitem__")
    rows = (data[k] for k in range(len(data))) if is_known else iter(data)
    return (len(data) if is_known else None), _stacked(rows, size or _SINGLE_ROWS)


def _stacked(rows: Iterator[GivenRows], size: int) -> Iterator[GivenRows]:
    """Single rows as batches: arrays, tuples and dicts of arrays, with a dimension more."""
    while some := list(islice(rows, size)):
        first = some[0]
        if isinstance(first, Mapping):
            keys = cast("Mapping[str, GivenRows]", first)
            yield {key: np.stack([_of_tensor(each[key]) for each in some]) for key in keys}
        elif isinstance(first, tuple | list):
            parts = zip(*some, strict=True)
            yield _Several([np.stack([_of_tensor(each) for each in part]) for part in parts])
        else:
            yield np.stack([_of_tensor(each) for each in some])


def _of_tensors(batch: GivenRows) -> GivenRows:
    if type(batch) in (tuple, list) and _are_arrays(batch):  # of most loaders, for which each check costs
        return _Several([_of_tensor(each) for each in batch])
    if hasattr(batch, "schema") and hasattr(batch, "num_rows"):  # of Arrow
        return _of_record_batch(batch)
    if isinstance(batch, Mapping):
        return {key: _of_tensor(each) for key, each in cast("Mapping[str, GivenRows]", batch).items()}
    if isinstance(batch, tuple) or (isinstance(batch, list) and _are_arrays(cast("list[GivenRows]", batch))):
        return _Several([_of_tensor(each) for each in cast("Sequence[GivenRows]", batch)])
    return _of_tensor(batch)


def _are_arrays(values: Sequence[GivenRows]) -> bool:
    return bool(values) and all(hasattr(each, "shape") for each in values)


def _of_tensor(value: GivenRows) -> GivenRows:
    return value.numpy(force=True) if hasattr(value, "detach") else value


def _of_lists(batch: Mapping[str, GivenRows]) -> dict[str, GivenRows]:
    return {name: np.asarray(_of_tensor(each)) for name, each in batch.items()}


# -- names ------------------------------------------------------------------------------------------------


def _named(arrays: Sequence[GivenRows], names: Sequence[str]) -> GivenRows:
    """Several arrays by the names of inputs; a single one as it is."""
    if len(arrays) == 1:
        return arrays[0]
    if len(arrays) != len(names):
        raise _unnamed(len(arrays), names)
    return dict(zip(names, arrays, strict=True))


def _unnamed(count: int, names: Sequence[str]) -> ModelInputError:
    inputs = f"{len(names)} input{'s' * (len(names) != 1)}"
    return ModelInputError(
        f"a batch has {count} array{'s' * (count != 1)}, and the model {inputs}: {', '.join(names)}",
        help="give dicts of arrays by name, or a generator that leaves out what is no input: (x for x, _ in loader)",
    )


def _plain(column: GivenRows, name: str) -> Array:
    return np.asarray(column)
