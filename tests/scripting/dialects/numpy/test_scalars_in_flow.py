"""Numbers of numpy's that a branch or a loop of the model changes: they go on computing as numpy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import LoopTypeError, TensorAssignmentError
from tests.scripting.dialects.numpy.agreeing import check

X = np.array([1.0, 2.0, -3.0])
KINDS = (np.bool_, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64)


def share(x):
    hits = np.int64(0)
    count = np.int64(0)
    for v in x:
        count += 1
        if v > 0:
            hits += 1
    return hits / count


def of_a_choice(x):
    n = np.int64(-7) if x[0] > 0 else np.int64(7)
    return n / 2, n // 2, n + np.float32(0.1)


def counted_by_while(x):
    n = np.int64(3)
    while n < x[1] * 10:
        n = n + 1
    return n / 2


def returned_early(x):
    for v in x:
        if v > 1:
            return np.int16(3)
    return np.int16(4)


def in_a_tuple(x):
    a, b = np.int64(1), np.int64(2)
    for _ in x:
        a, b = b, a + b
    return b / a


def none_at_first(x):
    n = None
    for v in x:
        if v > 1:
            n = np.int64(3)
    return 0 if n is None else n / 2


def counted_by_a_function(x):
    n = np.int64(0)

    def count():
        nonlocal n
        n += 1

    for _ in x:
        count()
    return n / 2


@pytest.mark.parametrize(
    "function",
    [
        share,
        of_a_choice,
        counted_by_while,
        returned_early,
        in_a_tuple,
        none_at_first,
        counted_by_a_function,
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_numbers_of_numpys_stay_such(function: Callable[..., Any], dtype: Any):
    check(function, X.astype(dtype))


@pytest.mark.parametrize("kind", KINDS)
def test_every_element_type_keeps_its_meaning(kind: Any):
    """The law: after a branch, and after a loop, a number is what it is without them."""

    def chosen(x):
        n = kind(1) if x[0] > 0 else kind(0)
        return n, n / 2, n + 1, n * x

    def carried(x):
        n = kind(0)
        for v in x:
            if v > 1:
                n = kind(1)
        return n, n / 2, n + 1, n * x

    check(chosen, X)
    check(chosen, -X)
    check(carried, X)


def test_what_is_the_same_on_both_paths_stays_known():
    def function(x):
        if x[0] > 0:
            n, y = np.int64(2), x
        else:
            n, y = np.int64(2), -x
        return y.reshape(n, 2)

    model = xp.to_model(function, xp.asarray(np.ones(4)))
    assert model.outputs[0].type.shape == (2, 2)


# -- comparisons -----------------------------------------------------------------------------------------------


def between(x):
    return 0 < x[0] < 2, (0 < x[0] < 2) + 1, x * (0 < x[0] < 2), 0 < x[0] < x[1] < 5


def between_as_elements(x):
    return np.sum([0 < v < 2 for v in x]), 0 < 1 < x, 0 < x[:1] < 2


def between_beside_sizes(x):
    return 0 < len(x) < x[0] + 10


def truths_of_both_kinds(x):
    return (float(x[0]) > 1) != (x[1] > 0), (x[1] > 0) == (float(x[0]) > 1), (float(x[0]) > 1) + (x[1] > 0)


@pytest.mark.parametrize(
    "function", [between, between_as_elements, between_beside_sizes, truths_of_both_kinds]
)
@pytest.mark.parametrize("values", [X, -X, np.array([1, 2, 3])])
def test_comparisons_give_numbers_of_numpys(function: Callable[..., Any], values: Any):
    check(function, values)


# -- ranges ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_a_range_counts_to_a_number_of_numpys(kind: Any):
    def function(x):
        total = x[0] * 0
        for i in range(x.astype(kind)[1]):
            total += i
        for i in range(np.argmax(x), kind(5)):
            total += i
        n = kind(3) if x[0] > 0 else kind(2)
        for i in range(0, n, kind(2)):
            total += i
        return total

    check(function, np.array([1.0, 2.0, 4.0]))


def test_a_range_refuses_fractions():
    def function(x):
        total = 0
        for i in range(x[0]):
            total += i
        return total

    with pytest.raises(LoopTypeError, match="range needs integers"):
        xp.jit(function)(X)


# -- Python numbers that elements replace ----------------------------------------------------------------------


def smallest(x):
    best = np.inf
    for i in range(len(x)):
        if x[i] < best:
            best = x[i]
    return best


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_infinity_takes_the_type_of_the_elements(dtype: Any):
    check(smallest, X.astype(dtype))


def test_a_start_that_the_element_type_lacks_is_refused():
    with pytest.raises(LoopTypeError, match=r"'best' is a Python float or an array of int64") as caught:
        xp.jit(smallest)(np.array([3, 1, 2]))
    assert "best = x[0]" in str(caught.value.help)

    def started(x):
        best = x.dtype.type(100)
        for v in x:
            if v < best:
                best = v
        return best

    check(started, np.array([3, 1, 2]))


# -- arrays from around the function ---------------------------------------------------------------------------

FIRST, SECOND = np.array([1, 2]), np.array([3, 4])


def chosen_from_outside(x):
    n = FIRST if x[0] > 0 else SECOND
    return n / 2


def started_from_outside(x):
    n, m = FIRST, (FIRST, np.int64(5))
    for v in x:
        n = n + 1
        if v > 1:
            m = (SECOND, np.int64(6))
    return n / 2, m[0] / 2, m[1] / 2


def returned_from_outside(x):
    for v in x:
        if v > 1:
            return FIRST
    return SECOND


@pytest.mark.parametrize("function", [chosen_from_outside, started_from_outside, returned_from_outside])
def test_arrays_from_outside_compute_as_numpy_does(function: Callable[..., Any]):
    check(function, X)


def test_an_array_from_outside_is_not_written_to_behind_a_branch():
    def function(x):
        n = FIRST if x[0] > 0 else SECOND
        n[0] = 9
        return n

    with pytest.raises(TensorAssignmentError, match="lives outside the function"):
        xp.jit(function)(X)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_sums_of_every_element_type(kind: Any):
    """`CumSum`, which sums of loops may become, does not take all of them."""

    def function(x):
        n = kind(100)
        for _ in x:
            n = n + kind(1)
        return n, n / 2, np.cumsum(n)

    check(function, X)
