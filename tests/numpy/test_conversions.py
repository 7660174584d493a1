"""Python numbers as elements: those that a type does not hold are refused as numpy refuses them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError

NUMBERS: list[Any] = [1, -1, 300, 2**63, 2**64 - 1, 1.5, float("nan"), float("inf"), 1e30, 1j, True]
DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float64", "complex64"]


def _assigned(namespace: Any, dtype: str, number: Any) -> Any:
    x = namespace.zeros(2, dtype=dtype)
    x[0] = number
    return x


def _assigned_list(namespace: Any, dtype: str, number: Any) -> Any:
    x = namespace.zeros(2, dtype=dtype)
    x[:] = [number, number]
    return x


WAYS: list[Callable[[Any, str, Any], Any]] = [
    _assigned,
    _assigned_list,
    lambda namespace, dtype, number: namespace.asarray(number, dtype=dtype),
    lambda namespace, dtype, number: namespace.asarray([number], dtype=dtype),
    lambda namespace, dtype, number: namespace.full(2, number, dtype=dtype),
    lambda namespace, dtype, number: namespace.full(2, number),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS, ids=range(len(WAYS)))
def test_as_numpy(way: Callable[[Any, str, Any], Any], dtype: str) -> None:
    for number in NUMBERS:
        try:
            expected = way(np, dtype, number)
        except (OverflowError, ValueError, TypeError):
            with pytest.raises(OnnxsmithError) as caught:
                way(xp, dtype, number)
            assert issubclass(caught.type, OverflowError | ValueError | TypeError)
            continue
        ours = np.asarray(way(xp, dtype, number))
        assert ours.dtype == expected.dtype, number
        np.testing.assert_array_equal(ours, expected, err_msg=str(number))


def test_types_that_arrays_go_into() -> None:
    kinds = ["int8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
    for first in kinds:
        for second in kinds:
            given = [np.ones(2, first), np.ones(2, second)]
            assert xp.common_type(*[xp.asarray(each) for each in given]) is np.common_type(*given)
        assert xp.min_scalar_type(xp.ones(3, first)) == np.min_scalar_type(np.ones(3, first))
    for number in (3, -3, 300, 2**40, 1.5, 1e300, 1j, True):
        assert xp.min_scalar_type(number) == np.min_scalar_type(number)
    with pytest.raises(TypeError, match="truth values"):
        xp.common_type(xp.asarray([True]))


@pytest.mark.parametrize("jitted", [False, True])
def test_complex_numbers_where_real_ones_are_needed_are_an_error_of_ours(jitted: bool) -> None:
    def ranked(x: Any) -> Any:
        return xp.linalg.matrix_rank(x, rtol=np.array([1j]))

    with pytest.raises(OnnxsmithError, match="real numbers are needed here, and these are complex128"):
        (xp.jit(ranked) if jitted else ranked)(xp.asarray(np.eye(3)))


#: Ways in which an element becomes a Python integer. A model computes with these as int64.
PYTHON_INTEGERS: list[Callable[[Any], Any]] = [
    lambda w: np.array([w[0].item()]),
    lambda w: np.full(2, w.item(0)),
    lambda w: np.array([int(w[0])]),
    lambda w: np.zeros(2, np.float64) + w.tolist()[0],
    lambda w: np.array([x + 0 for x in w.tolist()]),
    lambda w: np.array([sum(w.tolist())]),
    lambda w: np.array([max(w.tolist())]),
    lambda w: np.array([x.item() for x in w.flat]),
    lambda w: np.array([operator.index(w[0])]),
    lambda w: np.array([math.gcd(w[0].item(), 6)]),
    lambda w: np.vectorize(lambda t: t + 1)(w),
]


@pytest.mark.parametrize("convert", PYTHON_INTEGERS, ids=range(len(PYTHON_INTEGERS)))
def test_a_uint64_beyond_int64_becomes_no_python_integer_of_a_model(convert: Callable[[Any], Any]) -> None:
    jitted = xp.jit(convert)
    small = np.array([2**63 - 2], np.uint64)
    np.testing.assert_array_equal(jitted(small), convert(small))
    for large in (2**63, 2**64 - 1):
        with pytest.raises(OverflowError, match="64 bits with its sign"):
            jitted(np.array([large], np.uint64))


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], "Python objects"),
        ([1, 2], "Python objects"),
        ([1, 10**30], "past the 64 bits"),
        ([1, "a"], "not of str"),
    ],
)
def test_arrays_of_objects_are_refused_with_what_they_are(elements: list[Any], text: str) -> None:
    with pytest.raises(OnnxsmithError, match=text):
        xp.asarray(np.array(elements, object))


def test_an_option_may_have_no_hash() -> None:
    assert xp.jit(lambda x, span: x + 1)(np.ones(2), np.timedelta64(1)).tolist() == [2, 2]
