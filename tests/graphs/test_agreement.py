"""The law of equal arrays: `compare` finds a difference exactly where an element differs by a plain definition."""

from __future__ import annotations

import cmath
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxsmith.graphs.agreement import CONVERTED, EXACT, FLOAT16, FLOAT32, Tolerance, compare, unit_of

_FLOATS: dict[Any, tuple[float, float]] = {
    # How many units in the last place an element may be off, and how many of the largest element.
    np.float64: (64, 64),
    np.float32: (64, 64),
    np.float16: (4, 1),
    ml_dtypes.bfloat16: (4, 1),
    ml_dtypes.float8_e4m3fn: (4, 1),
    np.complex64: (64, 64),
    np.complex128: (64, 64),
}
_WHOLE = (
    np.int8,
    np.uint8,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
    np.bool_,
    ml_dtypes.int4,
    ml_dtypes.uint4,
)


def is_equal(one: Any, two: Any, allowed: float) -> bool:
    """Two elements, as Python numbers: NaN equals NaN, an infinity itself, others by their distance."""
    if isinstance(one, str):
        return one == two
    if isinstance(one, int):
        return abs(one - two) <= allowed
    if one != one or two != two:
        return one != one and two != two
    if not (cmath.isfinite(one) and cmath.isfinite(two)):
        return one == two
    return one == two or size_of(one - two) <= allowed


def size_of(number: complex) -> float:
    return math.hypot(number.real, number.imag)  # abs() refuses what is too large


def naive(left: Any, right: Any, tolerance: Tolerance) -> bool:
    ones, twos = left.tolist(), right.tolist()
    if left.dtype.kind == "O":
        return all(is_equal(a, b, 0) for a, b in zip(ones, twos, strict=True))
    if left.dtype.type in _WHOLE:
        pairs = [(int(a), int(b)) for a, b in zip(ones, twos, strict=True)]
        return all(is_equal(a, b, tolerance.absolute) for a, b in pairs)
    kind = complex if left.dtype.kind == "c" else float
    ones, twos = [kind(a) for a in ones], [kind(b) for b in twos]
    sizes = [size_of(a) if math.isfinite(size_of(a)) else 0.0 for a in ones]
    own, of_largest = _FLOATS[left.dtype.type]
    unit = unit_of(left)
    for one, two, size in zip(ones, twos, sizes, strict=True):
        allowed = tolerance.absolute + (tolerance.own or 0.0) * size
        if not tolerance.is_given:
            allowed = max(
                unit * own * size,
                unit * of_largest * scale_of(size, sizes),
                2.3e-308 if unit < 1e-15 else 1.2e-38,
            )
        if not is_equal(one, two, allowed):
            return False
    return True


def scale_of(size: float, sizes: list[float]) -> float:
    """The largest element, or for the rest the largest of it where some are huge, alike, and far from the rest."""
    largest = max(sizes)
    rest = [each for each in sizes if each < largest / 4]
    is_mask = 1e4 <= largest < math.inf and 0 < max(rest, default=0.0) <= largest / 1000
    return max(rest) if is_mask and size in rest else largest


