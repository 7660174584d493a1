"""Agreement of results: the one comparison of what was wanted with what was got, for everything here that compares.

Knows values of any kind a runtime gives, and nothing of models. Callers say which value belongs to which, and which of
the named tolerances fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.types.dtypes import DType

#: One unit in the last place of 1, by element type; types with fewer digits have a quarter.
_UNITS = {
    DType.DOUBLE: 2.0**-52,
    DType.COMPLEX128: 2.0**-52,
    DType.FLOAT: 2.0**-23,
    DType.COMPLEX64: 2.0**-23,
    DType.FLOAT16: 2.0**-10,
    DType.BFLOAT16: 2.0**-7,
}
_FEWEST_DIGITS = 0.25
#: Of numbers with few digits, a unit is much.
_FEW_DIGITS = 1e-4
#: So many times the noise of a computation may its result be off.
_NOISE = 32
#: Of results that were quantised, so many may be one step off.
_STEPPED_SHARE = 0.05
#: Elements that mask others are at least so large, no further apart than by the factor, and so many times the rest.
_LEAST_MASK = 1e4
_MASK_SPREAD = 4
_MASK_DISTANCE = 250
#: So many keys of a map are shown.
_MOST_KEYS = 5


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far numbers may be apart, as parts of an element's own size and of the largest number of its array.

    The larger of both counts, and `absolute` comes on top. Of whole numbers `absolute` alone counts; text, NaN and
    infinities are equal or not. Without parts of its own a tolerance has those of the element type: so many units in
    the last place, or, if `is_converted`, the parts that results of two libraries may be apart.
    """

    own: float | None = None
    largest: float | None = None
    absolute: float = 0.0
    is_converted: bool = False
    #: The least precise type that numbers went through on their way: the unit of its last place.
    unit: float = 0.0

    @classmethod
    def part(cls, size: float) -> Tolerance:
        """The tolerance of a user who names one number: that part of each element, and of the largest."""
        return cls(size, size)

    @property
    def is_given(self) -> bool:
        """True if a user named numbers."""
        return self.own is not None or self.largest is not None or self.absolute > 0

    def through(self, dtypes: Iterable[DType]) -> Tolerance:
        """The same for results that went through values of some element types: they have no more digits than those."""
        return replace(self, unit=max([self.unit, *(_UNITS.get(each, 0.0) for each in dtypes)]))

    def parts(self, array: Array) -> tuple[float, float]:
        """The part of its own size by which an element may be off, and that of the largest."""
        if self.is_given:
            return self.own or 0.0, self.largest or 0.0
        unit = max(self.unit, unit_of(array))
        if self.is_converted:
            own = next((part for least, part in _CONVERTED if unit <= least), _CONVERTED[-1][1])
            return own, own / 4
        own, of_largest = _EXACT_UNITS if unit <= _FEW_DIGITS else _EXACT_UNITS_FEW
        return own * unit, of_largest * unit

    def allowed(self, array: Array, noise: Array | None = None, scale: float = 0.0) -> np.ndarray[Any, Any]:
        """For each element how far another may be from it, where both are finite.

        `scale` is the largest number of the same result elsewhere: a part of it that is nearly 0 is no less exact.
        """
        if is_whole(array):
            return np.full(array.shape, self.absolute)
        with np.errstate(over="ignore"):  # of complex numbers
            sizes = np.abs(as_wide(array))
        sizes = np.where(np.isfinite(sizes), sizes, 0.0)
        own, of_largest = self.parts(array)
        largest = np.full(sizes.shape, max(scale, float(sizes.max(initial=0.0))))
        mask = masking(sizes)
        if mask is not None:
            largest[~mask] = float(sizes.max(initial=0.0, where=~mask))
        # Parts first: the largest numbers times 64 are infinite.
        allowed = np.maximum(np.maximum(own * sizes, of_largest * largest), _smallest(array)) + self.absolute
        return allowed if noise is None else allowed + _NOISE * noise


