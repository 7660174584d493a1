"""Data as arrays by column: of pandas, of polars, of numpy, lists of text. Neither library is imported for it.

Text becomes an array of `str` in which one text stands for what is missing (`missing`); whole numbers with missing
ones become floats, as scikit-learn makes of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import PipelineError
from onnxsmith.sklearn.missing import NAN_TEXT, is_nan
from onnxsmith.sklearn.rows import Elements, Rows


class Frame(Rows, Protocol):
    """The attributes of a data frame, of pandas or polars, that are used here."""

    @property
    def columns(self) -> Iterable[Any]:
        """The names of its columns."""
        ...


class PandasColumn(Protocol):
    """The attributes of a column of pandas that are used here."""

    #: An element type of numpy's or of pandas' own.
    dtype: Any

    def to_numpy(self, dtype: np.dtype[Any] | None = None, *, na_value: float = ...) -> Elements:
        """An array, with a number in the place of what is missing."""
        ...

    def astype(self, dtype: type[Any]) -> PandasColumn:
        """With another element type."""
        ...

    def tolist(self) -> list[UserValue]:
        """As a list."""
        ...

    def isna(self) -> Elements:
        """Where values are missing."""
        ...


class PolarsColumn(Protocol):
    """The attributes of a column of polars that are used here."""

    def to_list(self) -> list[Any]:
        """As a list."""
        ...

    def to_numpy(self) -> Elements:
        """As an array."""
        ...


#: What dates are turned into: a part of them, and seconds since a day, as each library writes it of a column.
_DATES = {
    "pandas": ("{0}.dt.dayofweek", "({0} - day).dt.total_seconds()"),
    "polars": ("{0}.dt.weekday()", "({0} - day).dt.total_seconds()"),
    "": ("day.weekday() of each", "(each - day).total_seconds()"),
    "numpy": ("{0}.astype('M8[M]').astype(int) % 12", "({0} - day) / np.timedelta64(1, 's')"),
}
#: Names of the element types that hold dates, as pandas and polars say them.
_DATE_WORDS = ("datetime", "date", "timedelta", "duration", "time", "period", "interval")
#: Those of them that hold no dates, but times between two.
_DURATION_WORDS = ("timedelta", "duration")
#: How each library writes the seconds of durations.
_DURATIONS = {
    "pandas": "{0}.dt.total_seconds()",
    "polars": "{0}.dt.total_seconds()",
    "": "each.total_seconds()",
    "numpy": "{0} / np.timedelta64(1, 's')",
}


def _dates(kinds: str) -> str:
    """The word for elements of these types: dates or durations."""
    return "durations" if kinds.lower().startswith(_DURATION_WORDS) else "dates"


def _date_help(column: str, library: str, kinds: str) -> str:
    """The help text for a column of dates or durations."""
    if _dates(kinds) == "durations":
        return (
            f"give the pipeline their seconds, {_DURATIONS[library].format(column)}; both before fit and "
            "before predict"
        )
    part, seconds = (each.format(column) for each in _DATES[library])
    return (
        f"give the pipeline numbers: a part of the date, such as {part}, or the seconds since a day that you choose, "
        f"{seconds}; both before fit and before predict"
    )


def library_of(data: Rows) -> str:
    """The library that data comes from: "pandas", "polars", "numpy", or "" for Python's own."""
    root = type(data).__module__.partition(".")[0]
    return root if root in ("pandas", "polars", "numpy") else ""


def is_frame(data: Rows) -> TypeGuard[Frame | Mapping[str, Rows]]:
    """True if data has columns with names: a frame of pandas or polars, or a dict of columns."""
    return isinstance(data, Mapping) or (
        library_of(data) in ("pandas", "polars") and type(data).__name__ == "DataFrame"
    )


def columns_of_frame(
    data: Frame | Mapping[str, Rows], used: Container[str] | None = None
) -> dict[str, Elements]:
    """The columns of a frame by name, as arrays; of those that are used, where that is known."""
    if isinstance(data, Mapping):
        return {
            name: column_elements(each, name) for name, each in data.items() if used is None or name in used
        }
    names = list(data.columns)
    odd = [each for each in names if not isinstance(each, str)]
    if odd:
        raise PipelineError(
            f"columns have names that are text, and one is {odd[0]!r}",
            help="df.columns = [str(each) for each in df.columns]",
        ).locate_at_caller()
    refuse_twice(names, names)
    return {name: column_elements(data[name], name) for name in names if used is None or name in used}


def refuse_twice(wanted: Iterable[str | None], given: Sequence[UserValue]) -> None:
    """Refuse a frame that has two columns of one name, where that name is wanted."""
    twice = next((each for each in wanted if given.count(each) > 1), None)
    if twice is not None:
        raise PipelineError(
            f"there are two columns {twice!r}", help="give each a name of its own"
        ).locate_at_caller()