_SPECIAL = [
    0.0,
    -0.0,
    1.0,
    1.0 + 2**-20,
    1.001,
    -1.0,
    300.0,
    math.inf,
    -math.inf,
    math.nan,
    1.7e308,
    -1.7e308,
]
_REAL = st.one_of(st.sampled_from(_SPECIAL), st.floats())
_NUMBERS = st.one_of(st.integers(-(2**63), 2**64 - 1), st.sampled_from([0, 1, 2**53, 2**53 + 1, 2**63 - 1]))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two arrays of one type: of the second, most elements are those of the first."""
    dtype = draw(st.sampled_from([*_FLOATS, *_WHOLE, object]))
    size = draw(st.integers(1, 4))
    if dtype is object:
        element: st.SearchStrategy[Any] = st.sampled_from(["", "a", "A", "nan", "é"])
    elif dtype in (np.complex64, np.complex128):
        element = st.builds(complex, _REAL, _REAL)
    elif dtype in _FLOATS:
        element = _REAL
    else:
        element = _NUMBERS
    left = draw(st.lists(element, min_size=size, max_size=size))
    right = [draw(element) if draw(st.integers(0, 3)) == 0 else each for each in left]
    return tuple(_array(each, dtype) for each in (left, right))  # type: ignore[return-value]


def _array(elements: list[Any], dtype: Any) -> Any:
    if dtype is object:
        return np.array(elements, object)
    if dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        low = -8 if dtype is ml_dtypes.int4 else 0
        return np.array([each % 16 + low for each in elements], np.int32).astype(dtype)
    if dtype in _WHOLE and dtype is not np.bool_:
        bits = np.dtype(dtype).itemsize * 8
        return np.array([each % 2**bits for each in elements], np.uint64).astype(dtype)
    with np.errstate(all="ignore"):
        return np.array(elements).astype(dtype)


@given(
    pairs(), st.sampled_from([EXACT, Tolerance(1e-3), Tolerance(absolute=1.0), Tolerance(1e-3, absolute=0.5)])
)
def test_arrays_are_equal_exactly_when_their_elements_are(
    arrays: tuple[Any, Any], tolerance: Tolerance
) -> None:
    left, right = arrays
    found = compare(left, right, tolerance)
    assert (found is None) == naive(left, right, tolerance), found
    if found is not None:
        assert str(found)


@given(pairs())
def test_an_array_equals_itself(arrays: tuple[Any, Any]) -> None:
    for each in arrays:
        assert compare(each, each.copy(), EXACT) is None
        assert compare(each, each.copy(), Tolerance(0.0, 0.0)) is None


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (0.2, np.inf, "1 of 2 elements differ: 0.2 and inf at [0], 0 and 1 infinities"),
        (np.inf, -np.inf, "1 of 2 elements differ: inf and -inf at [0]"),
        (
            1.0,
            1.5,
            "1 of 2 elements differ: 1.0 and 1.5 at [0], by 0.5 (relative 0.333, 1.5e+15 ulp) at the most",
        ),
    ],
)
def test_what_is_said_of_a_compare(one: float, two: float, said: str) -> None:
    found = compare(np.array([one, 7.0]), np.array([two, 7.0]), EXACT)
    assert str(found) == said


def test_sequences_maps_optionals_and_numbers() -> None:
    one, two = np.float32([1, 2]), np.float32([1, 3])
    assert compare([one, [one]], [one, [one]], EXACT) is None
    found = compare([one, [two]], [one, [one]], EXACT)
    assert found is not None
    assert found.index == (1, 0, 1)
    assert str(compare([one], [one, one], EXACT)) == "a sequence of 1, and a sequence of 2"
    assert compare({"a": 0.5, "b": 1.0}, {"b": 1.0, "a": 0.5}, EXACT) is None
    assert (
        str(compare({"a": 0.5}, {"b": 0.5}, EXACT)) == "a map with the keys 'a', and a map with the keys 'b'"
    )
    assert compare(None, None, EXACT) is None
    assert str(compare(None, one, EXACT)) == "nothing, and float32 of shape (2,)"
    assert (
        str(compare(one, one.astype(np.float64), EXACT)) == "float32 of shape (2,), and float64 of shape (2,)"
    )


@pytest.mark.parametrize(
    ("wanted", "got", "tolerance", "is_equal"),
    [
        # The sizes of a result decide, and not that they are below 1.
        (np.full(3, 1e-6, np.float32), np.full(3, 3e-6, np.float32), CONVERTED, False),
        (np.full(3, 1e-9), np.zeros(3), CONVERTED, False),
        (np.full(3, 1.0, np.float32), np.full(3, 1.00005, np.float32), CONVERTED, True),
        (np.full(3, 1.0), np.full(3, 1.00005), CONVERTED, False),
        (np.full(3, 1.0), np.full(3, 1.00005), FLOAT32, True),
        (np.full(3, 1.0), np.full(3, 1.005), FLOAT16, True),
        (np.full(3, 1.0, np.float32), np.full(3, 1.005, np.float32), FLOAT32, False),
        # Beside a large one, a small element is as exact as sums with it are.
        (np.float32([1000, 1]), np.float32([1000, 1.01]), CONVERTED, True),
        (np.float32([1000, 1]), np.float32([1000, 1.05]), CONVERTED, False),
        (np.float32([np.inf]), np.float32([-np.inf]), CONVERTED, False),
        (np.float32([np.nan]), np.float32([np.nan]), EXACT, True),
    ],
)
def test_named_tolerances(wanted: Any, got: Any, tolerance: Tolerance, is_equal: bool) -> None:
    assert (compare(wanted, got, tolerance) is None) == is_equal


def test_a_result_is_as_exact_where_it_is_nearly_0_as_elsewhere() -> None:
    wanted, got = np.float64([0.0]), np.float64([1e-16])
    assert compare(wanted, got, CONVERTED) is not None
    assert compare(wanted, got, CONVERTED, scale=1.0) is None
