"""Where the elements of a column stand among categories: numbers by search, text by the runtime's dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.numpy import Array, asarray, clip, full_like, isnan, searchsorted, take
from onnxsmith.sklearn.arrays import is_equal, where
from onnxsmith.sklearn.missing import is_nan, text_of
from onnxsmith.sklearn.string_operators import is_text, numbers_of_text
from onnxsmith.sklearn.table import NotCovered
from onnxsmith.sklearn.values import Columns, Given, Part, Structured, array_of

Known = np.ndarray[Any, np.dtype[Any]]


def columns_of(x: Given) -> list[Part]:
    """The columns of a frame or of a matrix, one dimension each."""
    if isinstance(x, Columns):
        return list(x.values())
    if isinstance(x, Structured):
        x = x.dense()
    count = x.shape[1]
    if not isinstance(count, int):
        raise NotCovered("the number of columns is not known")
    return [x[:, position] for position in range(count)]


def places(column: Part, categories: Known | Sequence[UserValue], name: str) -> Array:
    """The place of each element among categories; -1 for an element that is none of them."""
    if isinstance(column, Array):
        return _places_of_numbers(column, categories, name)
    return places_of_text(column, _texts(categories, name))


def places_of_text(column: Tensor, keys: Sequence[str]) -> Array:
    """The place of each text among others; -1 for one that is none of them."""
    if not keys:
        return full_like(array_of(is_text(column, "")), -1, dtype="int64")
    return array_of(numbers_of_text(column, {key: place for place, key in enumerate(keys)}, -1))


def _texts(categories: Known | Sequence[UserValue], name: str) -> list[str]:
    found = [text_of(each) for each in _listed(categories)]
    if None in found:
        odd = _listed(categories)[found.index(None)]
        raise NotCovered(f"column {name} is text, and its category {odd!r} is not")
    if len(set(found)) < len(found):
        raise NotCovered(f"column {name} has None and NaN as two categories, which are one thing to a model")
    return cast("list[str]", found)


def _listed(categories: Known | Sequence[UserValue]) -> list[UserValue]:
    # Elements of numpy's own string types are no `str` of Python's until they are asked for.
    return list(categories.tolist() if isinstance(categories, np.ndarray) else categories)


def _places_of_numbers(column: Array, categories: Known | Sequence[UserValue], name: str) -> Array:
    listed = _listed(categories)
    numbers = [each for each in listed if not is_nan(each)]
    if not all(isinstance(each, bool | int | float) for each in numbers):
        raise NotCovered(f"column {name} has numbers, and its categories are {numbers[:3]!r}")
    is_plain = isinstance(categories, np.ndarray) and categories.dtype.kind in "biuf"
    kind = categories.dtype if is_plain and isinstance(categories, np.ndarray) else None
    known = np.array(numbers, dtype=kind) if numbers else np.zeros(0, np.float64)
    if known.dtype == bool:
        known = known.astype(np.int64)
    elements = column.astype("int64") if column.dtype == bool else column
    index = full_like(elements, -1, dtype="int64")
    if known.size:
        order = np.argsort(known, kind="stable")
        position = clip(searchsorted(asarray(known[order]), elements), 0, known.size - 1)
        is_found = is_equal(take(asarray(known[order]), position), elements)
        index = where(is_found, take(asarray(order.astype(np.int64)), position), index)
    missing = [place for place, each in enumerate(listed) if is_nan(each)]
    if missing and elements.dtype.kind == "f":
        index = where(isnan(elements), missing[0], index)
    return index
