"""Elements to try universal functions on: every kind of number that a type has, and pairs of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

Elements = np.ndarray[Any, np.dtype[Any]]

_WHOLE = (0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, -1, -2, -3, -7)
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 2, 3, -3)
_LARGE = (100, -100, 720, -740, 89, -104, 11, -17, 710.2)
_CORNERS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0)


def drawn(dtype: np.dtype[Any], rng: np.random.Generator, count: int = 48) -> Elements:
    """Extremes, denormals, ties, NaN, infinities and both zeros first, then numbers of all sizes."""
    if dtype.kind == "b":
        return np.concatenate([[True, False], rng.integers(0, 2, count).astype(bool)])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        whole = [limits.min, limits.min + 1, limits.max, limits.max - 1, *_WHOLE]
        return np.concatenate(
            [
                np.array([each for each in whole if limits.min <= each <= limits.max], dtype),
                rng.integers(max(limits.min, -20), 21, count).astype(dtype),
                rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True),
            ]
        )
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
        re, im = drawn(part, rng, count), rng.permutation(drawn(part, rng, count))
        corners = np.array(_CORNERS, part)
        across, along = np.meshgrid(corners, corners)
        return joined(np.concatenate([re, across.ravel()]), np.concatenate([im, along.ravel()]), dtype)
    facts = np.finfo(dtype)
    tiny = facts.smallest_subnormal
    ends = [facts.max, -facts.max, facts.tiny, -facts.tiny, tiny, -tiny, 5 * tiny]
    close = [facts.eps, 1 + facts.eps, 1 - facts.eps / 2]
    size = np.exp(rng.uniform(np.log(float(facts.tiny)), 0.999 * np.log(float(facts.max)), count))
    with np.errstate(over="ignore"):
        return np.concatenate(
            [
                np.array([*_SPECIAL, *_LARGE], dtype),
                np.array([*ends, *close], dtype),
                rng.uniform(-1, 1, count).astype(dtype),
                rng.uniform(-30, 30, count).astype(dtype),
                (1 + rng.uniform(-1e-3, 1e-3, count)).astype(dtype),
                rng.integers(-1000, 1000, count).astype(dtype),
                (size * rng.choice([-1, 1], count)).astype(dtype),
            ]
        )


def joined(re: Elements, im: Elements, dtype: np.dtype[Any]) -> Elements:
    """Complex numbers from their parts, each kept as it is."""
    made: Elements = np.empty(re.shape, dtype)
    made.real, made.imag = re, im
    return made


def operands(codes: str, rng: np.random.Generator) -> list[Elements]:
    """Inputs for a loop: of two, every special number meets every other, and all others are paired at random."""
    drawn_ones = [drawn(np.dtype(each), rng) for each in codes]
    if len(drawn_ones) == 1:
        return drawn_ones
    ends = [slice(-64, None) if each.dtype.kind == "c" else slice(0, 36) for each in drawn_ones]
    grid = np.meshgrid(*[each[part] for each, part in zip(drawn_ones, ends, strict=True)])
    count = min(map(len, drawn_ones))
    mixed = [rng.permutation(each)[:count] for each in drawn_ones]
    return [np.concatenate([one.ravel(), other]) for one, other in zip(grid, mixed, strict=True)]
