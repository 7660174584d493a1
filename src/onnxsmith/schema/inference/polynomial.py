"""The normal form behind symbolic dimensions: integer polynomials over names, quotients, minima and maxima.

Two expressions that are equal by linear arithmetic have one text. Sizes and None are `symbolic`'s business.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

#: Beyond these an expression says less than "unknown" does, and costs more.
MAXIMUM_TERMS = 12
MAXIMUM_DEGREE = 8
MAXIMUM_LENGTH = 80

Kind = Literal["name", "//", "min", "max"]


class Atom:
    """A factor of a polynomial: a name, or an operation on polynomials that gives no polynomial."""

    __slots__ = ("kind", "left", "right", "text")

    def __init__(self, kind: Kind, text: str, left: Polynomial = (), right: Polynomial = ()) -> None:
        self.kind: Kind = kind
        self.text = text
        self.left = left
        self.right = right

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


#: A product of atoms, sorted by text; () is the constant one.
Monomial: TypeAlias = tuple[Atom, ...]
#: Monomials with their coefficients, none of them zero, in the order they are written in.
Polynomial: TypeAlias = "tuple[tuple[Monomial, int], ...]"

ZERO: Polynomial = ()
ONE: Polynomial = (((), 1),)


class TooLarge(Exception):
    """An expression grew beyond the bounds; its value is unknown from here on."""


def constant(value: int) -> Polynomial:
    return (((), value),) if value else ()


def name(text: str) -> Polynomial:
    return (((Atom("name", text),), 1),)


def as_constant(polynomial: Polynomial) -> int | None:
    """The value, if no name is left in it."""
    if not polynomial:
        return 0
    return polynomial[0][1] if len(polynomial) == 1 and not polynomial[0][0] else None


def _order(term: tuple[Monomial, int]) -> tuple[int, list[str]]:
    return -len(term[0]), [atom.text for atom in term[0]]


def _collect(terms: dict[Monomial, int]) -> Polynomial:
    kept = sorted(((monomial, factor) for monomial, factor in terms.items() if factor), key=_order)
    if len(kept) > MAXIMUM_TERMS or (kept and len(kept[0][0]) > MAXIMUM_DEGREE):
        raise TooLarge
    return tuple(kept)


def add(left: Polynomial, right: Polynomial, sign: int = 1) -> Polynomial:
    """`left + sign * right`."""
    terms = dict(left)
    for monomial, factor in right:
        terms[monomial] = terms.get(monomial, 0) + sign * factor
    return _collect(terms)


def mul(left: Polynomial, right: Polynomial) -> Polynomial:
    terms: dict[Monomial, int] = {}
    for monomial, factor in left:
        for other, other_factor in right:
            product = tuple(sorted(monomial + other, key=lambda atom: atom.text))
            terms[product] = terms.get(product, 0) + factor * other_factor
    return _collect(terms)


def floordiv(left: Polynomial, right: Polynomial) -> Polynomial:
    """The floor of the quotient; what divides exactly is taken out, the rest becomes an atom."""
    divisor = as_constant(right)
    if divisor == 0:
        raise ZeroDivisionError
    if divisor is not None and divisor < 0:
        return floordiv(add(ZERO, left, -1), constant(-divisor))
    if divisor is not None:
        return _floordiv_constant(left, divisor)
    quotient, rest = _divide(left, right)
    if not rest:
        return quotient
    if len(right) == 1 and quotient:
        return add(quotient, floordiv(rest, right))
    left, right = _cancel(left, right)
    if as_constant(right) is not None:
        return floordiv(left, right)
    return _quotient_atom(left, right)


def _cancel(left: Polynomial, right: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Both without the names and the number that divide every term of both; a name is never zero."""
    terms = (*left, *right)
    shared: Monomial = ()
    for atom in terms[0][0]:
        if all(_without(monomial, (*shared, atom)) is not None for monomial, _ in terms):
            shared = (*shared, atom)
    number = math.gcd(*(factor for _, factor in terms))
    factor: Polynomial = ((shared, number),)
    return _divide(left, factor)[0], _divide(right, factor)[0]


