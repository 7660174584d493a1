"""The options and methods of universal functions are numpy's: what they give, and what they refuse."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith
import onnxsmith.numpy as xp
from onnxsmith import opset21 as op
from onnxsmith.errors import InputTypeError, OnnxsmithError

A = np.arange(6.0).reshape(2, 3)
I8 = np.array([1, 2, 100], np.int8)
Z = np.array([[1 + 2j, -1j], [0, 3]])
EMPTY = np.zeros((0, 3))


def _put(m: Any, z: Any) -> Any:
    m.logical_and.at(z, [0], 3)
    m.less_equal.at(z, (0, [1]), 2)
    return z


#: What is computed with numpy (`m`) on numpy's arrays, and with ours on ours.
CASES: dict[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "out": lambda m, a: m.add(a(A), 1, out=a(np.zeros((2, 3)))),
    "out behind the inputs": lambda m, a: m.add(a(A), 1, a(np.zeros((2, 3)))),
    "out that is larger": lambda m, a: m.add(a(A[0]), 1, out=a(np.zeros((2, 3)))),
    "out that is smaller": lambda m, a: m.add(a(A), 1, out=a(np.zeros(3))),
    "out of another type": lambda m, a: m.add(a(I8), 1, out=a(np.zeros(3, np.float32))),
    "out of a type that is too small": lambda m, a: m.add(a(A[0]), 1, out=a(np.zeros(3, int))),
    "unsafe out": lambda m, a: m.add(a(A[0] + 0.5), 1, out=a(np.zeros(3, int)), casting="unsafe"),
    "equivalent types of a number": lambda m, a: m.add(a(A), 1.0, casting="equiv"),
    "types of a number that are not": lambda m, a: m.bitwise_xor(
        a(np.array([7], np.uint64)), 2, casting="equiv"
    ),
    "a fraction beside an equivalent number": lambda m, a: m.add(a(A), 1, casting="equiv"),
    "integers are compared": lambda m, a: m.equal(a(np.array([7], np.uint64)), 7, casting="equiv"),
    "complex numbers as real ones": lambda m, a: m.add(a(Z), 1, dtype="float32", casting="unsafe"),
    "reduced as real ones": lambda m, a: m.multiply.reduce(a(Z), dtype="int8"),
    "accumulated as real ones": lambda m, a: m.fmin.accumulate(a(Z), dtype="int8"),
    "reduced in parts as real ones": lambda m, a: m.add.reduceat(a(Z), [0, 1], dtype="float32"),
    "truth values where complex numbers are": lambda m, a: _put(m, a(Z.copy())),
    "two outs": lambda m, a: m.divmod(a(A), 2, out=(a(np.zeros((2, 3))), a(np.zeros((2, 3))))),
    "one out of two": lambda m, a: m.divmod(a(A), 2, out=(a(np.zeros((2, 3))), None)),
    "where and out": lambda m, a: m.add(a(A), 1, where=a(A) > 2, out=a(np.full((2, 3), 9.0))),
    "where that is broadcast": lambda m, a: m.sqrt(a(A), where=a(A[:, :1]) > 1, out=a(np.zeros((2, 3)))),
    "dtype": lambda m, a: m.add(a(A), 1, dtype=np.float32),
    "dtype that no loop has": lambda m, a: m.add(a(A), 1, dtype=np.int8),
    "signature": lambda m, a: m.add(a(I8), 1, signature="dd->d"),
    "casting no": lambda m, a: m.add(a(I8), a(A[0]), casting="no"),
    "an unknown option": lambda m, a: m.add(a(A), 1, axis=1),
    "too many": lambda m, a: m.add(a(A), 1, None, 2, 3),
    "too few": lambda m, a: m.add(a(A)),
    "vecdot along an axis": lambda m, a: m.vecdot(a(A), a(A), axis=0),
    "vecdot that keeps it": lambda m, a: m.vecdot(a(A), a(A), axis=0, keepdims=True),
    "matmul along axes": lambda m, a: m.matmul(a(A), a(A), axes=[(0, 1), (1, 0), (0, 1)]),
    "matmul with other axes out": lambda m, a: m.matmul(a(A), a(A.T), axes=[(0, 1), (0, 1), (1, 0)]),
    "matmul of what does not fit": lambda m, a: m.matmul(a(A), a(A)),
    "matmul of complex": lambda m, a: m.matmul(a(Z), a(Z)),
    "vecdot of complex": lambda m, a: m.vecdot(a(Z), a(Z)),
    "matvec": lambda m, a: m.matvec(a(A), a(A[0])),
    "vecmat": lambda m, a: m.vecmat(a(Z[0]), a(Z)),
    "an integer that does not fit": lambda m, a: a(I8) + 300,
    "compared with one": lambda m, a: a(I8) < 300,
    "compared with a huge one": lambda m, a: a(A) == 10**40,
    "compared the other way": lambda m, a: -(10**40) >= a(I8),
    "int64 beside uint64": lambda m, a: a(np.array([-1, 5])) < a(np.array([2**64 - 1, 4], np.uint64)),
    "power with a negative exponent": lambda m, a: a(I8) ** -1,
    "sums": lambda m, a: m.add.reduce(a(A)),
    "sums of small integers": lambda m, a: m.add.reduce(a(I8)),
    "sums of truth values": lambda m, a: m.add.reduce(a(A) > 2, axis=None),
    "sums of complex": lambda m, a: m.add.reduce(a(Z), axis=1),
    "sums with dtype": lambda m, a: m.add.reduce(a(I8), dtype=np.int8),
    "sums along none": lambda m, a: m.add.reduce(a(A), axis=()),
    "sums of nothing": lambda m, a: m.add.reduce(a(EMPTY)),
    "sums that keep axes": lambda m, a: m.add.reduce(a(A), axis=(0, 1), keepdims=True),
    "sums with a start": lambda m, a: m.add.reduce(a(A), axis=1, initial=10),
    "sums of some": lambda m, a: m.add.reduce(a(A), axis=1, where=a(A) > 1),
    "sums into": lambda m, a: m.add.reduce(a(A), axis=0, out=a(np.zeros(3))),
    "products": lambda m, a: m.multiply.reduce(a(A), axis=1),
    "products of nothing": lambda m, a: m.multiply.reduce(a(EMPTY)),
    "differences": lambda m, a: m.subtract.reduce(a(A), axis=1),
    "differences along two axes": lambda m, a: m.subtract.reduce(a(A), axis=(0, 1)),
    "the greatest": lambda m, a: m.maximum.reduce(a(np.where(A == 4, np.nan, A)), axis=1),
    "the greatest of complex": lambda m, a: m.maximum.reduce(a(Z), axis=0),
    "the greatest along two axes": lambda m, a: m.maximum.reduce(a(A), axis=(0, 1)),
    "the greatest of nothing": lambda m, a: m.maximum.reduce(a(EMPTY)),
    "the greatest of nothing with a start": lambda m, a: m.maximum.reduce(a(EMPTY), initial=-1.0),
    "the greatest of some": lambda m, a: m.maximum.reduce(a(A), axis=1, where=a(A) > 1, initial=2.5),
    "the greatest of some without a start": lambda m, a: m.maximum.reduce(a(A), axis=1, where=a(A) > 1),
    "the greatest number": lambda m, a: m.fmax.reduce(a(np.where(A > 3, np.nan, A)), axis=1),
    "all": lambda m, a: m.logical_and.reduce(a(A), axis=1),
    "all of none": lambda m, a: m.logical_and.reduce(a(EMPTY), axis=0),
    "bits": lambda m, a: m.bitwise_or.reduce(a(I8)),
    "common divisors": lambda m, a: m.gcd.reduce(a(np.array([12, 18, 27]))),
    "lengths": lambda m, a: m.hypot.reduce(a(A), axis=None),
    "lengths of nothing": lambda m, a: m.logaddexp.reduce(a(EMPTY)),
    "a function of one is not reduced": lambda m, a: m.sin.reduce(a(A)),
    "a function that gives two is not reduced": lambda m, a: m.divmod.reduce(a(A)),
    "an axis that is not there": lambda m, a: m.add.reduce(a(A), axis=2),
    "running sums": lambda m, a: m.add.accumulate(a(A), axis=1),
    "running sums of small integers": lambda m, a: m.add.accumulate(a(I8)),
    "running sums of float16": lambda m, a: m.add.accumulate(a(A.astype(np.float16))),
    "running products": lambda m, a: m.multiply.accumulate(a(A + 1)),
    "running products of complex": lambda m, a: m.multiply.accumulate(a(Z), axis=1),
    "running greatest of nothing": lambda m, a: m.maximum.accumulate(a(EMPTY)),
    "sums of parts": lambda m, a: m.add.reduceat(a(A), [0, 2, 1], axis=1),
    "parts out of bounds": lambda m, a: m.add.reduceat(a(A), [0, 3], axis=1),
    "each with each": lambda m, a: m.multiply.outer(a(A), a(A[0])),
    "each with a number": lambda m, a: m.subtract.outer(a(A[0]), 2),
    "outer of a function of one": lambda m, a: m.sin.outer(a(A), a(A)),
}


def _outcome(case: Callable[[Any, Any], Any], namespace: Any, make: Callable[[Any], Any]) -> Any:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            return case(namespace, make)
    except Exception as error:
        return error


@pytest.mark.parametrize("name", CASES)
def test_calls(name: str) -> None:
    wanted = _outcome(CASES[name], np, np.array)
    got = _outcome(CASES[name], xp, xp.asarray)
    if isinstance(wanted, Exception):
        assert isinstance(got, OnnxsmithError), got
        kinds = (TypeError, ValueError, OverflowError, IndexError)
        assert isinstance(got, kinds)
        return
    for mine, theirs in zip(
        *[each if isinstance(each, tuple) else (each,) for each in (got, wanted)], strict=True
    ):
        assert np.asarray(mine).dtype == np.asarray(theirs).dtype
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=1e-14)


def test_an_array_that_is_written_to_is_the_result() -> None:
    out = xp.asarray([0.0, 0.0])
    assert xp.add(xp.asarray([1.0, 2.0]), 1, out=out) is out
    assert out.tolist() == [2, 3]


def test_in_place_operators_write_through_views() -> None:
    def program(m: Any, a: Any) -> Any:
        x = a(np.arange(6.0))
        part = x[1:4]
        part *= 10
        x += x[::-1]
        part[0] -= 1
        x //= 2
        return x

    np.testing.assert_array_equal(np.asarray(program(xp, xp.asarray)), program(np, np.array))


def test_an_integer_array_takes_no_fractions_in_place() -> None:
    x = xp.asarray([1, 2])
    with pytest.raises(InputTypeError, match="'same_kind'"):
        x += 1.5
    assert x.tolist() == [1, 2]


def test_at_computes_as_often_as_an_index_says() -> None:
    def program(m: Any, a: Any) -> Any:
        x = a(np.arange(8.0).reshape(2, 4))
        m.add.at(x, (0, [1, 1, 3]), a(np.array([1.0, 2.0, 3.0])))
        m.multiply.at(x, (slice(None), 2), 5)
        m.negative.at(x, (1, [0]))
        z = a(Z)
        m.subtract.at(z, 0, a(np.array([1j, 1])))
        return x, z

    for mine, theirs in zip(program(xp, xp.asarray), program(np, np.array), strict=True):
        np.testing.assert_array_equal(np.asarray(mine), theirs)


def test_functions_of_numpy_on_our_arrays_are_ours() -> None:
    x: Any = xp.asarray(A)
    out: Any = xp.asarray(np.zeros((2, 3)))
    for made, wanted in (
        (np.add(x, 1), A + 1),
        (np.ones(3) + x, A + 1),
        (np.float64(2) * x, A * 2),
        (np.add.reduce(x, axis=1), A.sum(1)),
        (np.multiply.outer(x, np.arange(2)), np.multiply.outer(A, np.arange(2))),
        (np.maximum.accumulate(x, axis=0), A),
        (np.sqrt(x, out=out), np.sqrt(A)),
    ):
        assert isinstance(made, xp.Array)
        np.testing.assert_allclose(np.asarray(made), wanted)


def test_what_crosses_over_without_saying_so_is_refused() -> None:
    x: Any = xp.asarray([1.0, 2.0])
    tensor = onnxsmith.tensor([1.0, 2.0])
    with pytest.raises(InputTypeError, match="out= is ndarray"):
        np.add(x, 1, out=np.zeros(2))
    with pytest.raises(InputTypeError, match="no dates"):
        np.isnat(x)
    with pytest.raises(InputTypeError) as caught:
        xp.add(tensor, 1)
    assert "xp.asarray(tensor)" in str(caught.value)
    with pytest.raises(InputTypeError) as caught:
        op.Neg(x)
    assert "x.tensor" in str(caught.value)
