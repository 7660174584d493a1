"""A few numbers for each array, so that equal ones are found among thousands without keeping any."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from onnxsmith.graphs.agreement import CONVERTED, FLOAT16, as_wide
from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.types.dtypes import DType

_PERIOD = 4093


@dataclass(frozen=True, slots=True)
class Signature:
    """The facts that are kept of a value."""

    dtype: str
    #: The same as numpy calls it.
    numpy: str
    shape: tuple[int, ...]
    size: int
    #: Euclidean length of what is finite, and two projections of it.
    length: float
    first: float
    second: float
    #: How many elements are not finite.
    strange: int
    #: Whether all elements are the same: such a value tells nothing of where it comes from.
    is_plain: bool
    #: How far apart equal ones may be.
    drift: float
    #: Whether the elements are floating-point numbers.
    is_real: bool = False

    def is_near(self, other: Signature) -> bool:
        """True if both are likely to be of equal values, whatever their shape."""
        if self.size != other.size or self.strange != other.strange:
            return False
        if self.dtype != other.dtype and not (self.is_real and other.is_real):
            return False
        length = max(self.length, other.length)
        if not np.isfinite(length):  # too large for a length: that says nothing
            return False
        allowed = max(max(self.drift, other.drift) * length, 1e-30)
        return abs(self.first - other.first) <= allowed and abs(self.second - other.second) <= allowed

    def fits(self, other: Signature, *, any_shape: bool = False) -> bool:
        """True if one could stand in the place of the other: a runtime may compute in wider numbers."""
        is_alike = self.dtype == other.dtype or (self.is_real and other.is_real)
        return is_alike and (self.size == other.size if any_shape else self.shape == other.shape)


def signature(value: RunValue) -> Signature | None:
    """The signature of an array; None for what is none."""
    if not isinstance(value, np.ndarray):
        return None
    array = cast(Array, value)
    name = _name(array)
    if array.dtype.kind in "OUST":
        number = float(hash(tuple(map(str, array.reshape(-1).tolist()))) % (1 << 40))
        return Signature(
            name, str(array.dtype), array.shape, array.size, number, number, 0.0, 0, array.size < 2, 0.0
        )
    wide = as_wide(array).reshape(-1)
    finite = np.isfinite(wide)
    count = int(wide.size - np.count_nonzero(finite))
    if count:
        wide = np.where(finite, wide, 0)
    one, two = _directions(wide.size)
    is_plain = wide.size < 2 or bool((wide == wide[0]).all())
    size = array.dtype.itemsize
    is_real = array.dtype.kind not in "iub"
    # After errors have grown, results are as far apart as those of two libraries, and quantised ones as float16's.
    is_quantised = size == 1 and array.dtype.kind in "iu"
    drift = CONVERTED.parts(array)[0] if is_real else FLOAT16.parts(array)[0] if is_quantised else 0.0
    with np.errstate(all="ignore"):
        length = float(np.linalg.norm(wide))
        first, second = (
            float(abs(wide @ each) if wide.dtype.kind == "c" else wide @ each) for each in (one, two)
        )
    return Signature(
        name,
        str(array.dtype),
        array.shape,
        array.size,
        length,
        first,
        second,
        count,
        is_plain,
        drift,
        is_real,
    )


def _name(array: Array) -> str:
    dtype = DType.from_numpy(array.dtype)
    return str(array.dtype) if dtype is None else dtype.name


@functools.lru_cache(maxsize=64)
def _base() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    generator = np.random.default_rng(7)
    return generator.standard_normal(_PERIOD), generator.standard_normal(_PERIOD)


def _directions(size: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    one, two = _base()
    return (one[:size], two[:size]) if size <= _PERIOD else (np.resize(one, size), np.resize(two, size))
