"""The greatest and the least and their places against numpy, over element types, NaN, infinities, ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import extremes
from onnxsmith.algorithms.complex_numbers.field import Field
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

NAN, INF = np.nan, np.inf
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64", "uint64", "bool")
AXES: list[tuple[int, ...]] = [(), (0,), (2,), (0, 2), (0, 1, 2)]


def _given(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    if dtype in FLOATS:
        ends = np.finfo(dtype)
        few = np.array([0.0, -0.0, 1.0, -1.5, ends.max, ends.min, INF, -INF, ends.tiny, NAN], dtype)
        few = few[:9] if rng.integers(2) else few
    elif dtype == "bool":
        few = np.array([False, True])
    else:
        ends = np.iinfo(dtype)
        few = np.array([0, 1, ends.max, ends.max - 1, ends.min, ends.min + 1], dtype)
    return rng.choice(few, (3, 4, 5))


@pytest.mark.parametrize("is_max", [False, True])
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_extremes(is_max: bool, axes: tuple[int, ...], dtype: str):
    x = _given(dtype)
    function = np.amax if is_max else np.amin
    for keepdims in (False, True):
        (found,) = computed(lambda x, k=keepdims: extremes.extreme(Field(x), axes, k, is_max=is_max).re, x)
        np.testing.assert_array_equal(found, function(x, axis=axes, keepdims=keepdims))


@pytest.mark.parametrize("is_max", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_places(is_max: bool, axis: int, dtype: str):
    x = _given(dtype)
    (found,) = computed(lambda x: extremes.extreme_place(Field(x), axis, is_max=is_max), x)
    np.testing.assert_array_equal(found, (np.argmax if is_max else np.argmin)(x, axis=axis, keepdims=True))


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinity_is_beyond_the_largest_number(dtype: str):
    x = np.array([np.finfo(dtype).max, INF, 1.0, -INF], dtype)
    (place,) = computed(lambda x: extremes.extreme_place(Field(x), 0, is_max=True), x)
    assert place == [1]
    (place,) = computed(lambda x: extremes.extreme_place(Field(-x), 0, is_max=False), x)
    assert place == [1]


@pytest.mark.parametrize("first", [NAN, INF, 2.0])
def test_the_first_that_is_no_number(first: float):
    x = np.array([[INF, first, NAN, NAN], [1.0, NAN, INF, first]], np.float32)
    for is_max, function in ((True, np.argmax), (False, np.argmin)):
        (found,) = computed(lambda x, m=is_max: extremes.extreme_place(Field(x), 1, is_max=m), x)
        np.testing.assert_array_equal(found, function(x, axis=1, keepdims=True))


@pytest.mark.parametrize("is_max", [False, True])
def test_complex_numbers(is_max: bool):
    parts = [0.0, 1.0, -1.0, INF, -INF]
    z = np.array([complex(a, b) for a in parts for b in parts]).reshape(5, 5)

    def both(re: Any, im: Any) -> Any:
        found = extremes.extreme(Field(re, im), [1], False, is_max=is_max)
        return found.re, found.im, extremes.extreme_place(Field(re, im), 1, is_max=is_max)

    re, im, place = computed(both, z.real.copy(), z.imag.copy())
    wanted = (np.max if is_max else np.min)(z, axis=1)
    np.testing.assert_array_equal(re, wanted.real)
    np.testing.assert_array_equal(im, wanted.imag)
    np.testing.assert_array_equal(place, (np.argmax if is_max else np.argmin)(z, axis=1, keepdims=True))


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("reductions", {"sum": 1}) == []
    assert disagreements("searching") == []
