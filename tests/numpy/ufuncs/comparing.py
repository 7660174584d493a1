"""How far results may lie from numpy's: integers not at all, others by some units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.numpy.ufuncs.drawing import Elements

#: Functions that give the number which is nearest, and no other; zeros have their sign.
EXACT = frozenset(
    {
        "add",
        "subtract",
        "multiply",
        "divide",
        "floor_divide",
        "remainder",
        "fmod",
        "divmod",
        "negative",
        "positive",
        "fabs",
        "sign",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "copysign",
        "nextafter",
        "spacing",
        "frexp",
        "ldexp",
        "modf",
        "heaviside",
        "reciprocal",
        "square",
        "sqrt",
        "conjugate",
    }
)
#: Sums of which little may be left: numpy, too, is right to the last place of the larger operand only.
CANCELLING = frozenset({"logaddexp", "logaddexp2"})
#: How many units in the last place results may be off, and those of parts of complex numbers, beside their size.
UNITS, COMPLEX_UNITS = 4, 8

_WIDER = {"e": "d", "f": "d", "d": "g", "F": "D", "D": "G"}


def wider(array: Elements) -> Elements:
    """An array in a type with more digits."""
    return array.astype(_WIDER.get(array.dtype.char, array.dtype.char))


def _units(got: Elements, wanted: Elements, dtype: np.dtype[Any], scale: Elements) -> Elements:
    """The distance from a wider result in units of the last place of a scale; 0 where both are no number."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(dtype)
        size = np.where(np.isfinite(scale), np.abs(scale), np.finfo(dtype).max / 2).astype(dtype)
        size = np.minimum(size, np.finfo(dtype).max / 2)
        error = np.abs(wider(got) - wanted) / wider(np.spacing(size))
        is_same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        return np.where(is_same, 0, np.where(np.isnan(error), np.inf, error))


def _same_signs(got: Elements, wanted: Elements) -> Elements:
    return ~((got == 0) & (wanted == 0)) | (np.signbit(got) == np.signbit(wanted))


def agrees(
    name: str, inputs: list[Elements], got: Elements, wanted: Elements, reference: Elements
) -> Elements:
    """Where a result is right: beside numpy's own, or beside one that was computed with more digits."""
    dtype = wanted.dtype
    if dtype.kind in "biu":
        return got == wanted
    if dtype.kind == "c":
        return _agrees_in_parts(name, inputs, got, wanted, reference)
    if name in EXACT:
        is_same = (got == wanted) & (np.signbit(got) == np.signbit(wanted))
        return is_same | (np.isnan(got) & np.isnan(wanted))
    scale = np.abs(wanted)
    if name in CANCELLING:
        scale = np.fmax(scale, np.fmax(*[np.abs(each) for each in inputs]).astype(dtype))
    wide = reference if reference.dtype.kind == "f" else wider(wanted)
    own = _units(wanted, wide, dtype, scale)
    is_near = _units(got, wide, dtype, scale) <= np.maximum(UNITS, own)
    is_near |= _units(got, wider(wanted), dtype, scale) <= UNITS
    return is_near & _same_signs(got, wanted)


def _agrees_in_parts(
    name: str, inputs: list[Elements], got: Elements, wanted: Elements, reference: Elements
) -> Elements:
    part = np.dtype(np.float32 if wanted.dtype == np.complex64 else np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(wanted)
        allowed: Any = COMPLEX_UNITS
        if name in ("power", "float_power"):
            # A power multiplies the logarithm's error by the exponent.
            base, exponent = (each.astype(np.complex128) for each in inputs)
            allowed = COMPLEX_UNITS * (
                1 + np.nan_to_num(np.abs(exponent * np.log(base)), nan=1e6, posinf=1e6)
            )
        both_vanish = (size < np.finfo(part).tiny) & (np.abs(got) < np.finfo(part).tiny)
    right = np.ones(wanted.shape, bool)
    for mine, theirs, wide in (
        (np.real(got), np.real(wanted), np.real(reference)),
        (np.imag(got), np.imag(wanted), np.imag(reference)),
    ):
        scale = np.where(np.isfinite(size), size, np.abs(theirs))
        own = _units(theirs, wide, part, scale)
        near = _units(mine, wide, part, scale) <= np.maximum(allowed, 2 * own)
        near |= _units(mine, wider(theirs), part, scale) <= allowed
        right &= near & (
            _same_signs(mine, theirs) | (both_vanish if name in ("power", "float_power") else False)
        )
    return right