def column_elements(column: Rows, name: str) -> Elements:
    """A column as an array: numbers, truth values or text."""
    kind = str(getattr(column, "dtype", ""))
    if _is_date(kind):
        raise PipelineError(
            f"column {name!r} holds {_dates(kind)} ({kind})",
            help=_date_help(f"df[{name!r}]", library_of(column), kind),
        ).locate_at_caller()
    library = library_of(column)
    if library == "polars":
        return _of_polars(cast(PolarsColumn, column), name, kind)
    if library == "pandas":
        return _of_pandas(cast(PandasColumn, column), name)
    return array_elements(np.asarray(column), f"column {name!r}")


def _is_date(kind: str) -> bool:
    word = kind.lower().split("[")[0].split("(")[0]
    return word.startswith(_DATE_WORDS)


def _of_pandas(column: PandasColumn, name: str) -> Elements:
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return array_elements(column.to_numpy(), f"column {name!r}")
    if type(dtype).__name__ == "CategoricalDtype":
        kind = dtype.categories.dtype
        if isinstance(kind, np.dtype) and kind.kind in "biuf":
            return array_elements(np.asarray(column), f"column {name!r}")
        return _text(column.astype(object).tolist(), f"column {name!r}")
    if type(dtype).__name__ == "SparseDtype":  # without its element type, int32 would become int64
        return array_elements(column.to_numpy(dtype=dtype.subtype), f"column {name!r}")
    if type(dtype).__name__ == "StringDtype":
        return _text(column.astype(object).tolist(), f"column {name!r}")
    plain = getattr(dtype, "numpy_dtype", None)
    if plain is not None and plain.kind in "biuf":  # numbers that may be missing
        if plain.kind in "biu" and not bool(column.isna().any()):
            return column.to_numpy(dtype=plain)
        wide = plain if plain.kind == "f" else np.dtype(np.float64)
        return column.to_numpy(dtype=wide, na_value=np.nan)
    return array_elements(np.asarray(column.astype(object)), f"column {name!r}")


def _of_polars(column: PolarsColumn, name: str, kind: str) -> Elements:
    if kind.startswith(("String", "Utf8", "Categorical", "Enum", "Object", "Null")):
        return _text(column.to_list(), f"column {name!r}")
    found = column.to_numpy()
    if found.dtype == object and kind == "Boolean":
        return np.array([np.nan if each is None else float(each) for each in column.to_list()])
    return array_elements(found, f"column {name!r}")


def as_array(data: Rows) -> Elements:
    """Rows as an array of numpy's; refused where they are none."""
    if hasattr(data, "toarray"):
        raise PipelineError(
            f"X is a sparse matrix ({type(data).__name__}), and a model takes what numpy holds",
            help="convert(pipeline, X[:1000].toarray()): the model takes dense rows, and the pipeline stays as it is",
        ).locate_at_caller()
    try:
        return np.asarray(data)
    except ValueError as error:  # rows of different lengths
        raise PipelineError(
            f"X is no array: {error}", help="give all rows the same number of columns"
        ).locate_at_caller() from None


def array_elements(array: Elements, what: str) -> Elements:
    """An array of numbers, truth values or text, as a model takes it; `what` is how errors call it."""
    kind = array.dtype.kind
    if kind in "biuf":
        if array.dtype.itemsize > 8:
            raise PipelineError(
                f"{what} holds {array.dtype}, which no model computes with", help="use float64"
            )
        return array
    if kind in "Mm":
        raise PipelineError(
            f"{what} holds {_dates(str(array.dtype))} ({array.dtype})",
            help=_date_help("X", "numpy", str(array.dtype)),
        ).locate_at_caller()
    if kind in "UT":
        return _text(array.reshape(-1).tolist(), what).reshape(array.shape)
    if kind != "O":
        raise PipelineError(
            f"{what} holds {array.dtype}, and a model takes numbers, truth values and text",
            help="convert it first: df[column].astype(float), or astype(str)",
        ).locate_at_caller()
    values = array.reshape(-1).tolist()
    present = [each for each in values if each is not None and not is_nan(each)]
    if all(isinstance(each, str) for each in present):
        return _text(values, what).reshape(array.shape)
    if all(isinstance(each, bool | int | float | np.number | np.bool_) for each in present):
        return _numbers(values, len(present) < len(values)).reshape(array.shape)
    kinds = sorted({type(each).__name__ for each in present})
    dates = any(_is_date(each) or each == "Timestamp" for each in kinds)
    raise PipelineError(
        f"{what} holds {' and '.join(kinds)}" + ("" if len(kinds) == 1 else ", in one column"),
        help=_date_help("", "", " ".join(kinds) if len(kinds) == 1 else "")
        if dates
        else "a column is text or numbers: df[column].astype(str), or give a data frame",
    ).locate_at_caller()


def _numbers(values: Sequence[Any], has_missing: bool) -> Elements:
    """Numbers that came as objects."""
    if has_missing:
        return np.array([np.nan if each is None or is_nan(each) else float(each) for each in values])
    return np.array(values)


def _text(values: Sequence[UserValue], what: str) -> Elements:
    made = np.empty(len(values), object)
    for place, each in enumerate(values):
        if isinstance(each, str):
            made[place] = str(each)
        elif each is None or is_nan(each):
            made[place] = NAN_TEXT
        else:
            raise PipelineError(
                f"{what} holds text and {type(each).__name__}", help="a column is text or numbers"
            ).locate_at_caller()
    return made
