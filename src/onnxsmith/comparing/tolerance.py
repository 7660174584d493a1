"""How far apart two arrays are, and how far they may be.

An element may be apart by some units in its last place, and by a smaller part of the largest element: sums lose digits
that way. Elements that only mask others, such as -1e9 among scores, are no scale for the rest.

What a computation makes of inputs that are a unit off is its noise; a difference within some times the noise
is rounding, whatever the rule above says. Text is equal or not, and so are whole numbers unless a distance is given;
NaN equals NaN, and an infinity only itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.comparing.signatures import Signature, as_wide, signature
from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.types.dtypes import DType

#: Units in the last place of an element, and of the largest element.
_OWN_UNITS = 64
_LARGEST_UNITS = 16
#: Of numbers with few digits, a unit is much.
_FEW_DIGITS = 1e-4
_OWN_UNITS_FEW = 4
_LARGEST_UNITS_FEW = 1
#: So many times its noise may a result be off.
_NOISE = 32
#: Of results that were quantised, so many may be one step off.
_STEPPED_SHARE = 0.05
#: Elements that mask others are at least so large, no further apart than by the factor, and so many times the rest.
_LEAST_MASK = 1e4
_MASK_SPREAD = 4
_MASK_DISTANCE = 250


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far results may be apart: as the user says, or as the element type deserves where nobody says anything."""

    rtol: float | None = None
    atol: float | None = None

    @property
    def is_given(self) -> bool:
        """True if somebody said so."""
        return self.rtol is not None or self.atol is not None

    def allowed(self, array: Array, noise: Array | None = None) -> np.ndarray[Any, Any]:
        """For each element how far another may be from it, where both are finite."""
        with np.errstate(over="ignore"):  # of complex numbers
            wide = np.abs(as_wide(array))
        wide = np.where(np.isfinite(wide), wide, 0.0)
        if is_whole(array):
            allowed = np.full(array.shape, self.atol or 0.0)
        elif self.is_given:
            allowed = (self.atol or 0.0) + (self.rtol or 0.0) * wide
        else:
            unit = unit_of(array)
            few = unit > _FEW_DIGITS
            own, of_largest = (_OWN_UNITS_FEW, _LARGEST_UNITS_FEW) if few else (_OWN_UNITS, _LARGEST_UNITS)
            # The units first: the largest numbers times 64 are infinite.
            mask = masking(wide)
            scale = np.full(wide.shape, float(wide.max(initial=0.0)))
            if mask is not None:
                scale[~mask] = float(wide.max(initial=0.0, where=~mask))
            allowed = unit * own * wide + unit * of_largest * scale
        return allowed if noise is None else allowed + _NOISE * noise


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
    kind = None if dtype is None else ir.DataType(int(dtype))
    if kind in (ir.DataType.FLOAT, ir.DataType.COMPLEX64):
        return 2.0**-23
    if kind in (ir.DataType.DOUBLE, ir.DataType.COMPLEX128):
        return 2.0**-52
    return {ir.DataType.FLOAT16: 2.0**-10, ir.DataType.BFLOAT16: 2.0**-7}.get(
        kind or ir.DataType.UNDEFINED, 0.25
    )


def distances(left: Array, right: Array) -> np.ndarray[Any, Any]:
    """How far apart the elements of two arrays of numbers are, of one type and shape.

    0 for equal ones alone, NaN and NaN among them; infinite where one is not finite and the other is something else.
    """
    if left.dtype.kind in "iu":
        # float64 does not hold all of int64. Unsigned differences wrap around to the right distance.
        wide = np.uint64
        one, two = np.maximum(left, right).astype(wide), np.minimum(left, right).astype(wide)
        return (one - two).astype(np.float64)
    one, two = as_wide(left), as_wide(right)
    is_same = (one == two) | (np.isnan(one) & np.isnan(two))
    is_finite = np.isfinite(one) & np.isfinite(two)
    with np.errstate(all="ignore"):
        return np.where(is_same, 0.0, np.where(is_finite, np.abs(one - two), np.inf))