def _floordiv_constant(left: Polynomial, divisor: int) -> Polynomial:
    whole = {
        monomial: factor // divisor for monomial, factor in left if factor % divisor == 0 or not monomial
    }
    rest = {monomial: factor % divisor if not monomial else factor for monomial, factor in left}
    rest = {
        monomial: factor for monomial, factor in rest.items() if factor % divisor or (not monomial and factor)
    }
    if all(not monomial for monomial in rest):  # a constant below the divisor
        return _collect(whole)
    # gcd of divisor and factors of names: floor((g*p + c) / (g*d)) is floor((p + c//g) / d).
    common = math.gcd(divisor, *(factor for monomial, factor in rest.items() if monomial))
    divisor //= common
    numerator = _collect({monomial: factor // common for monomial, factor in rest.items()})
    if divisor == 1:
        return add(_collect(whole), numerator)
    inner = _nested_quotient(numerator)
    if inner is not None:
        quotient = _floordiv_constant(inner[0], inner[1] * divisor)
    else:
        quotient = _quotient_atom(numerator, constant(divisor))
    return add(_collect(whole), quotient)


def _nested_quotient(numerator: Polynomial) -> tuple[Polynomial, int] | None:
    """`p//a + c` as a quotient over `a`, so that `(p//a + c)//b` is `(p + a*c)//(a*b)`."""
    names = [(monomial, factor) for monomial, factor in numerator if monomial]
    if len(names) != 1 or names[0][1] != 1 or len(names[0][0]) != 1:
        return None
    atom = names[0][0][0]
    inner = as_constant(atom.right) if atom.kind == "//" else None
    if inner is None or inner <= 0:
        return None
    offset = dict(numerator).get((), 0)
    return add(atom.left, constant(offset * inner)), inner


def _divide(left: Polynomial, right: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Polynomial division by the leading term of `right`: (quotient, rest)."""
    quotient, rest = ZERO, left
    lead, lead_factor = right[0]
    for _ in range(MAXIMUM_TERMS):
        step = next(
            (
                (((found), factor // lead_factor),)
                for monomial, factor in rest
                if factor % lead_factor == 0 and (found := _without(monomial, lead)) is not None
            ),
            None,
        )
        if step is None:
            break
        quotient = add(quotient, step)
        rest = add(rest, mul(step, right), -1)
        if not rest:
            break
    return quotient, rest


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    rest = list(monomial)
    for atom in factor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _quotient_atom(left: Polynomial, right: Polynomial) -> Polynomial:
    text = f"{_wrapped(left)}//{_wrapped(right)}"
    return (((Atom("//", text, left, right),), 1),)


def text(polynomial: Polynomial) -> str:
    """The canonical text; a valid Python expression when the names are identifiers."""
    if not polynomial:
        return "0"
    # A term to add comes first, so that it reads "1-N" and not "-N+1".
    first = next((k for k, (_, factor) in enumerate(polynomial) if factor > 0), 0)
    ordered = (polynomial[first], *polynomial[:first], *polynomial[first + 1 :])
    out = "".join(_term_text(monomial, factor, k == 0) for k, (monomial, factor) in enumerate(ordered))
    if len(out) > MAXIMUM_LENGTH:
        raise TooLarge
    return out


def _term_text(monomial: Monomial, factor: int, is_first: bool) -> str:
    sign = "-" if factor < 0 else "" if is_first else "+"
    size = abs(factor)
    if not monomial:
        return f"{sign}{size}"
    # A sign in front binds tighter than a quotient.
    alone = len(monomial) == 1 and size == 1 and not (is_first and factor < 0)
    parts = [f"({atom.text})" if atom.kind == "//" and not alone else atom.text for atom in monomial]
    return sign + "*".join(parts if size == 1 else [str(size), *parts])


def _wrapped(polynomial: Polynomial) -> str:
    written = text(polynomial)
    plain = len(polynomial) == 1 and (
        polynomial[0] == ((), abs(polynomial[0][1]))
        or (polynomial[0][1] == 1 and len(polynomial[0][0]) == 1 and polynomial[0][0][0].kind != "//")
    )
    return written if plain else f"({written})"
