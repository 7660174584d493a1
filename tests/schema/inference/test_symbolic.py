"""Arithmetic on dimensions: one text for equal expressions, and the value that integers would give."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxsmith.schema.inference import polynomial, symbolic
from onnxsmith.schema.inference.bounds import bounds
from onnxsmith.schema.inference.expression import parse
from onnxsmith.types.value_types import Dimension

NAMES = ("N", "M", "K")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (symbolic.add("N", 1), "N+1"),
        (symbolic.sub(symbolic.add("N", 1), 1), "N"),
        (symbolic.mul(2, "N"), "2*N"),
        (symbolic.floordiv(symbolic.mul("N", 4), 4), "N"),
        (symbolic.floordiv("N", 2), "N//2"),
        (symbolic.floordiv("2*N+6", 4), "(N+1)//2+1"),
        (symbolic.floordiv("2*N+1", 4), "N//2"),
        (symbolic.floordiv("4*M*N", "2*N"), "2*M"),
        (symbolic.floordiv("M*N+N", "M+1"), "N"),
        (symbolic.floordiv("N", "M"), "N//M"),
        (symbolic.floordiv("N//2", 3), "N//6"),
        (symbolic.floordiv("N", -1), "-N"),
        (symbolic.add("past + 1", "seq"), "past+seq+1"),
        (symbolic.sub(0, "N//2"), "-(N//2)"),
        (symbolic.sub(5, "N//2"), "5-N//2"),
        (symbolic.mul("N//2", 2), "2*(N//2)"),
        (symbolic.mod("4*N+3", 4), 3),
        (symbolic.ceildiv("N", 2), "(N+1)//2"),
        (symbolic.minimum("N", "N+1"), "N"),
        (symbolic.maximum("min(3,N)", 0), "min(3,N)"),
        (symbolic.maximum("min(3,N)", 1), "max(1,min(3,N))"),
        (symbolic.add("batch size", 1), None),
        (symbolic.add("batch size", 0), "batch size"),
        (symbolic.floordiv("N", 0), None),
        (symbolic.add("a.1", 1), "a.1+1"),
    ],
)
def test_expressions_are_canonical_and_readable(value: Dimension, expected: Dimension) -> None:
    assert value == expected


@pytest.mark.parametrize(
    "text", ["", "N+", "(N", "N)", "1 2", "N M", "N**2", "N/2", "f(N)", "min(N", "-", "N-+", "٣"]
)
def test_what_is_no_expression_is_not_computed_with(text: str) -> None:
    assert symbolic.mul(text, 2) is None
    assert symbolic.is_same(text, text) is True


def test_deep_nesting_is_given_up_and_does_not_overflow_the_stack() -> None:
    assert symbolic.add("(" * 5000 + "N" + ")" * 5000, 1) is None


def test_large_expressions_become_unknown() -> None:
    total: Dimension = 0
    for position in range(20):
        total = symbolic.add(total, f"n{position}")
    assert total is None
    power: Dimension = "N"
    for _ in range(12):
        power = symbolic.mul(power, "N")
    assert power is None


ENTRIES = st.one_of(st.sampled_from(NAMES), st.integers(-9, 9), st.sampled_from(("N+1", "2*M", "M*N")))
OPERATIONS: dict[str, tuple[Callable[..., Dimension], Callable[[int, int], int]]] = {
    "+": (symbolic.add, lambda a, b: a + b),
    "-": (symbolic.sub, lambda a, b: a - b),
    "*": (symbolic.mul, lambda a, b: a * b),
    "//": (symbolic.floordiv, lambda a, b: a // b),
    "%": (symbolic.mod, lambda a, b: a % b),
    "ceil": (symbolic.ceildiv, lambda a, b: -(-a // b)),
    "trunc": (symbolic.truncdiv, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
    "min": (symbolic.minimum, min),
    "max": (symbolic.maximum, max),
}


def evaluate(dimension: Dimension, sizes: dict[str, int]) -> int:
    return dimension if isinstance(dimension, int) else eval(str(dimension), {"min": min, "max": max}, sizes)


@given(
    start=ENTRIES,
    steps=st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), ENTRIES), max_size=6),
    sizes=st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES}),
)
def test_expressions_have_the_value_that_integers_give(
    start: Dimension, steps: list[tuple[str, Dimension]], sizes: dict[str, int]
) -> None:
    expression, value = start, evaluate(start, sizes)
    for operation, operand in steps:
        ours, plain = OPERATIONS[operation]
        if operation in ("//", "%", "ceil", "trunc") and evaluate(operand, sizes) == 0:
            return
        result = ours(expression, operand)
        if result is None:
            return
        expression, value = result, plain(value, evaluate(operand, sizes))
        assert evaluate(expression, sizes) == value
        if isinstance(expression, str):
            parsed = parse(expression)
            assert parsed is not None
            assert polynomial.text(parsed) == expression or not steps
            low, high = bounds(parsed)
            assert low is None or low <= value
            assert high is None or value <= high


@given(left=ENTRIES, right=ENTRIES, sizes=st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES}))
def test_comparisons_hold_for_all_sizes(left: Dimension, right: Dimension, sizes: dict[str, int]) -> None:
    first, second = evaluate(left, sizes), evaluate(right, sizes)
    assert symbolic.compare_less(left, right) in (None, first < second)
    assert symbolic.compare_equal(left, right) in (None, first == second)
    assert symbolic.compare_less_or_equal(left, right) in (None, first <= second)
    assert symbolic.compare_greater(left, right) in (None, first > second)
    assert symbolic.compare_greater_or_equal(left, right) in (None, first >= second)
    assert not symbolic.is_same(left, right) or first == second