#: The parts that results of two libraries may be apart, by the unit of the least precise element type.
_CONVERTED = ((2.0**-52, 1e-6), (2.0**-23, 1e-4), (2.0**-10, 1e-2), (2.0**-7, 5e-2))
#: So many units in the last place is an element off by the order of sums: of its own, and of the largest element.
_EXACT_UNITS = (64, 64)
_EXACT_UNITS_FEW = (4, 1)

#: The same computation: results are apart by rounding, some units in the last place.
EXACT = Tolerance()
#: Another library, or other operators, for the same computation; by the element type of the result.
CONVERTED = Tolerance(is_converted=True)
#: The same for results that are computed in float32, or float16, whatever their element type is.
FLOAT32 = CONVERTED.through([DType.FLOAT])
FLOAT16 = CONVERTED.through([DType.FLOAT16])


@dataclass(frozen=True, slots=True)
class Difference:
    """How two values differ.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, compare, opset21 as op, trace
    >>> first = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    >>> second = trace(lambda a: op.Exp(op.Abs(a)), FLOAT["N"])
    >>> found = compare(first, second, {"a": np.float32([-1, 1])})
    >>> found.difference.count, found.difference.size
    (1, 2)
    """

    #: How many elements are further apart than they may be, of how many.
    count: int
    size: int
    #: The largest differences of finite elements, absolute, relative, and in units in the last place; NaN if none do.
    absolute: float
    relative: float
    units: float
    #: Where the largest is, with both elements.
    index: tuple[int, ...]
    left: object
    right: object
    #: How many elements of each are NaN, and infinite.
    nan: tuple[int, int] = (0, 0)
    infinite: tuple[int, int] = (0, 0)
    #: What they are, where element type or shape differ: nothing else is known then.
    kinds: tuple[str, str] | None = None

    def __str__(self) -> str:
        where = "" if not self.index else f" at {list(self.index)}"
        if self.kinds is not None:
            return f"{self.kinds[0]}, and {self.kinds[1]}{where}"
        parts = [f"{self.count} of {self.size} elements differ: {self.left} and {self.right}{where}"]
        if not np.isnan(self.absolute):
            parts.append(
                f"by {self.absolute:.3g} (relative {self.relative:.3g}, {self.units:.3g} ulp) at the most"
            )
        for name, counts in (("NaN", self.nan), ("infinities", self.infinite)):
            if counts[0] != counts[1]:
                parts.append(f"{counts[0]} and {counts[1]} {name}")
        return ", ".join(parts)


def compare(
    wanted: RunValue,
    got: RunValue,
    tolerance: Tolerance,
    *,
    noise: Array | None = None,
    scale: float = 0.0,
    is_stepped: bool = False,
) -> Difference | None:
    """How a value differs from the wanted one beyond a tolerance; None where it does not.

    Sequences and maps are compared element by element, and an empty optional equals itself. `noise` is how far each
    element moves if inputs are a unit off. `is_stepped` says that both were rounded to steps: a few may be one off.
    """
    if isinstance(wanted, list | tuple) and isinstance(got, list | tuple) and len(wanted) == len(got):
        return _of_elements(dict(enumerate(wanted)), dict(enumerate(got)), tolerance)
    if isinstance(wanted, dict) and isinstance(got, dict) and wanted.keys() == got.keys():
        return _of_elements(
            dict(enumerate(wanted.values())), dict(enumerate(got[key] for key in wanted)), tolerance
        )
    left, right = as_array(wanted), as_array(got)
    if left is None or right is None:
        return None if wanted is None and got is None else kinds_differ(described(wanted), described(got))
    if (left.dtype != right.dtype and not (is_text(left) and is_text(right))) or left.shape != right.shape:
        return kinds_differ(described(left), described(right), left.size)
    wrong = disagreeing(left, right, tolerance, noise=noise, scale=scale)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    if is_text(left):
        index = _first(wrong)
        return Difference(
            count, left.size, np.nan, np.nan, np.nan, index, str(left[index]), str(right[index])
        )
    apart = distances(left, right)
    is_few = count <= max(2, _STEPPED_SHARE * left.size)
    if is_stepped and left.dtype.kind in "iu" and is_few and apart.max() <= 1:
        return None
    return _measured(left, right, wrong, apart)


