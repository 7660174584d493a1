"""Where numpy or Python refuses values, the model of plain numpy code does, with the same class of error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import BOOL, DOUBLE, INT64, UINT8
from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError
from tests.scripting.dialects.numpy.agreeing import same

NAN, INF = math.nan, math.inf
X = np.array([1.0, 2.0, 3.0])
NONE = np.zeros(0)
SINGULAR = np.ones((2, 2))


def masked(x, m):
    return x[m]


def masked_columns(x, m):
    return x[:, m]


def written_by_mask(x, m):
    x = x.copy()
    x[m] = 0.0
    return x


def added_by_mask(x, m):
    x = x.copy()
    x[m] += 1
    return x


def thirds(x):
    return np.split(x, 3)


def small(n):
    a = np.zeros(3, np.uint8)
    a[1] = n
    return a


def small_array(n):
    return np.array([n, 1], np.uint8)


def filled(n):
    return np.full(2, n, np.uint8)


def assigned_to_a_slice(x, y):
    x = x.copy()
    x[1:] = y
    return x


def shaped(x, n):
    return x.reshape(n)


def written_to(x, y):
    out = y.copy()
    np.sqrt(x, out=out)
    return out


def plus(a, n):
    return a + n


def below(a, n):
    return a < n


def float_written(f):
    a = np.zeros(2, int)
    a[0] = f
    return a


def element_written(x):
    a = np.zeros(2, int)
    a[0] = x[0]
    return a


def power(a, b):
    return a**b


def whole(x):
    return int(x[0])


def floor(x):
    return math.floor(x[0])


def rounded(x):
    return round(x[0])


def root(x):
    return math.sqrt(x[0])


def logarithm(x):
    return math.log(x[0])


def exponential(x):
    return math.exp(x[0])


def cosine(x):
    return math.cos(x[0])


def arcsine(x):
    return math.asin(x[0])


def quotient(f, g):
    return f / g


def floored(f, g):
    return f // g


def rest(f, g):
    return f % g


def share(x):
    return 1 / len(x)


def shifted(i, j):
    return 1 << (i - j)


def inverse(a):
    return np.linalg.inv(a)


def solution(a, b):
    return np.linalg.solve(a, b)


def factor(a):
    return np.linalg.cholesky(a)


def slopes(x):
    return np.gradient(x)


def binned(x, bins):
    return np.digitize(x, bins)


def counted(x):
    return np.histogram(x, bins=4)


def averaged(x, w):
    return np.average(x, weights=w)


def greatest(x):
    return np.max(x)


def least(x):
    return x.min()


def place(x):
    return x.argmax()


def rows(m):
    return m.max(axis=1)


def places_of_numbers(x):
    return np.nanargmin(x)


def chosen(k):
    return np.choose(k, [10, 20])


def tallied(k):
    return np.bincount(k)


def unravelled(k):
    return np.unravel_index(k, (2, 3))


def fraction(x, f):
    return np.quantile(x, f)


def over_a_helper(x):
    def helper(v):
        return math.sqrt(v)

    return helper(x[0]) + helper(x[1])


def in_a_loop(x):
    total = 0.0
    for v in x:
        total += math.sqrt(v)
    return total


def while_it_goes(x):
    i, total = 0, 0.0
    while i < len(x) and total < 100:
        total += math.log(x[i])
        i += 1
    return total


def on_one_path(x):
    if x[0] > 0:
        return math.log(x[1])
    return 0.5


def of_each(x):
    return np.vectorize(lambda v: math.sqrt(v) + 1)(x)


V, M, K, F, N = DOUBLE["N"], DOUBLE["N", "M"], INT64["N"], float, int
MASK = BOOL["K"]
CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...], tuple[tuple[Any, ...], ...]], ...] = (
    (
        masked,
        (V, MASK),
        tuple((X, np.array(m, bool)) for m in ([1, 0, 1], [1, 0], [1, 0, 0, 1], [1, 0, 1, 0], [])),
    ),
    (masked_columns, (M, MASK), tuple((SINGULAR, np.array(m, bool)) for m in ([1, 0], [1, 0, 0], [1]))),
    (written_by_mask, (V, MASK), tuple((X, np.array(m, bool)) for m in ([1, 0, 1], [1, 0], [1, 0, 0, 0]))),
    (added_by_mask, (V, MASK), tuple((X, np.array(m, bool)) for m in ([1, 0, 1], [1, 0], [1, 0, 0, 0]))),
    (thirds, (V,), ((np.arange(6.0),), (np.arange(7.0),), (NONE,))),
    (small, (N,), ((255,), (256,), (-1,), (0,))),
    (small_array, (N,), ((255,), (256,), (-1,), (0,))),
    (filled, (N,), ((255,), (256,), (-1,), (0,))),
    (assigned_to_a_slice, (V, DOUBLE["K"]), tuple((X[:n], X[:m]) for n in (2, 3) for m in (0, 1, 2, 3))),
    (shaped, (V, N), ((X, 3), (X, 2), (X, 0), (X, -1))),
    (written_to, (V, DOUBLE["K"]), tuple((X[:n], X[:m]) for n in (1, 3) for m in (1, 3))),
    (plus, (UINT8["K"], N), tuple((np.array([1, 2], np.uint8), n) for n in (3, 255, 256, -1))),
    (below, (UINT8["K"], N), tuple((np.array([1, 2], np.uint8), n) for n in (2, 255, 257, -1))),
    (float_written, (F,), ((1.5,), (-0.5,), (NAN,), (INF,), (1e30,), (-1e18,))),
    (element_written, (V,), tuple((np.array([f]),) for f in (1.5, NAN, -INF, 1e30))),
    (power, (K, K), tuple((np.array([2, 3]), np.array(b)) for b in ([1, 2], [-1, 2], [0, -3]))),
    (power, (F, F), ((2.0, 0.5), (0.0, -1.0), (1e300, 2.0), (INF, 2.0), (-2.0, 3.0), (NAN, 0.5))),
    (whole, (V,), tuple((np.array([f]),) for f in (1.7, -1.7, NAN, INF, -INF))),
    (floor, (V,), tuple((np.array([f]),) for f in (1.7, -1.7, NAN, INF))),
    (rounded, (V,), tuple((np.array([f]),) for f in (2.5, -1.7, NAN, INF))),
    (root, (V,), tuple((np.array([f]),) for f in (4.0, 0.0, -0.0, -1.0, NAN, INF, -INF))),
    (logarithm, (V,), tuple((np.array([f]),) for f in (4.0, 0.0, -1.0, NAN, INF))),
    (exponential, (V,), tuple((np.array([f]),) for f in (4.0, 1000.0, -1000.0, NAN, INF))),
    (cosine, (V,), tuple((np.array([f]),) for f in (4.0, INF, NAN))),
    (arcsine, (V,), tuple((np.array([f]),) for f in (1.0, 1.5, -2.0, NAN))),
    (quotient, (F, F), ((1.0, 2.0), (1.0, 0.0), (0.0, -0.0), (1.0, NAN))),
    (floored, (F, F), ((7.5, 2.0), (1.0, 0.0))),
    (rest, (F, F), ((7.5, 2.0), (1.0, 0.0))),
    (quotient, (N, N), ((7, 2), (1, 0))),
    (share, (V,), ((X,), (NONE,))),
    (shifted, (N, N), ((3, 1), (1, 3))),
    (inverse, (M,), ((np.eye(2),), (SINGULAR,), (np.ones((2, 3)),))),
    (solution, (M, V), ((2 * np.eye(2), np.ones(2)), (SINGULAR, np.ones(2)))),
    (factor, (M,), ((4 * np.eye(2),), (-np.eye(2),), (np.array([[1.0, 2.0], [2.0, 1.0]]),))),
    (slopes, (V,), ((X,), (np.ones(1),), (NONE,))),
    (binned, (V, DOUBLE["K"]), tuple((X, np.array(b)) for b in ([1.0, 2.0], [2.0, 1.0], [1.0, 3.0, 2.0]))),
    (counted, (V,), ((X,), (np.array([1.0, NAN]),), (np.array([1.0, INF]),))),
    (averaged, (V, V), ((X, X), (X, np.array([1.0, -1.0, 0.0])), (X, np.zeros(3)))),
    *((each, (V,), ((X,), (NONE,))) for each in (greatest, least, place)),
    (rows, (M,), ((SINGULAR,), (np.ones((2, 0)),), (np.ones((0, 2)),))),
    (places_of_numbers, (V,), ((np.array([NAN, 2.0]),), (np.array([NAN]),), (NONE,))),
    (chosen, (K,), tuple((np.array(k),) for k in ([0, 1], [2], [-1]))),
    (tallied, (K,), tuple((np.array(k),) for k in ([0, 2], [2, -1]))),
    (unravelled, (K,), tuple((np.array(k),) for k in ([0, 5], [6], [-1]))),
    (fraction, (V, F), ((X, 0.5), (X, 1.5), (X, -0.5))),
    (over_a_helper, (V,), ((X,), (np.array([1.0, -1.0]),))),
    (in_a_loop, (V,), ((X,), (NONE,), (np.array([1.0, -1.0, 2.0]),), (np.array([1.0, 2.0, -1.0]),))),
    (while_it_goes, (V,), ((X,), (NONE,), (np.array([1.0, 0.0, 2.0]),))),
    (on_one_path, (V,), ((X,), (np.array([1.0, 0.0]),), (np.array([-1.0, 0.0]),))),
    (of_each, (V,), ((X,), (np.array([1.0, -1.0, 2.0]),))),
)


@pytest.mark.parametrize(
    ("function", "types", "calls"), CASES, ids=lambda each: getattr(each, "__name__", "")
)
def test_both_refuse_or_agree(
    function: Callable[..., Any], types: tuple[Any, ...], calls: tuple[tuple[Any, ...], ...]
):
    jitted, model = xp.jit(function), xp.to_model(function, *types, verify=False)
    for given in calls:
        try:
            with np.errstate(all="ignore"):
                expected = function(*given)
        except Exception as error:
            # A runtime that fails before says so in its own words, with a class that is numpy's, too.
            with pytest.raises((type(error), OnnxsmithError)):
                jitted(*given)
            with pytest.raises(OnnxsmithError):
                model(*given)
        else:
            same(jitted(*given), expected)
            found = model(*given)
            several = found if isinstance(found, tuple) else (found,)
            wanted = expected if isinstance(expected, tuple | list) else (expected,)
            for one, other in zip(several, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize(("function", "given", "error"), [
    (masked, (X, np.array([True, False])), IndexError),
    (thirds, (np.arange(7.0),), ValueError),
    (whole, (np.array([NAN]),), ValueError),
    (whole, (np.array([INF]),), OverflowError),
    (root, (-X,), ValueError),
    (exponential, (1000 * X,), OverflowError),
    (quotient, (1.0, 0.0), ZeroDivisionError),
    (inverse, (SINGULAR,), np.linalg.LinAlgError),
    (averaged, (X, np.zeros(3)), ZeroDivisionError),
    (greatest, (NONE,), ValueError),
])  # fmt: skip
def test_jit_raises_the_class_that_numpy_raises(function: Callable[..., Any], given: Any, error: Any):
    with pytest.raises(error) as caught:
        xp.jit(function)(*given)
    assert type(caught.value) is error


def test_a_complex_power_is_refused():
    with pytest.raises(ValueError, match="a negative number to a fractional power is complex"):
        xp.jit(power)(-4.0, 0.5)


def test_an_error_of_a_value_that_a_try_would_catch_is_refused():
    def caught(x):
        try:
            return math.sqrt(x[0])
        except ValueError:
            return 0.0

    with pytest.raises(UnsupportedSyntaxError, match="only the model knows whether this is raised"):
        xp.jit(caught)(X)


def same_length(x):
    return x[x > 1], x[np.isnan(x)], (x**2).sum() / 2, x[x.argsort()[::-1]]


def reduced(m):
    return m.max(axis=1), m.argmin(axis=1), m[0] / 2.0, np.sqrt(m)


@pytest.mark.parametrize(
    ("function", "types"), [(same_length, (V,)), (reduced, (DOUBLE["N", 3],))], ids=["masks", "sizes"]
)
def test_what_cannot_be_wrong_is_not_checked(function: Callable[..., Any], types: Any):
    model = xp.to_model(function, *types, verify=False)
    assert "If" not in {node.op_type for node in model.proto.graph.node}
