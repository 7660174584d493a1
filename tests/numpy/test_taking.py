"""Elements at places, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import BOOL, DOUBLE, trace
from onnxsmith.errors import AttributeValueError, TensorIndexError
from tests.numpy.agreement import ALL, agrees, sample
from tests.numpy.every_argument import disagreements


@pytest.mark.parametrize("dtype", ALL)
def test_take(dtype: str) -> None:
    x = sample(dtype, (3, 4))
    for axis in (0, 1, None):
        for index in (np.array([2, 0, -1]), np.array(1), np.array([[0, 1]]), np.zeros(0, np.int64)):
            agrees("take", x, index, axis=axis)
        for mode in ("wrap", "clip"):
            agrees("take", x, np.array([5, -7, 1]), axis=axis, mode=mode)
    agrees("take", x, np.array([3]), axis=0)
    agrees("take", x, np.array([0.5]), axis=0)
    agrees("take", x[:0], np.array([0]), axis=0)


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 0), None), ((2, 0), 1), ((0, 2), 0), ((0, 2), -1), ((0,), 0)]
)
def test_take_nothing_from_no_elements(shape: tuple[int, ...], axis: int | None, mode: str) -> None:
    x = np.zeros(shape)
    agrees("take", x, [], axis=axis, mode=mode)
    agrees("take", x, np.zeros((2, 0), np.int64), axis=axis, mode=mode)

    def taken(a: Any, places: Any) -> Any:
        return np.take(a, places, axis=axis, mode=mode)

    places = np.zeros(0, np.int64)
    np.testing.assert_array_equal(xp.jit(taken)(x, places), taken(x, places), strict=True)


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_take_along_axis(dtype: str) -> None:
    x = sample(dtype, (3, 4))
    agrees("take_along_axis", x, np.argsort(x, axis=1), axis=1)
    agrees("take_along_axis", x, np.array([[0, 1, 2, 0]]), axis=0)
    agrees("take_along_axis", x, np.array([[0, -1]]), axis=1)
    agrees("take_along_axis", x[:, :1], np.array([[0, 1, 2, 0]]), axis=0)
    agrees("take_along_axis", x, np.array([0, 11]), axis=None)
    agrees("take_along_axis", x, np.array([[4]]), axis=1)
    agrees("take_along_axis", x, np.array([0]), axis=1)


def _written(name: str, dtype: str, *args: Any, **kwargs: Any) -> None:
    theirs = sample(dtype, (3, 4))
    ours = xp.asarray(theirs)
    view = ours[1:]
    getattr(np, name)(theirs, *args, **kwargs)
    getattr(xp, name)(ours, *args, **kwargs)
    np.testing.assert_array_equal(np.asarray(ours), theirs)
    np.testing.assert_array_equal(np.asarray(view), theirs[1:])


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_put(dtype: str) -> None:
    _written("put_along_axis", dtype, np.array([[1], [0], [3]]), 7, axis=1)
    _written("put_along_axis", dtype, np.array([[1, 0, 2, 1]]), np.arange(4)[None], axis=0)
    _written("put_along_axis", dtype, np.array([1, 9]), 5, axis=None)
    _written("put", dtype, [0, -1, 5], [1, 2])
    _written("put", dtype, [100, -100], 3, mode="clip")
    _written("put", dtype, [13, -1], [3, 4], mode="wrap")
    with pytest.raises(IndexError):
        xp.put(xp.zeros(3), [3], 1)


@pytest.mark.parametrize(
    ("places", "values"),
    [
        ([[0]], np.array([[1], [2]])),
        ([[5]], np.array([[1], [2]])),  # the shapes come first
        ([[0, 1], [1, 0]], np.array([1, 2])),  # and of these that of the places
        ([[0, 1, 2], [2, 1, 0]], np.ones((2, 1, 3), np.int64)),
    ],
)
def test_values_along_an_axis_that_do_not_fit_are_refused(places: Any, values: Any) -> None:
    def put(a: Any, places: Any, values: Any) -> Any:
        np.put_along_axis(a, places, values, 0)
        return a

    given = np.arange(6.0).reshape(2, 3), np.array(places), values
    with pytest.raises((ValueError, IndexError)) as theirs:
        put(given[0].copy(), *given[1:])
    with pytest.raises(type(theirs.value)):
        xp.jit(put)(*given)
    with pytest.raises((AttributeValueError, TensorIndexError)) as ours:
        xp.put_along_axis(xp.asarray(given[0]), *given[1:], 0)
    assert isinstance(ours.value, type(theirs.value))


def test_values_along_an_axis_have_leading_dimensions_of_size_1() -> None:
    _written("put_along_axis", "float64", np.array([[1, 0, 2, 1]]), np.arange(4)[None, None], axis=0)


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex64"])
def test_place(dtype: str) -> None:
    for shape in ((5,), (2, 3), (0,), ()):
        for count in (1, 2, 7):
            x, mask = np.asarray(sample(dtype, shape)), np.asarray(sample("bool", shape))
            values = sample(dtype, (count,), 3, special=False)
            mine = xp.asarray(x)
            xp.place(mine, xp.asarray(mask), xp.asarray(values))
            np.place(x, mask, values)
            np.testing.assert_array_equal(np.asarray(mine), x)


def test_place_refuses_what_numpy_does() -> None:
    x = xp.asarray([1.0, 2.0])
    with pytest.raises(ValueError, match="does not fit"):
        xp.place(x, xp.asarray([True]), [1.0])
    with pytest.raises(ValueError, match="no values"):
        xp.place(x, xp.asarray([True, False]), xp.asarray([]))
    with pytest.raises(TypeError, match="only an array"):
        xp.place([1.0], [True], [2.0])  # pyright: ignore[reportArgumentType]  # the mistake


def test_place_recorded() -> None:
    def placed(x: Any, mask: Any) -> Any:
        made = xp.asarray(x).copy()
        xp.place(made, xp.asarray(mask), [7.0, 8.0])
        return made.tensor

    model = trace(placed, DOUBLE["N"], BOOL["N"])
    for count in (5, 1, 0):
        x, mask = sample("float64", (count,)), sample("bool", (count,))
        wanted = x.copy()
        np.place(wanted, mask, [7.0, 8.0])
        np.testing.assert_array_equal(model(x, mask), wanted)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("taking") == []
