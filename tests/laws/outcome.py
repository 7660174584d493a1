"""What came of one case on one road, and whether two of them agree.

Integers, booleans and strings must be equal. Floats may be four units in the last place apart; past that, `agree` says
so, and the caller asks how far each is from a result in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

Kind: TypeAlias = Literal[
    "values", "error", "raw error", "died", "hang", "overwritten", "inexpressible", "large"
]

MOST_ULPS = 4
#: The name of every error of a runtime without us: only that there is one can be compared.
BARE = "a runtime's own error"


@dataclass(frozen=True)
class Outcome:
    """Values, or how there came to be none."""

    kind: Kind
    values: tuple[Any, ...] = ()
    #: The class of an error, with its code; the signal of a death.
    name: str = ""
    text: str = ""

    def __str__(self) -> str:
        if self.kind == "values":
            return "gives " + ", ".join(map(shown, self.values))
        if self.kind in ("error", "raw error"):
            return f"{self.kind} {self.name}: {self.text[:160]}"
        return f"{self.kind} {self.name}".strip()


def shown(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, np.ndarray):
        numbers = np.array2string(value.reshape(-1)[:6], precision=8, separator=" ", threshold=6)
        return f"{value.dtype}{list(value.shape)} {' '.join(numbers.split())}"
    if isinstance(value, list | tuple):
        return "[" + "; ".join(map(shown, value)) + "]"
    return repr(value)


def difference(one: Any, other: Any) -> str | None:
    """What is different between two values, in words; None when they agree."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return f"{len(one)} values, {len(other)} values"
        found = (difference(a, b) for a, b in zip(one, other, strict=True))
        return next((each for each in found if each is not None), None)
    if isinstance(one, dict) or isinstance(other, dict) or one is None or other is None:
        return None if _same_object(one, other) else f"{one!r}, {other!r}"
    first, second = np.asarray(one), np.asarray(other)
    if first.dtype.kind in "OUST" and second.dtype.kind in "OUST":
        same = first.shape == second.shape and list(map(str, first.flat)) == list(map(str, second.flat))
        return None if same else "other strings"
    if first.dtype != second.dtype:
        return f"dtype {first.dtype}, {second.dtype}"
    if first.shape != second.shape:
        return f"shape {first.shape}, {second.shape}"
    ulps = ulps_apart(first, second)
    if ulps == 0 or (ulps <= MOST_ULPS and _is_float(first.dtype)):
        return None
    return "other values" if not _is_float(first.dtype) else f"{ulps:.3g} ulp apart"


def _same_object(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(difference(one[key], other[key]) is None for key in one)
    return one is None and other is None


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "fc" or (dtype.kind == "V" and "float" in dtype.name)


def ulps_apart(one: np.ndarray, other: np.ndarray) -> float:
    """The greatest distance of two arrays of one type and shape, in units of the last place of the greater."""
    if one.size == 0 or one.tobytes() == other.tobytes():
        return 0.0
    if not _is_float(one.dtype):
        return 0.0 if np.array_equal(one, other) else np.inf
    if one.dtype.kind == "c":
        part = np.dtype(np.float32 if one.dtype == np.complex64 else np.float64)
        return ulps_apart(one.view(part), other.view(part))
    if one.dtype.kind == "V":  # a float that numpy has not; few bits, so that all of them must be the same
        a, b = one.astype(np.float32), other.astype(np.float32)
        return 0.0 if np.array_equal(a, b, equal_nan=True) else _ulps(a, b, _spacing_of(one.dtype))
    return _ulps(one, other, None)


def _spacing_of(dtype: np.dtype[Any]) -> float:
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps)


def _ulps(one: np.ndarray, other: np.ndarray, eps: float | None) -> float:
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    if same.all():
        return 0.0
    a, b = one[~same], other[~same]
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    greatest = np.maximum(np.abs(a), np.abs(b))
    with np.errstate(all="ignore"):
        spacing = np.spacing(greatest) if eps is None else greatest * eps
        return float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)) / spacing.astype(np.float64)))


def distance(one: tuple[Any, ...], exact: tuple[Any, ...]) -> float:
    """How far float results are from exact ones, at most; infinite where they cannot be compared."""
    most = 0.0
    for a, b in zip(one, exact, strict=True):
        if isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
            most = max(most, distance(tuple(a), tuple(b)))
            continue
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.shape != b.shape:
            return np.inf
        if not _is_float(a.dtype):
            continue
        kind = np.complex128 if a.dtype.kind == "c" else np.float64
        x, y = a.astype(kind), b.astype(kind)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        if not same.all():
            gap = np.abs(x[~same] - y[~same])
            most = max(most, float(np.max(gap)) if np.isfinite(gap).all() else np.inf)
    return most
