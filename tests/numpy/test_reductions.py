"""Reductions, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.numpy.agreement import ALL, FLOATS, agrees, sample, some
from tests.numpy.every_argument import disagreements

#: Shapes and axes: none, one, several, counted from the end; without elements.
AXES: list[tuple[tuple[int, ...], Any]] = [
    ((), None),
    ((7,), None),
    ((7,), 0),
    ((3, 4), None),
    ((3, 4), -1),
    ((3, 4), ()),
    ((2, 3, 4), (0, 2)),
    ((2, 3, 4), 1),
    ((0,), None),
    ((0, 3), 0),
    ((0, 3), 1),
    ((3, 0), (0, 1)),
]


#: Element types of elements and of what they are added in.
TYPES = [
    ("uint8", "uint8"),
    ("int64", "float32"),
    ("float32", "float64"),
    ("float64", "int16"),
    ("bool", "bool"),
    ("float32", "complex64"),
]


def magnitude(x: np.ndarray[Any, Any]) -> float:
    """What a sum of these may cancel."""
    size = np.abs(x.astype(np.clongdouble))
    return float(size[np.isfinite(size)].sum())


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["sum", "prod", "all", "any", "count_nonzero"])
def test_reduction(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, AXES):
        for special in (False, True):
            x = sample(dtype, shape, special=special)
            agrees(name, x, axis=axis, keepdims=special, scale=magnitude(x) if name == "sum" else 0)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["max", "min", "ptp"])
def test_extreme(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, AXES):
        for special in (False, True):
            agrees(
                name,
                sample(dtype, shape, special=special),
                axis=axis,
                keepdims=special,
                recorded=0 not in shape,
            )


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_initial_and_where(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, AXES):
        x, mask = sample(dtype, shape), sample("bool", shape[-1:])
        agrees(name, x, axis=axis, initial=2, scale=magnitude(x))
        agrees(name, x, axis=axis, initial=3, where=mask, scale=magnitude(x))
        if name in ("sum", "prod"):
            agrees(name, x, axis=axis, where=mask, scale=magnitude(x))
    agrees(name, sample(dtype, (3, 4)), where=np.array([True, False, True, True]))


@pytest.mark.parametrize("name", ["all", "any"])
def test_truth_where(name: str) -> None:
    for shape, axis in AXES:
        agrees(name, sample("float32", shape), axis=axis, where=sample("bool", shape[-1:]))


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_element_type_of_a_sum(name: str) -> None:
    for before, after in TYPES:
        x = sample(before, (3, 4), special=False)
        agrees(name, x, axis=0, dtype=after, exact=False, scale=magnitude(x))


def test_integers_are_added_exactly_and_wrap_around() -> None:
    large = np.array([[2**62, 2**62, 2**53, 1], [2**63 - 1, 1, -5, 7]])
    for x in (large, large.astype(np.uint64)):
        for axis in (None, 0, 1):
            agrees("sum", x, axis=axis)
            agrees("prod", x, axis=axis)


def test_many_fractions_are_added_as_exactly_as_numpy_does() -> None:
    rng = np.random.default_rng(1)
    for dtype in FLOATS:
        x = rng.random((300, 1000)).astype(dtype)
        for axis in (0, 1, None):
            agrees("sum", x, axis=axis, recorded=False)
            agrees("mean", x, axis=axis, recorded=False)


def test_results_go_into_an_array() -> None:
    x = np.arange(6.0).reshape(2, 3)
    out = xp.asarray(np.zeros(3))
    assert xp.sum(xp.asarray(x), axis=0, out=out) is out
    np.testing.assert_array_equal(np.asarray(out), x.sum(0))
    with pytest.raises(ValueError, match="shape"):
        xp.sum(xp.asarray(x), axis=1, out=out)
    with pytest.raises(TypeError, match="int64"):
        xp.sum(xp.asarray(x), axis=0, out=xp.asarray([1, 2, 3]))


def test_axes_that_are_none_are_refused() -> None:
    for axis in (2, (0, 0), -3, 1.5):
        agrees("sum", np.ones((2, 3)), axis=axis)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("reductions", {"sum": 1}) == []