def disagreeing(
    wanted: Array, got: Array, tolerance: Tolerance, *, noise: Array | None = None, scale: float = 0.0
) -> np.ndarray[Any, Any]:
    """True for each element that is further from the wanted one than it may be; both have one shape."""
    if is_text(wanted) or is_text(got):
        pairs = zip(wanted.flat, got.flat, strict=True)
        return np.array([str(one) != str(two) for one, two in pairs], bool).reshape(wanted.shape)
    if not wanted.size or (wanted.dtype.kind in "fiub" and bool((wanted == got).all())):  # as most values are
        return np.zeros(wanted.shape, bool)
    apart = distances(wanted, got)
    is_finite = np.isfinite(as_wide(wanted)) & np.isfinite(as_wide(got))
    return np.where(is_finite, apart > tolerance.allowed(wanted, noise, scale), apart > 0)


@dataclass(frozen=True, slots=True)
class Gap:
    """How far two arrays of one shape are apart at the most; infinite where an infinity or NaN is in one alone."""

    absolute: float
    #: As a part of the largest number that is wanted; of what is no floating-point number 0 or 1.
    relative: float


def gap(wanted: Array, got: Array) -> Gap:
    """How far an array is from the wanted one, within any tolerance and beyond."""
    if is_text(wanted) or is_text(got) or is_whole(wanted):
        wrong = int(np.count_nonzero(disagreeing(wanted, got, EXACT)))
        return Gap(float(wrong), float(wrong > 0))
    largest = largest_of(wanted)
    absolute = float(distances(wanted, got).max(initial=0.0))
    return Gap(absolute, absolute / largest if largest else absolute)


def largest_of(array: Array) -> float:
    """The size of the largest finite number of an array; 0 where there is none."""
    with np.errstate(over="ignore"):
        sizes = np.abs(as_wide(array))
    return float(sizes.max(initial=0.0, where=np.isfinite(sizes)))


