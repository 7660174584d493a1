"""Arithmetic on dimensions: sizes, symbolic expressions as text, and None for what is unknown.

A name stands for a size, which may be 0: `max(0,N)` is `N`, and `min(1,N)` is not 1. That is the only assumption, but
that a divisor is not 0. Comparisons, which decide what a program does, know besides what it declares (`DECLARED`). What
ONNX's operators do with dimensions is said elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import lru_cache

from onnxsmith.schema.inference import polynomial
from onnxsmith.schema.inference.bounds import Least, Ranges, bounds, extremum
from onnxsmith.schema.inference.expression import parse
from onnxsmith.schema.inference.polynomial import Polynomial, TooLarge
from onnxsmith.source import caller_span
from onnxsmith.types.value_types import Dimension

#: The sizes that the program which is being recorded declares for its dimensions.
DECLARED: ContextVar[Ranges | None] = ContextVar("DECLARED", default=None)


def add(left: Dimension, right: Dimension) -> Dimension:
    """
    >>> add("N", 1), add("N+1", -1), add("N", "M"), add("N", None)
    ('N+1', 'N', 'M+N', None)
    """
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if left is None or right is None:
        return None
    return left if right == 0 else right if left == 0 else _add(left, right)


def sub(left: Dimension, right: Dimension) -> Dimension:
    """
    >>> sub("N+1", 1), sub("N", "N"), sub(1, "N")
    ('N', 0, '1-N')
    """
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    if left is None or right is None:
        return None
    return left if right == 0 else _sub(left, right)


def mul(left: Dimension, right: Dimension) -> Dimension:
    """
    >>> mul("N", 4), mul("N", "N+1"), mul(0, "N")
    ('4*N', 'N*N+N', 0)
    """
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if left is None or right is None:
        return 0 if left == 0 or right == 0 else None
    return left if right == 1 else right if left == 1 else _mul(left, right)


def floordiv(left: Dimension, right: Dimension) -> Dimension:
    """The quotient rounded down, as Python's `//`; None for a division by zero.

    >>> floordiv("4*N", 4), floordiv("N", 2), floordiv("4*N+5", 4), floordiv("N//2+1", 2), floordiv("2*N*M", "4*N")
    ('N', 'N//2', 'N+1', '(N+2)//4', 'M//2')
    """
    if left is None or right is None or right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    return left if right == 1 else _floordiv(left, right)


def ceildiv(left: Dimension, right: Dimension) -> Dimension:
    """The quotient rounded up.

    >>> ceildiv(7, 2), ceildiv("N", 2)
    (4, '(N+1)//2')
    """
    if not isinstance(left, int) and is_at_least(right, 1):
        return floordiv(add(left, sub(right, 1)), right)
    return sub(0, floordiv(sub(0, left), right))


def truncdiv(left: Dimension, right: Dimension) -> Dimension:
    """The quotient rounded towards zero, as ONNX's `Div` does; None where the signs are not known.

    >>> truncdiv(-7, 2), truncdiv("N+3", 2), truncdiv("N-5", 2)
    (-3, '(N+1)//2+1', None)
    """
    if isinstance(left, int) and isinstance(right, int):
        if right == 0:
            return None
        size = abs(left) // abs(right)
        return size if (left < 0) == (right < 0) else -size
    quotient = floordiv(left, right)
    if is_at_least(left, 0) and is_at_least(right, 1):
        return quotient
    # An exact division is the same however it is rounded.
    return quotient if quotient is not None and is_same(mul(quotient, right), left) else None


def mod(left: Dimension, right: Dimension) -> Dimension:
    """The rest of `floordiv`.

    >>> mod("4*N+1", 4), mod(-1, 3), mod("N", 2)
    (1, 2, 'N-2*(N//2)')
    """
    return sub(left, mul(floordiv(left, right), right))


def minimum(left: Dimension, right: Dimension) -> Dimension:
    """
    >>> minimum("N", "N-1"), minimum("N", 5), minimum("N", 1)
    ('N-1', 'min(5,N)', 'min(1,N)')
    """
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    return None if left is None or right is None else _minimum(left, right)


def maximum(left: Dimension, right: Dimension) -> Dimension:
    """
    >>> maximum("N", 0), maximum("N+1", "N"), maximum("N-1", 0)
    ('N', 'N+1', 'max(0,N-1)')
    """
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return None if left is None or right is None else _maximum(left, right)


def product(dimensions: Iterable[Dimension]) -> Dimension:
    """
    >>> product(("N", 4, "M")), product((None, 0)), product((None, 2))
    ('4*M*N', 0, None)
    """
    result: Dimension = 1
    is_unknown = False
    for each in dimensions:
        if each == 0:
            return 0
        if each is None:
            is_unknown = True
        elif not is_unknown:
            result = mul(result, each)
    return None if is_unknown else result


def is_same(left: Dimension, right: Dimension) -> bool:
    """True if two dimensions are certainly equal.

    >>> is_same("N + 1", "1+N"), is_same("N", "M"), is_same(None, None)
    (True, False, False)
    """
    if left is None or right is None:
        return False
    if left == right:
        return True
    if isinstance(left, int) and isinstance(right, int):
        return False
    return _sub(left, right) == 0


def is_at_least(dimension: Dimension, bound: int, *, least: int = 0) -> bool:
    """True if a dimension is certainly not smaller than `bound`, given that every name is at least `least`.

    >>> is_at_least("N", 0), is_at_least("N-1", 0), is_at_least("min(3,N)", 0), is_at_least("N-1", 0, least=1)
    (True, False, True, True)
    """
    low, _ = _bounds(dimension, least)
    return low is not None and low >= bound


def compare_less(left: Dimension, right: Dimension) -> bool | None:
    """True if one is smaller than the other; None where that depends on the sizes, which may be 0.

    >>> compare_less("N", "N+1"), compare_less("N", 0), compare_less("N", 5), compare_less(0, "N")
    (True, False, None, None)
    """
    if isinstance(left, int) and isinstance(right, int):
        return left < right
    return _decided(left, "<", right, _is_positive)


def compare_equal(left: Dimension, right: Dimension) -> bool | None:
    """True if two are equal; None where that depends on the sizes, which may be 0.

    >>> compare_equal("N", "N"), compare_equal("N", -1), compare_equal("N", 1)
    (True, False, None)
    """
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    if is_same(left, right):
        return True
    return _decided(left, "==", right, _is_zero)


def _is_positive(low: int | None, high: int | None) -> bool | None:
    """The sign of a difference, as far as bounds decide it."""
    if low is not None and low > 0:
        return True
    return False if high is not None and high <= 0 else None


def _is_zero(low: int | None, high: int | None) -> bool | None:
    return False if (low is not None and low > 0) or (high is not None and high < 0) else None


def _decided(
    left: Dimension, sign: str, right: Dimension, verdict: Callable[[int | None, int | None], bool | None]
) -> bool | None:
    """The sign of a difference, with the declared sizes; a decision that needs these is recorded with them."""
    difference = sub(right, left)
    found = verdict(*_bounds(difference, 0))
    declared = DECLARED.get()
    if found is not None or declared is None:
        return found
    found = verdict(*_bounds(difference, declared))
    if found is not None:
        text = f"{left} {sign} {right}" if found else f"not {left} {sign} {right}"
        if text not in declared.answers:
            span = caller_span()
            declared.answers[text] = "" if span is None else f"{os.path.basename(span.file)}:{span.line}"
    return found


def compare_greater(left: Dimension, right: Dimension) -> bool | None:
    """`compare_less` the other way round."""
    return compare_less(right, left)


def compare_greater_or_equal(left: Dimension, right: Dimension) -> bool | None:
    """The negation of `compare_less`."""
    is_less = compare_less(left, right)
    return None if is_less is None else not is_less


def compare_less_or_equal(left: Dimension, right: Dimension) -> bool | None:
    """The negation of `compare_greater`."""
    return compare_greater_or_equal(right, left)


@lru_cache(maxsize=4096)
def _bounds(dimension: Dimension, least: Least) -> tuple[int | None, int | None]:
    if isinstance(dimension, int):
        return dimension, dimension
    parsed = None if dimension is None else parse(dimension)
    return (None, None) if parsed is None else bounds(parsed, least)


def _cached(
    operation: Callable[[Polynomial, Polynomial], Polynomial],
) -> Callable[[int | str, int | str], Dimension]:
    """An operation on polynomials as one on sizes and texts; a shape is computed from the same few again and again."""

    @lru_cache(maxsize=4096)
    def compute(left: int | str, right: int | str) -> Dimension:
        first = polynomial.constant(left) if isinstance(left, int) else parse(left)
        second = polynomial.constant(right) if isinstance(right, int) else parse(right)
        if first is None or second is None:
            return None
        try:
            result = operation(first, second)
            value = polynomial.as_constant(result)
            return polynomial.text(result) if value is None else value
        except (TooLarge, ZeroDivisionError):
            return None

    return compute


_add = _cached(polynomial.add)
_sub = _cached(lambda left, right: polynomial.add(left, right, -1))
_mul = _cached(polynomial.mul)
_floordiv = _cached(polynomial.floordiv)
_minimum = _cached(lambda left, right: extremum("min", left, right))
_maximum = _cached(lambda left, right: extremum("max", left, right))
