"""Whether a model of a numpy function gives what the function gives: values, shapes, element types and structure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

#: How far results may be apart, as a part of the largest element, by the element type that a function was given.
TOLERANCE = {"float32": 2e-5, "float64": 1e-11}


def difference(expected: Any, found: Any, tolerance: float, where: str = "result") -> str | None:
    """What is different, in words; None where nothing is.

    Numbers are compared by value: a variable that a loop would have made a float is one in the model even where the
    loop does not run. Arrays have to agree in shape and element type.
    """
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping) or list(expected) != list(found):
            return f"{where}: {expected!r} became {found!r}"
        return _first(difference(expected[k], found[k], tolerance, f"{where}[{k!r}]") for k in expected)
    if isinstance(expected, tuple | list):
        if type(expected) is not type(found) or len(expected) != len(found):
            return f"{where}: {expected!r} became {found!r}"
        pairs = enumerate(zip(expected, found, strict=True))
        return _first(difference(one, other, tolerance, f"{where}[{k}]") for k, (one, other) in pairs)
    if expected is None or isinstance(expected, str):
        return None if expected == found else f"{where}: {expected!r} became {found!r}"
    is_array = isinstance(expected, np.ndarray)
    if is_array != isinstance(found, np.ndarray) or (is_array and expected.dtype != found.dtype):
        return f"{where}: {_described(expected)} became {_described(found)}"
    return _unequal(np.asarray(expected), np.asarray(found), tolerance, where)


def _unequal(expected: Any, found: Any, tolerance: float, where: str) -> str | None:
    if expected.shape != found.shape:
        return f"{where}: shape {expected.shape} became {found.shape}"
    if (expected.dtype.kind == "b") != (found.dtype.kind == "b"):
        return f"{where}: {_described(expected)} became {_described(found)}"
    if expected.dtype.kind in "biu" and found.dtype.kind in "biu":
        return None if np.array_equal(expected, found) else f"{where}: {expected} became {found}"
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(finite.max()) if finite.size else 0.0
    same = np.isclose(found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    return None if same.all() else f"{where}: {expected} became {found}"


def _described(value: Any) -> str:
    kind = f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray | np.generic) else ""
    return f"{type(value).__name__} {kind} {value}"


def _first(found: Any) -> str | None:
    return next((each for each in found if each is not None), None)
