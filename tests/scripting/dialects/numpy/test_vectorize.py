"""`vectorize`, `np.vectorize` and `np.apply_along_axis` in numpy code give what numpy's give."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.errors import AttributeValueError, InputTypeError, MutationError
from tests.numpy.same_results import TOLERANCE, difference


def soft_threshold(x, level=0.5):
    if x > level:
        return x - level
    if x < -level:
        return x + level
    return 0.0


def newton_root(x):
    if x <= 0:
        return 0.0
    guess = x
    while abs(guess * guess - x) > 1e-9 * x:
        guess = (guess + x / guess) / 2
    return guess


def steps_to_one(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def both(x, y):
    return (x, y) if x < y else (y, x)


def grade(x):
    for k in range(4):
        if x < k - 2:
            return k
    return 9


def hypotenuse(x, y):
    return math.sqrt(x * x + y * y)


def sign(x):
    return np.sign(x) if x != 0 else 0.0


FUNCTIONS: list[tuple[Callable[..., Any], int, str]] = [
    (soft_threshold, 1, "f"),
    (newton_root, 1, "f"),
    (steps_to_one, 1, "i"),
    (both, 2, "f"),
    (both, 2, "i"),
    (grade, 1, "f"),
    (hypotenuse, 2, "f"),
    (sign, 1, "f"),
    (lambda x: x * 2 + 1, 1, "f"),
    (lambda x: x > 0, 1, "f"),
]


def _given(shape: tuple[int, ...], kind: str, dtype: Any, seed: int) -> Any:
    draw = np.random.default_rng(seed)
    if kind == "i":
        return draw.integers(1, 30, size=shape)
    return (draw.integers(-12, 13, size=shape) / 4).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("function", "count", "kind"), FUNCTIONS)
def test_it_gives_what_numpy_gives(function: Callable[..., Any], count: int, kind: str, dtype: Any):
    ours, numpys = xp.vectorize(function), np.vectorize(function)

    def calls(*arrays: Any) -> Any:
        return numpys(*arrays)

    jitted = xp.jit(calls)
    for shape in ((5,), (1,), (2, 3), ()):
        given = [_given(shape, kind, dtype, seed) for seed in range(count)]
        expected = numpys(*given)
        if shape == ():  # numpy gives arrays without dimensions, and numbers inside tuples of them
            assert np.allclose(np.asarray(ours(*given)), np.asarray(expected))
            continue
        tolerance = TOLERANCE[np.dtype(dtype).name]
        assert difference(expected, ours(*given), tolerance) is None
        assert difference(expected, jitted(*given), tolerance) is None


def test_arguments_are_broadcast():
    x, y = np.arange(3.0)[:, None], np.arange(4.0)
    assert difference(np.vectorize(both)(x, y), xp.vectorize(both)(x, y), 0) is None
    assert difference(np.vectorize(hypotenuse)(x, 2.0), xp.vectorize(hypotenuse)(x, 2.0), 1e-15) is None


def test_of_no_elements():
    # numpy refuses these without otypes, which it learns from the first element.
    assert xp.vectorize(soft_threshold)(np.zeros(0)).shape == (0,)
    assert xp.vectorize(soft_threshold, otypes=[np.float32])(np.zeros((0, 2))).dtype == np.float32


def test_otypes_decide():
    for otypes in ([float], "f", [np.int64]):
        x = np.array([0.25, 2.75])
        expected = np.vectorize(lambda x: x * 2, otypes=otypes)(x)
        assert difference(expected, xp.vectorize(lambda x: x * 2, otypes=otypes)(x), 0) is None


@pytest.mark.parametrize("excluded", [{1}, {"weights"}])
def test_what_is_excluded_comes_whole(excluded: set[Any]):
    def total(x, weights):
        s = 0.0
        for w in weights:
            s += w * x
        return s

    weights = np.array([1.0, 2.0])
    x = np.arange(3.0)
    if 1 in excluded:
        expected = np.vectorize(total, excluded=excluded)(x, weights)
        found = xp.vectorize(total, excluded=excluded)(x, weights)
    else:
        expected = np.vectorize(total, excluded=excluded)(x, weights=weights)
        found = xp.vectorize(total, excluded=excluded)(x, weights=weights)
    assert difference(expected, found, 1e-15) is None


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        (lambda a, b: np.dot(a, b), "(n),(n)->()"),
        (lambda a, b: a * b.sum(), "(n),(n)->(n)"),
        (lambda a, b: a if a.sum() > b.sum() else b, "(n),(n)->(n)"),
        (lambda a, b: (a.max(), b.min()), "(n),(n)->(),()"),
    ],
)
def test_a_signature_says_what_comes_together(function: Callable[..., Any], signature: str):
    draw = np.random.default_rng(0)
    ours = xp.vectorize(function, signature=signature)
    for shapes in (((4, 3), (4, 3)), ((2, 1, 3), (4, 3)), ((1, 3), (3,))):
        a, b = (draw.normal(size=each) for each in shapes)
        expected = np.vectorize(function, signature=signature)(a, b)
        assert difference(expected, ours(a, b), 1e-12) is None


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(
    "function",
    [
        lambda row: row.sum(),
        lambda row: row - row.min(),
        lambda row: row[0] if row[0] > row[-1] else row[-1],
        lambda row: np.stack([row, row * 2]),
        lambda row: np.cumsum(row)[::-1],
        lambda row: row[:2],
    ],
)
def test_along_an_axis(function: Callable[..., Any], axis: int):
    def applied(x):
        return np.apply_along_axis(function, axis, x)

    fast = xp.jit(applied)
    for shape in ((3, 4), (2, 2)):
        x = np.random.default_rng(0).normal(size=shape)
        assert difference(applied(x), fast(x), 1e-12) is None


def test_along_an_axis_with_arguments():
    def applied(x, by):
        return np.apply_along_axis(lambda row, k, scale=1: row[k] * scale, 1, x, 1, scale=by)

    x = np.arange(6.0).reshape(2, 3)
    assert difference(applied(x, 2.0), xp.jit(applied)(x, 2.0), 0) is None


def test_a_model_has_it_for_every_size():
    def model_code(x):
        return np.vectorize(soft_threshold)(x) * 2

    model = xp.to_model(model_code, DOUBLE["N"])
    for size in (1, 2, 9):
        x = np.random.default_rng(size).normal(size=size)
        np.testing.assert_array_equal(model(x), model_code(x))
    fast = model.optimize()
    assert "Loop" not in {each.op_type for each in fast.ir.graph.all_nodes()}
    np.testing.assert_array_equal(fast(x), model_code(x))


def test_types_that_depend_on_the_first_element_are_refused():
    def ramp(x):
        return x if x > 0 else 0

    with pytest.raises(InputTypeError, match="'ramp' returns an int on one path and a float on another"):
        xp.vectorize(ramp)(np.array([1.5, -1.0]))
    assert (
        difference(np.array([1.5, 0.0]), xp.vectorize(ramp, otypes=[float])(np.array([1.5, -1.0])), 0) is None
    )


def test_a_signature_of_other_arguments_is_refused():
    with pytest.raises(AttributeValueError, match="not one of 1 arguments"):
        xp.vectorize(lambda x: x, signature="(n),(n)->()")(np.ones(3))


SEEN: list[float] = []


def counted_in_a_list(x):
    count = [0]

    def weighted(v):
        count[0] += 1
        return v * count[0]

    return np.vectorize(weighted, otypes=[float])(x)


def counted_in_a_dict(x):
    counts = {"calls": 0}

    def weighted(v):
        counts["calls"] += 1
        return v * counts["calls"]

    return xp.vectorize(weighted)(x)


def counted_in_a_variable(x):
    count = 0

    def weighted(v):
        nonlocal count
        count += 1
        return v * count

    return np.vectorize(weighted, otypes=[float])(x)


def collected_outside(x):
    def kept(v):
        SEEN.append(v)
        return v

    return np.vectorize(kept, otypes=[float])(x)


def collected_along_an_axis(x):
    sums = []
    np.apply_along_axis(lambda row: sums.append(1) or row.sum(), 0, x)
    return len(sums)


def by_signature(x):
    count = [0]

    def weighted(row):
        count[0] += 1
        return row.sum() * count[0]

    return np.vectorize(weighted, signature="(n)->()")(x)


@pytest.mark.parametrize(
    "function",
    [
        counted_in_a_list,
        counted_in_a_dict,
        counted_in_a_variable,
        collected_outside,
        collected_along_an_axis,
        by_signature,
    ],
)
def test_what_changes_from_element_to_element_is_refused(function: Callable[..., Any]):
    with pytest.raises(MutationError) as caught:
        xp.jit(function)(np.array([1.0, 2.0, 3.0]))
    assert "test_vectorize.py" in str(caught.value)
    assert not SEEN


def test_a_vectorized_function_changes_nothing_outside():
    @xp.vectorize
    def kept(v):
        SEEN.append(v)
        return v

    with pytest.raises(MutationError, match="'SEEN' is changed"):
        kept(np.array([1.0, 2.0]))
    assert not SEEN


def test_what_one_call_makes_it_may_change():
    def doubled(v):
        parts = [v]
        parts.append(v)
        return sum(parts)

    given = np.array([1.0, -2.0])
    np.testing.assert_array_equal(xp.vectorize(doubled)(given), 2 * given)


def roots(x):
    def root(v):
        if v < 0:
            raise ValueError("a negative number")
        if v > 100:
            raise KeyError("a large number")
        return v**0.5

    return np.vectorize(root, otypes=[float])(x)


def shares(x):
    def share(row):
        if row.sum() <= 0:
            raise ValueError("nothing to share")
        return row / row.sum()

    return np.apply_along_axis(share, 0, x)


def roots_between_errors(x):
    if x.sum() > 1000:
        raise TypeError("before")
    found = roots(x)
    if x.sum() > 20:
        raise TypeError("after")
    return found


def roots_in_a_loop(x):
    total = 0.0
    for v in x:
        total = total + roots(x - v + 2).sum()
    return total


@pytest.mark.parametrize("function", [roots, shares, roots_between_errors, roots_in_a_loop])
@pytest.mark.parametrize(
    "given", [[1.0, 2.0], [1.0, -2.0], [200.0, 1.0, -1.0], [-1.0, 200.0], [9.0, 16.0], [900.0, 900.0]]
)
def test_it_raises_what_the_first_element_raises_that_does(function: Callable[..., Any], given: list[float]):
    def outcome(called: Callable[..., Any]) -> Any:
        try:
            return called(np.array(given))
        except (ValueError, KeyError, TypeError) as error:
            return repr(error)

    wanted, found = outcome(function), outcome(xp.jit(function))
    if isinstance(wanted, str):
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_one_that_raises_for_every_element_is_refused():
    def fails(v):
        raise ValueError("never")

    with pytest.raises(InputTypeError, match="for every element: ValueError: never"):
        xp.vectorize(fails)(np.array([1.0]))


@pytest.mark.parametrize(
    "function", [lambda x: 1 / x, lambda x: x**-1.0, lambda x: 2.0 // x, lambda x: 2.0 % x]
)
def test_elements_raise_what_numbers_of_pythons_raise(function: Callable[..., Any]):
    with pytest.raises(ZeroDivisionError), np.errstate(all="ignore"):
        np.vectorize(function)(np.array([2.0, 0.0]))
    vectorized = xp.vectorize(function)
    with pytest.raises(ZeroDivisionError):
        vectorized(np.array([2.0, 0.0]))
    x = np.array([2.0, 4.0])
    np.testing.assert_array_equal(vectorized(x), np.vectorize(function)(x))
