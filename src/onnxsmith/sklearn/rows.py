"""Rows of data, whatever they are in: some of them, and others made of them that are worth a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.graphs.batches import row_count, rows_at
from onnxsmith.graphs.trial_inputs import SIDES, UNSEEN, beyond_float32, outside

#: An array of numpy's, of any element type.
Elements: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Rows(Protocol):
    """Rows that a pipeline takes: an array, a data frame of pandas or polars, a dict of columns, a list."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any: ...


class PandasFrame(Rows, Protocol):
    """The attributes of a data frame of pandas that are used here."""

    #: Names of columns, and of rows and columns what stands there; declared by no type that is installed.
    columns: Any
    iloc: Any

    def copy(self) -> PandasFrame:
        """A frame of its own."""
        ...

    def __setitem__(self, key: Any, value: Any, /) -> None: ...


#: As many rows are compared at the most.
MOST = 1000


def array_in(data: UserValue | Rows) -> Elements | None:
    """The data where they are an array of numpy's."""
    return cast(Elements, data) if isinstance(data, np.ndarray) else None


def _pandas_in(data: Rows) -> PandasFrame | None:
    """The data where they are a frame of pandas; a single column of it is none."""
    return cast(PandasFrame, data) if hasattr(data, "iloc") and hasattr(data, "columns") else None


def variants(data: Rows) -> Iterator[tuple[str, Rows]]:
    """The data, none, one and twice as many rows and one, and rows with what estimators treat in ways of their own.

    Among these are rows beyond the data: estimators extrapolate in ways of their own.
    """
    count = row_count(data)
    size = min(count, MOST)
    every = [k * count // size for k in range(size)]
    yield "X", rows_at(data, every)
    yield "no rows", rows_at(data, [])
    if not count:
        return
    yield "one row", rows_at(data, every[:1])
    yield f"{2 * len(every) + 1} rows", rows_at(data, [*every, *every, every[0]])
    few = rows_at(data, every[:16])
    yield from _with_missing(few)
    yield from _with_unseen(few)
    yield from _with_large(few)
    yield from _outside(data)


def _writable(frame: PandasFrame) -> PandasFrame:
    """A copy whose elements can be changed: columns that pandas keeps sparse, and does not change, are filled up."""
    made = frame.copy()
    for name in made.columns:
        if type(made[name].dtype).__name__ == "SparseDtype":
            made[name] = made[name].sparse.to_dense()
    return made


def _with_missing(data: Rows) -> Iterator[tuple[str, Rows]]:
    """NaN in one column after the other."""
    array = array_in(data)
    if array is not None and array.dtype.kind == "f" and array.ndim == 2:
        array = array.copy()
        for row in range(array.shape[0]):
            array[row, row % array.shape[1]] = np.nan
        yield "NaN", array
    elif (frame := _pandas_in(data)) is not None:
        made = _writable(frame)
        names = [name for name in made.columns if made[name].dtype.kind == "f"]
        for place, name in enumerate(names):
            made.iloc[place % len(made), made.columns.get_loc(name)] = np.nan
        if names:
            yield "NaN", made


def _with_unseen(data: Rows) -> Iterator[tuple[str, Rows]]:
    """Text that no category is called by."""
    array = array_in(data)
    if array is not None and array.dtype.kind in "OU":
        array = array.astype(object)
        if all(isinstance(each, str) for each in array.ravel().tolist()):
            array[::2] = UNSEEN
            yield "unseen categories", array
    elif (frame := _pandas_in(data)) is not None:
        made = _writable(frame)
        names = [name for name in made.columns if str(made[name].dtype) in ("object", "str", "string")]
        for name in names:
            made.iloc[::2, made.columns.get_loc(name)] = UNSEEN
        if names:
            yield "unseen categories", made


def _with_large(data: Rows) -> Iterator[tuple[str, Rows]]:
    """Whole numbers that float32 does not tell apart."""
    array = array_in(data)
    if array is not None and array.dtype.kind in "iu" and array.dtype.itemsize >= 4:
        yield "integers beyond 2**24", beyond_float32(array)


def _outside(data: Rows) -> Iterator[tuple[str, Rows]]:
    """Numbers below and above all that a column has: one column at a time, and all at once."""
    array = array_in(data)
    if array is not None and array.dtype.kind == "f" and array.ndim == 2 and array.size:
        columns: list[Elements] = list(array.T)
        made = [outside(column) for column in columns]
        base = array[0]
        rows: list[Elements] = []
        for k, values in enumerate(made[:_MOST_COLUMNS]):
            for value in values:
                row = base.copy()
                row[k] = value
                rows.append(row)
        rows += [np.array(each, array.dtype) for each in zip(*made, strict=True)]
        yield "numbers outside the range of X", np.stack(rows)
    elif (frame := _pandas_in(data)) is not None and len(frame):
        names = [name for name in frame.columns if frame[name].dtype.kind == "f"]
        few = _writable(cast(PandasFrame, frame.iloc[[k % len(frame) for k in range(SIDES)]]))
        for name in names:
            values = outside(np.asarray(frame[name], dtype=np.float64))
            few[name] = np.asarray(values, dtype=few[name].dtype)
        if names:
            yield "numbers outside the range of X", few


#: As many columns are tried one at a time, at the most.
_MOST_COLUMNS = 32
