"""Counts that depend on sizes: sums of products of dimensions, `2*N*4096 + 8`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from onnxsmith.types.value_types import Dimension

#: Names of dimensions, in order; the same one several times for its powers.
Factors = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number, or a sum of products of dimensions that are known by name only.

    >>> from onnxsmith.inspection import Count
    >>> Count.product(["N", 4, "N"]) + Count.of(3)
    4*N**2 + 3
    """

    terms: Mapping[Factors, int] = field(default_factory=dict[Factors, int])

    @staticmethod
    def of(number: int) -> Count:
        """A number."""
        return Count({(): number}) if number else Count()

    @staticmethod
    def product(dimensions: Iterable[Dimension]) -> Count | None:
        """How many elements there are; None where a dimension has no name."""
        number, names = 1, list[str]()
        for each in dimensions:
            if each is None:
                return None
            if isinstance(each, int):
                number *= each
            else:
                names.append(each)
        return Count({tuple(sorted(names)): number}) if number else Count()

    def __add__(self, other: Count) -> Count:
        terms = dict(self.terms)
        for factors, number in other.terms.items():
            terms[factors] = terms.get(factors, 0) + number
        return Count({factors: number for factors, number in terms.items() if number})

    def __mul__(self, number: int) -> Count:
        return Count({factors: each * number for factors, each in self.terms.items()} if number else {})

    def times(self, other: Count) -> Count:
        """The product of two counts."""
        result = Count()
        for factors, number in other.terms.items():
            result += Count({tuple(sorted((*each, *factors))): n * number for each, n in self.terms.items()})
        return result

    @property
    def number(self) -> int | None:
        """The number, where it depends on nothing."""
        return self.terms.get((), 0) if all(not factors for factors in self.terms) else None

    def __repr__(self) -> str:
        ordered = sorted(self.terms.items(), key=lambda each: (-len(each[0]), each[0]))
        return " + ".join(_term(factors, number) for factors, number in ordered) or "0"


def _term(factors: Factors, number: int) -> str:
    parts = [f"{number:,}" if not factors else str(number)] if number != 1 or not factors else []
    for name in dict.fromkeys(factors):
        shown = name if name.isidentifier() else f"({name})"
        power = factors.count(name)
        parts.append(shown if power == 1 else f"{shown}**{power}")
    return "*".join(parts)