def masking(sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The elements that only mask others, by the sizes of all: huge, alike, and far from the rest; None if none do."""
    largest = float(sizes.max(initial=0.0))
    if not _LEAST_MASK <= largest < np.inf:
        return None
    found = sizes >= largest / _MASK_SPREAD
    rest = float(sizes.max(initial=0.0, where=~found))
    return found if 0 < rest <= largest / (_MASK_SPREAD * _MASK_DISTANCE) else None


def is_text(array: Array) -> bool:
    """True if the elements are no numbers."""
    return array.dtype.kind in "OUST"


def is_whole(array: Array) -> bool:
    """True if the elements are whole numbers, or truth values."""
    if array.dtype.kind in "iub":
        return True
    dtype = None if is_text(array) else DType.from_numpy(array.dtype)
    return dtype is not None and dtype.is_integer


def unit_of(array: Array) -> float:
    """One unit in the last place of 1; 0 for whole numbers and text."""
    if is_text(array) or is_whole(array):
        return 0.0
    dtype = DType.from_numpy(array.dtype)
    return _FEWEST_DIGITS if dtype is None else _UNITS.get(dtype, _FEWEST_DIGITS)


def as_wide(array: Array) -> np.ndarray[Any, Any]:
    """The elements as numbers that differences can be taken of."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def distances(left: Array, right: Array) -> np.ndarray[Any, Any]:
    """How far apart the elements of two arrays of numbers are, of one type and shape.

    0 for equal ones alone, NaN and NaN among them; infinite where one is not finite and the other is something else.
    """
    if left.dtype.kind in "iu" and right.dtype.kind in "iu":
        # float64 does not hold all of int64. Unsigned differences wrap around to the right distance.
        one, two = np.maximum(left, right).astype(np.uint64), np.minimum(left, right).astype(np.uint64)
        return (one - two).astype(np.float64)
    one, two = as_wide(left), as_wide(right)
    is_same = (one == two) | (np.isnan(one) & np.isnan(two))
    is_finite = np.isfinite(one) & np.isfinite(two)
    with np.errstate(all="ignore"):
        return np.where(is_same, 0.0, np.where(is_finite, np.abs(one - two), np.inf))


def kinds_differ(left: str, right: str, size: int = 1) -> Difference:
    """The difference of what cannot be compared, in words."""
    return Difference(size, size, np.nan, np.nan, np.nan, (), None, None, kinds=(left, right))


def as_array(value: RunValue) -> Array | None:
    """A tensor as an array, also where it is a number or a text in a map; None for all other values."""
    if isinstance(value, np.ndarray):
        return value
    if value is None or isinstance(value, list | tuple | dict):
        return None
    if isinstance(value, str):
        return np.array(value, object)
    # Numbers in maps are float32 and int64, which Python has not.
    return np.asarray(value, np.float32 if isinstance(value, float) else None)


def described(value: RunValue) -> str:
    """The kind of a value, in words."""
    if isinstance(value, list | tuple):
        return f"a sequence of {len(value)}"
    if isinstance(value, dict):
        shown = ", ".join(map(repr, list(value)[:_MOST_KEYS])) + (", …" if len(value) > _MOST_KEYS else "")
        return f"a map with the keys {shown}"
    array = as_array(value)
    return "nothing" if array is None else f"{array.dtype} of shape {array.shape}"


def _of_elements(
    wanted: Mapping[int, RunValue], got: Mapping[int, RunValue], tolerance: Tolerance
) -> Difference | None:
    """How the first elements differ that do, with their place."""
    for place, element in wanted.items():
        found = compare(element, got[place], tolerance)
        if found is not None:
            return replace(found, index=(place, *found.index))
    return None


def _smallest(array: Array) -> float:
    """The smallest number of an element type that has all its digits: engines may round smaller ones to 0."""
    is_double = unit_of(array) == _UNITS[DType.DOUBLE]
    return float(np.finfo(np.float64 if is_double else np.float32).tiny)


def _first(wrong: np.ndarray[Any, Any]) -> tuple[int, ...]:
    return tuple(int(each) for each in np.unravel_index(int(np.argmax(wrong)), wrong.shape))


def _measured(
    left: Array, right: Array, wrong: np.ndarray[Any, Any], apart: np.ndarray[Any, Any]
) -> Difference:
    one, two = as_wide(left), as_wide(right)
    is_finite = np.isfinite(one) & np.isfinite(two)
    index = _first(np.where(wrong, apart, -1.0))
    absolute, relative = _largest(one, two, np.where(wrong & is_finite, apart, np.nan))
    unit = unit_of(left)
    mine, theirs = (each[index] for each in (left, right))
    return Difference(
        int(np.count_nonzero(wrong)),
        left.size,
        absolute,
        relative,
        relative / unit if unit else absolute,
        index,
        mine.item() if hasattr(mine, "item") else mine,
        theirs.item() if hasattr(theirs, "item") else theirs,
        (int(np.isnan(one).sum()), int(np.isnan(two).sum())),
        (int(np.isinf(one).sum()), int(np.isinf(two).sum())),
    )


def _largest(
    one: np.ndarray[Any, Any], two: np.ndarray[Any, Any], apart: np.ndarray[Any, Any]
) -> tuple[float, float]:
    """The largest distance, and the largest as a part of the elements; NaN where there are none."""
    if np.isnan(apart).all():
        return float("nan"), float("nan")
    with np.errstate(all="ignore"):
        ratios = apart / np.maximum(np.abs(one), np.abs(two))
    known = ratios[~np.isnan(ratios)]
    return float(np.nanmax(apart)), float(known.max()) if known.size else float("nan")
