"""Stores that numpy refuses: a slice of the law, and the programs that showed it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import INT16
from onnxsmith.errors import OnnxsmithError, OutOfBoundsError, ShapeError
from tests.numpy.refused_stores import LAW


def test_the_first_stores_of_the_law_are_refused_and_stored_as_numpy_does() -> None:
    assert LAW.wrong(0, 300) == []


def _item(a: Any) -> Any:
    a = a.copy()
    a[0] = a.sum()
    return a


def _all(a: Any) -> Any:
    a = a.copy()
    a[...] = a.sum()
    return a


def _slice(a: Any) -> Any:
    a = a.copy()
    a[1:] = a.sum()
    return a


def _fill(a: Any) -> Any:
    a = a.copy()
    a.fill(a.sum())
    return a


@pytest.mark.parametrize("function", [_item, _all, _slice, _fill])
def test_a_sum_that_is_out_of_bounds_is_not_stored(function: Any) -> None:
    great, small = np.array([30_000, 30_000], np.int16), np.array([1, 2], np.int16)
    with pytest.raises(OverflowError):
        function(great)
    with pytest.raises(OutOfBoundsError, match=r"int64\(60000\) is out of bounds for int16"):
        function(xp.asarray(great))
    np.testing.assert_array_equal(np.asarray(function(xp.asarray(small))), function(small))
    jitted = xp.jit(function)
    np.testing.assert_array_equal(jitted(small), function(small))
    with pytest.raises(OverflowError):
        jitted(great)
    model = xp.to_model(function, INT16["N"])
    np.testing.assert_array_equal(model(small), function(small))
    with pytest.raises(OnnxsmithError, match="out of bounds"):
        model(great)


def test_an_array_without_dimensions_is_cast() -> None:
    a = xp.zeros(2, dtype=xp.int8)
    a[0] = xp.asarray(300)
    a[[1]] = xp.asarray([300])[0]
    assert a.tolist() == [44, 44]


def test_an_element_is_one_number() -> None:
    a = xp.zeros(2)
    with pytest.raises(ShapeError):
        a[0] = [1.0, 2.0]
    with pytest.raises(ShapeError):
        a.fill([1.0, 2.0])


def test_flat_is_shared_however_the_elements_lie() -> None:
    for a in (xp.asarray(np.zeros((2, 3))), np.zeros((2, 3))):
        a.T.flat[1] = 5
        assert float(a[1, 0]) == 5


def test_flat_repeats_values() -> None:
    for a in (xp.zeros((2, 2)), np.zeros((2, 2))):
        a.flat = [1, 2, 3]
        assert np.asarray(a).tolist() == [[1, 2], [3, 1]]


def _inserted(a: Any, n: Any) -> Any:
    return np.insert(a, 0, n)


def _padded(a: Any, n: Any) -> Any:
    return np.pad(a, 1, constant_values=n)


def _copied(a: Any, n: Any) -> Any:
    a = a.copy()
    np.copyto(a, n)
    return a


def _ranged(a: Any, n: Any) -> Any:
    return np.arange(n, n + len(a), dtype=a.dtype)


def _collected(a: Any, n: Any) -> Any:
    return np.array([each * n for each in range(len(a))], a.dtype)


def _iterated(a: Any, n: Any) -> Any:
    return np.fromiter((n for _ in range(len(a))), a.dtype)


def _piecewise(a: Any, n: Any) -> Any:
    return np.piecewise(a, [a > 1], [n])


@pytest.mark.parametrize(
    "function", [_inserted, _padded, _copied, _ranged, _collected, _iterated, _piecewise]
)
def test_python_numbers_that_are_out_of_bounds_are_not_stored_by_functions(function: Any) -> None:
    a, jitted = np.array([1, 2, 3], np.int16), xp.jit(function)
    for n in (1, 2, 7):  # from the second value on, the model computes with the number
        np.testing.assert_array_equal(jitted(a, n), function(a, n))
    for n in (40_000, -70_000):
        with pytest.raises(OverflowError):
            function(a, n)
        with pytest.raises((OverflowError, OutOfBoundsError)):
            jitted(a, n)


def test_choices_take_python_numbers_in_the_type_of_the_arrays() -> None:
    a = np.array([1, 2], np.int16)
    found = xp.choose(xp.asarray([0, 1]), [xp.asarray(a), 4])
    assert found.dtype == np.choose([0, 1], [a, 4]).dtype == np.int16