@dataclass(frozen=True, slots=True)
class Difference:
    """How two arrays differ.

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


def kinds_differ(left: str, right: str, size: int = 1) -> Difference:
    """The difference of what cannot be compared, in words."""
    return Difference(size, size, np.nan, np.nan, np.nan, (), None, None, kinds=(left, right))


def in_narrower(left: Array, right: Array) -> tuple[Array, Array]:
    """Two arrays of floating-point numbers of two widths in the narrower one; others as they are."""
    one, two = unit_of(left), unit_of(right)
    if left.dtype == right.dtype or not one or not two:
        return left, right
    with np.errstate(all="ignore"):  # what it cannot hold becomes infinite
        return (left, right.astype(left.dtype)) if one >= two else (left.astype(right.dtype), right)


def difference(
    left: Array, right: Array, tolerance: Tolerance, noise: Array | None = None, *, is_stepped: bool = False
) -> Difference | None:
    """How two arrays differ beyond a tolerance; None where they do not.

    `is_stepped` says that both were rounded to steps, so that a few may be one step off.
    """
    if left.dtype != right.dtype or left.shape != right.shape:
        kinds = f"{left.dtype} of shape {left.shape}", f"{right.dtype} of shape {right.shape}"
        return kinds_differ(*kinds, left.size)
    if left.size == 0:
        return None
    if is_text(left):
        return _of_text(left, right)
    if left.dtype.kind in "fiub" and bool((left == right).all()):
        return None  # which most values are
    one, two = as_wide(left), as_wide(right)
    apart = distances(left, right)
    is_finite = np.isfinite(one) & np.isfinite(two)
    wrong = np.where(is_finite, apart > tolerance.allowed(left, noise), apart > 0)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    if (
        is_stepped
        and left.dtype.kind in "iu"
        and count <= max(2, _STEPPED_SHARE * left.size)
        and apart.max() <= 1
    ):
        return None
    at = np.unravel_index(int(np.argmax(np.where(wrong, apart, -1.0))), left.shape)
    largest, relative = _largest(one, two, np.where(wrong & is_finite, apart, np.nan))
    unit = unit_of(left)
    return Difference(
        count,
        left.size,
        largest,
        relative,
        relative / unit if unit else largest,
        tuple(int(each) for each in at),
        left[at].item() if hasattr(left[at], "item") else left[at],
        right[at].item() if hasattr(right[at], "item") else right[at],
        (int(np.isnan(one).sum()), int(np.isnan(two).sum())),
        (int(np.isinf(one).sum()), int(np.isinf(two).sum())),
    )


def is_drift(left: RunValue, right: RunValue) -> bool:
    """True if outputs differ by no more than rounding that has grown over many nodes.

    Text, and numbers that no node rounds, do not drift; what is not finite is in the same places in both.
    """
    one, two = signature(left), signature(right)
    if one is None or two is None or not one.is_near(two):
        return False
    mine, theirs = cast(Array, left).reshape(-1), cast(Array, right).reshape(-1)
    if one.is_real and two.is_real:
        rest = without_mask(mine), without_mask(theirs)
        if rest[0] is not mine and not cast(Signature, signature(rest[0])).is_near(
            cast(Signature, signature(rest[1]))
        ):
            return False
    if is_text(mine) or one.drift == 0 or two.drift == 0:
        return mine.dtype == theirs.dtype and bool((mine == theirs).all())
    return bool((np.isfinite(distances(as_wide(mine), as_wide(theirs)))).all())


def without_mask(array: Array) -> Array:
    """An array of numbers with 0 in the place of elements that only mask others; the same one if there are none."""
    if is_text(array) or array.dtype.kind == "c":
        return array
    with np.errstate(all="ignore"):
        sizes = np.abs(as_wide(array))
    mask = masking(np.where(np.isfinite(sizes), sizes, 0.0))
    return array if mask is None else np.where(mask, np.zeros((), array.dtype), array)


def _largest(one: Array, two: Array, apart: Array) -> tuple[float, float]:
    """The largest distance, and the largest as a part of the elements; NaN where there are none."""
    if np.isnan(apart).all():
        return float("nan"), float("nan")
    with np.errstate(all="ignore"):
        ratios = apart / np.maximum(np.abs(one), np.abs(two))
    known = ratios[~np.isnan(ratios)]
    return float(np.nanmax(apart)), float(known.max()) if known.size else float("nan")


def _of_text(left: Array, right: Array) -> Difference | None:
    wrong = np.array([str(a) != str(b) for a, b in zip(left.flat, right.flat, strict=True)]).reshape(
        left.shape
    )
    count = int(wrong.sum())
    if not count:
        return None
    at = np.unravel_index(int(np.argmax(wrong)), left.shape)
    index = tuple(int(each) for each in at)
    return Difference(count, left.size, np.nan, np.nan, np.nan, index, str(left[at]), str(right[at]))
