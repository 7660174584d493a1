"""Calls of numpy's functions at the edge of what they take: no elements, NaN, other lengths, numbers out of range.

A *form* says what stands in the place of each argument, by letters; for each there are values to draw from. A model is
made once of a form, with every size open, and numpy and the model are asked the same.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import onnxsmith.numpy as xp
from onnxsmith import BOOL, DOUBLE, INT64, UINT8
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS

NAN, INF = np.nan, np.inf


def _vectors(*rows: Sequence[float], dtype: Any) -> list[Any]:
    return [np.array(each, dtype) for each in rows]


#: What stands in the place of an argument: vectors and matrices, by element type, and Python's numbers.
POOLS: dict[str, list[Any]] = {
    "v": _vectors(
        *([], [2.0], [3, 1, 2], [0, 0, 0], [NAN], [1, NAN, 2], [INF, 1], [1, 2, 3, 4, 5], [-1.5, 0, 2]),
        dtype=float,
    ),
    "k": _vectors(
        [], [0], [2, 0, 1], [-1, 2], [5, 1, 300], [1, 1, 1], [0, -3, 2], [2, 3, 4, 5], dtype=np.int64
    ),
    "u": _vectors([], [0], [1, 0, 1], [200, 100, 3], [255, 7], dtype=np.uint8),
    "b": _vectors([], [1], [1, 0], [1, 0, 1], [0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0, 0], dtype=bool),
    "m": [
        np.eye(2),
        np.ones((2, 2)),
        np.zeros((0, 0)),
        np.zeros((3, 0)),
        np.zeros((0, 2)),
        np.arange(6.0).reshape(2, 3),
        np.array([[4.0, 2, 0], [2, 3, 1], [0, 1, 2]]),
        np.array([[1.0, NAN], [2, 1]]),
        np.array([[0.0]]),
        np.array([[1.0, 2], [2, 1]]),
        np.array([[INF, 1], [1, 2]]),
    ],
    "f": [0.0, 0.5, 1.0, -1.0, 2.5, NAN, INF, -INF, 1e30, 100.0, 1000.0],
    "i": [0, 1, 2, 3, -1, -4, 7, 300],
}
TYPES: dict[str, Callable[[int], Any]] = {
    "v": lambda place: DOUBLE[f"N{place}"],
    "k": lambda place: INT64[f"N{place}"],
    "u": lambda place: UINT8[f"N{place}"],
    "b": lambda place: BOOL[f"N{place}"],
    "m": lambda place: DOUBLE[f"N{place}", f"M{place}"],
    "f": lambda place: float,
    "i": lambda place: int,
}
FORMS = (
    *("v", "k", "m", "b", "u", "f", "i"),
    *("vv", "vk", "kv", "mv", "vm", "mm", "vb", "bv", "kk", "kb", "vf", "vi", "ki", "ui", "mk", "mi", "km"),
    *("ff", "ii", "if", "fv", "bm", "uu", "mb"),
    *("vvv", "bvv", "vkv", "vkf", "vbf", "bkk", "ffi", "vii", "vff", "kiu", "mkv", "vbv", "iif"),
)
#: Functions that write to their first argument.
IN_PLACE = frozenset(["copyto", "put", "putmask", "place", "fill_diagonal", "put_along_axis"])


def names() -> list[str]:
    """The functions in the table that numpy has under the same names."""
    found: list[str] = []
    for name in (*FUNCTIONS, *UFUNCS):
        here: Any = np
        for part in name.split("."):
            here = getattr(here, part, None)
        if here is not None and not name.startswith("_") and name.partition(".")[0] != "random":
            found.append(name)
    return sorted(found)


@dataclass(frozen=True)
class Form:
    """A function, and what it is called with."""

    name: str
    letters: str

    @property
    def label(self) -> str:
        """A name for a function of its own."""
        return f"{self.name.replace('.', '_')}__{self.letters}"

    @property
    def source(self) -> str:
        """The call as somebody writes it."""
        arguments = ", ".join(f"a{place}" for place in range(len(self.letters)))
        call = f"np.{self.name}({arguments})"
        body = f"a0 = a0.copy()\n    {call}\n    return a0" if self.name in IN_PLACE else f"return {call}"
        return f"def {self.label}({arguments}):\n    {body}\n"

    def draws(self, count: int) -> Iterator[tuple[Any, ...]]:
        """Arguments: all that there are, or as many of them."""
        pools = [POOLS[each] for each in self.letters]
        every = list(itertools.product(*pools))
        random.Random(self.label).shuffle(every)
        return iter(every[:count])


def by_numpy(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What numpy gives, or the error that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*given)
        except Exception as error:  # numpy has a class for each reason, and any means that it refuses
            return error


def model_of(form: Form, function: Callable[..., Any]) -> Any:
    """The model of a form; the error where that is refused."""
    types = [TYPES[each](place) for place, each in enumerate(form.letters)]
    try:
        return xp.to_model(function, *types, verify=False)
    except Exception as error:
        return error


def by_model(model: Any, given: tuple[Any, ...]) -> Any:
    """What a model gives, or the error that it raises."""
    try:
        return model(*given)
    except OnnxsmithError as error:
        return error


def flat(value: Any) -> list[Any]:
    """The arrays of a result."""
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in flat(each)]
    return [np.asarray(value)]


def is_equal(ours: Any, theirs: Any) -> bool:
    """Whether results have the same shapes and values."""
    mine, other = flat(ours), flat(theirs)
    return len(mine) == len(other) and all(map(_is_equal, mine, other))


def _is_equal(mine: Any, theirs: Any) -> bool:
    if theirs.dtype.kind == "c" and mine.dtype.kind != "c":
        mine = mine[..., 0] + 1j * mine[..., 1]
    if mine.shape != theirs.shape:
        return False
    if mine.dtype.kind in "biu" and theirs.dtype.kind in "biu":
        return bool((mine == theirs).all())
    return bool(np.isclose(mine, theirs, rtol=1e-7, atol=1e-9, equal_nan=True).all())
