"""The normal form behind symbolic dimensions: integer polynomials over names, quotients, minima and maxima.

Two expressions that are equal by linear arithmetic have one text. Sizes and None are `symbolic`'s business.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

#: Beyond these an expression says less than "unknown" does, and costs more.
MAXIMUM_TERMS = 12
MAXIMUM_DEGREE = 8
MAXIMUM_LENGTH = 80

Kind = Literal["name", "//", "min", "max"]


class Atom:
    """What a polynomial is built of: a name, or an operation on polynomials that is not one itself."""

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


def lower_bound(polynomial: Polynomial) -> int | None:
    return bounds(polynomial)[0]


def bounds(polynomial: Polynomial) -> tuple[int | None, int | None]:
    """The smallest and the largest value, given that every name is at least 1; None where none is found."""
    low, high = _term_bounds(polynomial)
    if low is None:
        low = _relaxed_bound(polynomial)
    if high is None:
        opposite = _relaxed_bound(add(ZERO, polynomial, -1))
        high = None if opposite is None else -opposite
    return low, high


def _term_bounds(polynomial: Polynomial) -> tuple[int | None, int | None]:
    """Bounds from those of each term alone."""
    low: int | None = 0
    high: int | None = 0
    for monomial, factor in polynomial:
        term_low, term_high = _monomial_bounds(monomial)
        if factor < 0:
            term_low, term_high = term_high, term_low
        low = None if low is None or term_low is None else low + factor * term_low
        high = None if high is None or term_high is None else high + factor * term_high
    return low, high


def _relaxed_bound(polynomial: Polynomial) -> int | None:
    """A lower bound from one atom's relation to what it is made of: `N - N//2` is at least `(2*N - N) / 2`."""
    found: list[int] = []
    for monomial, factor in polynomial:
        if len(monomial) != 1 or monomial[0].kind == "name":
            continue
        atom = monomial[0]
        rest = add(polynomial, ((monomial, factor),), -1)
        divisor = as_constant(atom.right) if atom.kind == "//" else 1
        if atom.kind == "//" and (divisor is None or divisor < 1):
            continue
        if atom.kind == "//":
            smaller = atom.left if factor < 0 else add(atom.left, constant((divisor or 1) - 1), -1)
            choices = [smaller]
        elif (atom.kind == "min") == (factor < 0):
            choices = [atom.left, atom.right]
        else:
            continue
        for choice in choices:
            scaled = add(mul(rest, constant(divisor or 1)), mul(choice, constant(factor)))
            low = _term_bounds(scaled)[0]
            if low is not None:
                found.append(-(-low // (divisor or 1)))
    return max(found, default=None)


def _monomial_bounds(monomial: Monomial) -> tuple[int | None, int | None]:
    low: int | None = 1
    high: int | None = 1
    for atom in monomial:
        atom_low, atom_high = _atom_bounds(atom)
        if atom_low is None or atom_low < 0:
            return (atom_low, atom_high) if len(monomial) == 1 else (None, None)
        low *= atom_low
        high = None if high is None or atom_high is None else high * atom_high
    return low, high


def _atom_bounds(atom: Atom) -> tuple[int | None, int | None]:
    if atom.kind == "name":
        return 1, None
    left_low, left_high = bounds(atom.left)
    if atom.kind == "//":
        divisor = as_constant(atom.right)
        if divisor is not None and divisor > 0:
            return (
                None if left_low is None else left_low // divisor,
                None if left_high is None else left_high // divisor,
            )
        right_low = lower_bound(atom.right)
        return (0 if left_low is not None and left_low >= 0 and right_low and right_low > 0 else None), None
    right_low, right_high = bounds(atom.right)
    lows = [each for each in (left_low, right_low) if each is not None]
    highs = [each for each in (left_high, right_high) if each is not None]
    if atom.kind == "max":
        return (max(lows) if lows else None), (max(highs) if len(highs) == 2 else None)
    return (min(lows) if len(lows) == 2 else None), (min(highs) if highs else None)


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


_TOKEN = re.compile(r"\s*([0-9]+|[^\W\d][\w.]*|//|[-+*(),])")


@lru_cache(maxsize=4096)
def parse(source: str) -> Polynomial | None:
    """Read an expression; None for a name that is none (`batch/2`, `a b`)."""
    tokens: list[str] = []
    position, end = 0, len(source.rstrip())
    while position < end:
        match = _TOKEN.match(source, position)
        if match is None:
            return None
        tokens.append(match[1])
        position = match.end()
    reader = _Reader(iter([*tokens, "end of text"]))
    try:
        result = reader.sum()
    except (ValueError, ZeroDivisionError, TooLarge, RecursionError):
        return None
    return result if reader.token == "end of text" else None


class _Reader:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, tokens: Iterator[str]) -> None:
        self._tokens = tokens
        self.token = next(tokens)

    def _take(self) -> str:
        token, self.token = self.token, next(self._tokens, "end of text")
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise ValueError(token)

    def sum(self) -> Polynomial:
        result = self._product()
        while self.token in ("+", "-"):
            sign = 1 if self._take() == "+" else -1
            result = add(result, self._product(), sign)
        return result

    def _product(self) -> Polynomial:
        result = self._unary()
        while self.token in ("*", "//"):
            result = (mul if self._take() == "*" else floordiv)(result, self._unary())
        return result

    def _unary(self) -> Polynomial:
        if self.token == "-":
            self._take()
            return add(ZERO, self._unary(), -1)
        if self.token == "(":
            self._take()
            result = self.sum()
            self._expect(")")
            return result
        token = self._take()
        if token.isdecimal():
            return constant(int(token))
        if token in ("min", "max") and self.token == "(":
            return self._call("min" if token == "min" else "max")
        if token.isidentifier() or token.replace(".", "_").isidentifier():
            return name(token)
        raise ValueError(token)

    def _call(self, kind: Literal["min", "max"]) -> Polynomial:
        self._expect("(")
        result = self.sum()
        while self.token == ",":
            self._take()
            result = extremum(kind, result, self.sum())
        self._expect(")")
        return result
