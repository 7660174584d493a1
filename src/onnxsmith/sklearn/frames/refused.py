"""Values that a pipeline refuses in its columns: NaN, infinity, negative numbers, missing text.

`convert` tries each on the pipeline. A model computes with them, or with a text in their place; so `predict` and the
like refuse what the pipeline would.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.graphs.batches import row_count, rows_at
from onnxsmith.sklearn.frames.reading import is_frame
from onnxsmith.sklearn.missing import NAN_TEXT
from onnxsmith.sklearn.rows import Elements, Rows
from onnxsmith.sklearn.values import Fitted

#: Numbers that trees, which compute in float32, do not take; what squares its numbers takes the first.
_LARGE, _HUGE = 1e39, 1e300
#: As many columns are tried one at a time; what holds of all of them holds of the others.
_MOST_COLUMNS = 32
#: By kind, the values that are tried. A kind is refused where the pipeline raises for every one.
_NUMBERS: dict[str, tuple[Any, ...]] = {
    "NaN": (np.nan,),
    "infinity": (np.inf,),
    "a number beyond float32": (_LARGE, _HUGE),
    "a number whose square is beyond float64": (_HUGE,),
}
#: The same of whole numbers and fractions. The least one tells it from the end of a range.
_SIGNS: dict[str, tuple[Any, ...]] = {
    "a negative number": (-1, -1000),
    "a zero": (0,),
}
_LEAST_NEGATIVE = -1e-9
#: What takes none of these refuses for another reason: it knows other categories, or another range.
_POSITIVE = (1, 1000)
#: What makes whole numbers of its columns takes fractions above -1, and no number beyond its categories. A model would
#: count categories from the end.
_BELOW_ZERO: dict[str, tuple[Any, ...]] = {"a number of -1 or less": (-1, -1000)}
#: So scikit-learn's check of signs begins its message.
_SIGN_MESSAGE = "Negative values in data"
_TEXTS: dict[str, tuple[Any, ...]] = {"a missing text": (None, np.nan)}


def found_in(elements: Elements, kind: str) -> Elements:
    """Where elements are of a kind that may be refused; of a kind that is not known, none are."""
    if elements.dtype == object:
        return np.asarray(elements == NAN_TEXT if kind in _TEXTS else np.zeros(elements.shape, bool))
    if kind in _SIGNS and elements.dtype.kind in "iuf":
        return np.asarray(elements == 0 if kind == "a zero" else elements < 0)
    if kind in _BELOW_ZERO and elements.dtype.kind in "if":
        return np.asarray(elements <= -1)
    if elements.dtype.kind != "f" or kind not in _NUMBERS:
        return np.zeros(elements.shape, bool)
    if kind == "NaN":
        return np.isnan(elements)
    infinite = np.isinf(elements)
    if kind == "infinity":
        return infinite
    largest = float(np.finfo(np.float32).max) if "float32" in kind else float(np.finfo(np.float64).max) ** 0.5
    # In doubles: as float32, the largest number would overflow.
    return (np.abs(elements.astype(np.float64)) > largest) & ~infinite


def refused_kinds(
    estimator: Fitted, methods: Sequence[str], data: Rows, kinds: Sequence[tuple[str | None, str]]
) -> tuple[tuple[str, tuple[int, ...] | None], ...]:
    """The kinds of values that every method refuses, with the columns; None stands for all of them.

    `kinds` has the name and the element type of each column. Nothing is known where the pipeline refuses a plain row.
    """
    if not row_count(data):
        return ()
    with_values = _replacer(rows_at(data, [0]), [name for name, _ in kinds])

    def is_refused(places: Sequence[int], value: object, message: str = "") -> bool:
        failures = [_failure(estimator, method, lambda: with_values(places, value)) for method in methods]
        return all(each is not None and message in each for each in failures)

    if is_refused((), None):
        return ()
    found: list[tuple[str, tuple[int, ...] | None]] = []
    fractions = {
        kind: (_LEAST_NEGATIVE, *values) if min(values) < 0 else values for kind, values in _SIGNS.items()
    }
    for prefixes, tried in (
        (("str",), _TEXTS),
        (("float",), _NUMBERS),
        (("float",), fractions),
        (("int", "uint"), _SIGNS),
        (("float", "int"), _BELOW_ZERO),
    ):
        places = [place for place, (_, kind) in enumerate(kinds) if kind.startswith(prefixes)]
        some = (
            [places[k * len(places) // _MOST_COLUMNS] for k in range(_MOST_COLUMNS)]
            if len(places) > _MOST_COLUMNS
            else places
        )
        for kind, values in tried.items():
            if kind in _BELOW_ZERO and any(each in _SIGNS for each, _ in found):
                continue  # all below zero is refused
            message = _SIGN_MESSAGE if kind in _BELOW_ZERO else ""
            if not places or not all(is_refused(places, value, message) for value in values):
                continue
            if kind in _SIGNS and any(is_refused(places, value) for value in _POSITIVE):
                continue
            refused = [each for each in some if all(is_refused([each], value, message) for value in values)]
            if len(refused) == len(some):
                found.append((kind, None if len(places) == len(kinds) else tuple(places)))
            elif refused:
                found.append((kind, tuple(refused)))
    return tuple(found)


def _failure(estimator: Fitted, method: str, rows: Callable[[], object]) -> str | None:
    """The words of an estimator about rows that it does not take; None if it takes them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(estimator, method)(rows())
    except Exception as error:  # estimators raise what they like
        return str(error)
    return None


def _replacer(row: Rows, names: Sequence[str | None]) -> Callable[[Sequence[int], object], object]:
    """A function that gives one row of data with a value in the columns at some places."""
    if is_frame(row):
        frame = cast(Any, row)
        every = list(frame) if isinstance(row, Mapping) else list(frame.columns)
        order = every if None in names else names

        def in_frame(places: Sequence[int], value: object) -> object:
            given = {order[each]: [value] for each in places}
            # Columns of their own types: what is missing in one of text is no float.
            return type(frame)({name: _like(frame[name], given.get(name)) for name in every})

        return in_frame
    array = np.asarray(row)

    def replaced(places: Sequence[int], value: object) -> object:
        made = array.astype(object) if array.dtype.kind in "OUT" else array.copy()
        with np.errstate(over="ignore"):  # float32 has no such number, and takes infinity for it
            if places and array.ndim == 2:
                made[:, list(places)] = value
            elif places:
                made.flat[0] = value
        return made

    return replaced


def _like(column: Any, values: list[object] | None) -> object:
    """Values as a column of the same library and element type; without values, the column's own."""
    values = list(column) if values is None else values
    return type(column)(values, dtype=column.dtype) if hasattr(column, "dtype") else values
