"""Mixed element types, Python numbers and shapes: which type is computed in is numpy's choice, and so is the result."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.dtypes import DTYPES
from onnxsmith.numpy.registry import UFUNCS

assert xp.add  # the namespace is filled when a name is first asked for
OWN = sorted({getattr(np, name).__name__ for name in UFUNCS})
BINARY = [name for name in OWN if getattr(np, name).nin == 2 and getattr(np, name).signature is None]
UNARY = [name for name in OWN if getattr(np, name).nin == 1]
SCALARS = (True, 2, 2.5, 1j)
SHAPES = (((), ()), ((3,), ()), ((2, 1), (3,)), ((0,), (1,)), ((2, 0, 3), (3,)), ((1,), (4, 1)))


def _check(name: str, *operands: Any) -> None:
    """The same of numpy and of ours; what numpy refuses is refused."""
    theirs, mine = getattr(np, name), getattr(xp, name)
    try:
        with np.errstate(all="ignore"):
            found = theirs(*operands)
    except (TypeError, ValueError, OverflowError):
        with pytest.raises(OnnxsmithError):
            mine(*[xp.asarray(each) if isinstance(each, np.ndarray) else each for each in operands])
        return
    made = mine(*[xp.asarray(each) if isinstance(each, np.ndarray) else each for each in operands])
    for got, want in zip(
        *[each if isinstance(each, tuple) else (each,) for each in (made, found)], strict=True
    ):
        got = np.asarray(got)
        assert (got.dtype, got.shape) == (want.dtype, want.shape), operands
        digits = (
            1e-2
            if want.dtype in (np.float16,)
            else 1e-5
            if want.dtype in (np.float32, np.complex64)
            else 1e-12
        )
        np.testing.assert_allclose(got, want, rtol=digits, atol=digits, err_msg=str(operands))


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_types(name: str) -> None:
    rng = np.random.default_rng(len(name))
    pairs = list(itertools.product(DTYPES, DTYPES))
    for k in rng.permutation(len(pairs))[:5]:
        first, second = pairs[k]
        _check(name, np.array([3, 1, 2]).astype(first), np.array([2, 3, 1]).astype(second))


@pytest.mark.parametrize("name", BINARY)
def test_python_numbers_are_weak(name: str) -> None:
    rng = np.random.default_rng(len(name))
    for scalar in SCALARS:
        for k in rng.permutation(len(DTYPES))[:1]:
            array = np.array([1, 0, 1] if isinstance(scalar, bool) else [3, 1, 2]).astype(DTYPES[k])
            _check(name, array, scalar)
            _check(name, scalar, array)


@pytest.mark.parametrize("name", UNARY)
def test_types_of_one(name: str) -> None:
    for dtype in DTYPES:
        _check(name, np.array([1, 0, 1]).astype(dtype))


@pytest.mark.parametrize("name", BINARY)
def test_shapes(name: str) -> None:
    code = next(each for each in ("dd", "ll", "di") if each in [loop[:2] for loop in getattr(np, name).types])
    rng = np.random.default_rng(3)
    for shapes in SHAPES:
        given = [
            rng.integers(1, 9, shape).astype(np.dtype(each)) for each, shape in zip(code, shapes, strict=True)
        ]
        _check(name, *[np.asarray(each) for each in given])


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_integers_past_64_bits_are_compared_as_numbers(name: str) -> None:
    """Both were taken for infinity, so that 2**70 was equal to 5."""
    ours, theirs = getattr(xp, name), getattr(np, name)
    pairs = [(2**70, 5), (5, 2**70), (2**70, 2**71), (2**70, 2**70), (-(2**70), 2**70), (10**400, 5)]
    for a, b in pairs:
        assert bool(ours(a, b)) == bool(theirs(a, b)), (name, a, b)
    assert np.asarray(ours(10**400, xp.asarray([1.0]))).tolist() == [
        name in ("not_equal", "greater", "greater_equal")
    ]


def test_an_option_of_a_comparison_past_64_bits_is_refused() -> None:
    """The comparison was begun again, without end, as if an operand was past them."""
    with pytest.raises(OnnxsmithError, match="past the 64 bits"):
        xp.greater_equal(True, 1j, where=10**400)
    assert np.asarray(xp.less(2**70, 2**71, where=xp.asarray([True]))).tolist() == [True]
