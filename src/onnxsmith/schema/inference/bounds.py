"""How small and how large a polynomial over names can be, and what follows for minima and maxima.

Finds a bound or none; it never guesses. A name stands for a size, which may be 0; where what a program does is decided,
it may have declared more (`Ranges`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from onnxsmith.schema.inference.polynomial import (
    ZERO,
    Atom,
    Monomial,
    Polynomial,
    TooLarge,
    add,
    as_constant,
    constant,
    mul,
    text,
)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The smallest and the largest sizes that names were declared with; all others are at least 0."""

    declared: tuple[tuple[str, int, int | None], ...]
    #: What they have decided that was open without them: comparisons, and the places in the program that asked.
    answers: dict[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)

    def of(self, name: str) -> tuple[int, int | None]:
        """The smallest and the largest size that a name stands for."""
        for each, low, high in self.declared:
            if each == name:
                return low, high
        return 0, None


#: What is known of every name: the smallest size of all, or the sizes of each.
Least: TypeAlias = int | Ranges


def extremum(kind: Literal["min", "max"], left: Polynomial, right: Polynomial) -> Polynomial:
    """The smaller or the larger of two, decided where bounds decide it."""
    if left == right:
        return left
    distance = add(left, right, -1)
    low, high = bounds(distance)
    if low is not None and low >= 0:
        return left if kind == "max" else right
    if high is not None and high <= 0:
        return right if kind == "max" else left
    first, second = sorted((left, right), key=lambda each: (as_constant(each) is None, text(each)))
    return (((Atom(kind, f"{kind}({text(first)},{text(second)})", first, second),), 1),)


def bounds(polynomial: Polynomial, least: Least = 0) -> tuple[int | None, int | None]:
    """The smallest and the largest value, given what the names are at least; None where none is found."""
    low, high = _term_bounds(polynomial, least)
    if low is None:
        low = _relaxed_bound(polynomial, least)
    if high is None:
        opposite = _relaxed_bound(add(ZERO, polynomial, -1), least)
        high = None if opposite is None else -opposite
    return low, high


def _term_bounds(polynomial: Polynomial, least: Least) -> tuple[int | None, int | None]:
    """Bounds from those of each term alone."""
    low: int | None = 0
    high: int | None = 0
    for monomial, factor in polynomial:
        term_low, term_high = _monomial_bounds(monomial, least)
        if factor < 0:
            term_low, term_high = term_high, term_low
        low = None if low is None or term_low is None else low + factor * term_low
        high = None if high is None or term_high is None else high + factor * term_high
    return low, high


def _relaxed_bound(polynomial: Polynomial, least: Least) -> int | None:
    """A lower bound from one atom's relation to what it is made of: `N - N//2` is at least `(2*N - N) / 2`."""
    found: list[int] = []
    for monomial, factor in polynomial:
        if len(monomial) != 1:
            continue
        divisor, smaller = _relations(monomial[0], factor)
        for each in smaller:
            try:
                rest = mul(add(polynomial, ((monomial, factor),), -1), constant(divisor))
                low, _ = _term_bounds(add(rest, mul(each, constant(factor))), least)
            except TooLarge:
                continue
            if low is not None:
                found.append(-(-low // divisor))
    return max(found, default=None)


def _relations(atom: Atom, factor: int) -> tuple[int, list[Polynomial]]:
    """A divisor d, and polynomials p such that `factor * p / d` is at most `factor * atom`."""
    if atom.kind == "//":
        divisor = as_constant(atom.right)
        if divisor is None or divisor < 1:
            return 1, []
        return divisor, [atom.left if factor < 0 else add(atom.left, constant(divisor - 1), -1)]
    if (atom.kind == "min" and factor < 0) or (atom.kind == "max" and factor > 0):
        return 1, [atom.left, atom.right]
    return 1, []


def _monomial_bounds(monomial: Monomial, least: Least) -> tuple[int | None, int | None]:
    low: int | None = 1
    high: int | None = 1
    for atom in monomial:
        atom_low, atom_high = _atom_bounds(atom, least)
        if atom_low is None or atom_low < 0:
            return (atom_low, atom_high) if len(monomial) == 1 else (None, None)
        low *= atom_low
        high = None if high is None or atom_high is None else high * atom_high
    return low, high


def _atom_bounds(atom: Atom, least: Least) -> tuple[int | None, int | None]:
    if atom.kind == "name":
        return least.of(atom.text) if isinstance(least, Ranges) else (least, None)
    left_low, left_high = bounds(atom.left, least)
    if atom.kind == "//":
        divisor = as_constant(atom.right)
        if divisor is not None and divisor > 0:
            return (
                None if left_low is None else left_low // divisor,
                None if left_high is None else left_high // divisor,
            )
        right_low, _ = bounds(atom.right, least)  # a divisor is not 0 where there is a quotient
        is_natural = left_low is not None and left_low >= 0 and right_low is not None and right_low >= 0
        return (0 if is_natural else None), None
    right_low, right_high = bounds(atom.right, least)
    lows = [each for each in (left_low, right_low) if each is not None]
    highs = [each for each in (left_high, right_high) if each is not None]
    if atom.kind == "max":
        return (max(lows) if lows else None), (max(highs) if len(highs) == 2 else None)
    return (min(lows) if len(lows) == 2 else None), (min(highs) if highs else None)
