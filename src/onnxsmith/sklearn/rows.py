"""Rows of data, whatever they are in: some of them, and others made of them that are worth a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

#: As many rows are compared at the most.
MOST = 1000
_UNSEEN = "a category that nobody has seen"


def array_in(data: object) -> np.ndarray[Any, np.dtype[Any]] | None:
    """The data where they are an array of numpy's."""
    return cast("np.ndarray[Any, np.dtype[Any]]", data) if isinstance(data, np.ndarray) else None


def count_of(data: Any) -> int:
    """How many rows there are."""
    if isinstance(data, Mapping):
        return len(next(iter(cast("Mapping[str, Any]", data).values())))
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def taken(data: Any, places: Sequence[int]) -> Any:
    """The rows at places, in what the data are in."""
    if isinstance(data, Mapping):
        return {name: taken(each, places) for name, each in cast("Mapping[str, Any]", data).items()}
    if hasattr(data, "iloc"):
        return data.iloc[list(places)]
    if isinstance(data, list | tuple):
        rows = cast("list[Any]", data)
        return [rows[each] for each in places]
    array = array_in(data)
    return data[list(places)] if array is None else array[np.asarray(places, dtype=np.int64)]


def variants(data: Any) -> Iterator[tuple[str, Any]]:
    """The data, none, one and twice as many rows and one, and rows with what estimators treat in ways of their own."""
    count = count_of(data)
    size = min(count, MOST)
    every = [k * count // size for k in range(size)]
    yield "X", taken(data, every)
    yield "no rows", taken(data, [])
    if not count:
        return
    yield "one row", taken(data, every[:1])
    yield f"{2 * len(every) + 1} rows", taken(data, [*every, *every, every[0]])
    few = taken(data, every[:16])
    yield from _with_missing(few)
    yield from _with_unseen(few)
    yield from _with_large(few)


def _with_missing(data: Any) -> Iterator[tuple[str, Any]]:
    """NaN in one column after the other."""
    array = array_in(data)
    if array is not None and array.dtype.kind == "f" and array.ndim == 2:
        array = array.copy()
        for row in range(array.shape[0]):
            array[row, row % array.shape[1]] = np.nan
        yield "NaN", array
    elif hasattr(data, "iloc"):
        made: Any = data.copy()
        names = [name for name in made.columns if made[name].dtype.kind == "f"]
        for place, name in enumerate(names):
            made.iloc[place % len(made), made.columns.get_loc(name)] = np.nan
        if names:
            yield "NaN", made


def _with_unseen(data: Any) -> Iterator[tuple[str, Any]]:
    """Text that no category is called by."""
    array = array_in(data)
    if array is not None and array.dtype.kind in "OU":
        array = array.astype(object)
        if all(isinstance(each, str) for each in array.ravel().tolist()):
            array[::2] = _UNSEEN
            yield "unseen categories", array
    elif hasattr(data, "iloc"):
        made: Any = data.copy()
        names = [name for name in made.columns if str(made[name].dtype) in ("object", "str", "string")]
        for name in names:
            made.iloc[::2, made.columns.get_loc(name)] = _UNSEEN
        if names:
            yield "unseen categories", made


def _with_large(data: Any) -> Iterator[tuple[str, Any]]:
    """Whole numbers that float32 does not tell apart."""
    array = array_in(data)
    if array is not None and array.dtype.kind in "iu" and array.dtype.itemsize >= 4:
        yield "integers beyond 2**24", array + np.asarray(2**24 + 1, array.dtype)
