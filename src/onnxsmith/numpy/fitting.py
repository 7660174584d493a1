"""Checks that a number fits an element type: numpy raises an error where it does not.

A Python number is one of the type's elements or can be made one. Numbers of numpy's are converted in the same way where
they are assigned to a place. An array, with or without dimensions, is cast, and never refused.
"""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms import reductions, values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.demands import Refusal, demand
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import AttributeValueError, OutOfBoundsError
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.types.dtypes import DType


def require_fitting(value: Number, dtype: NumpyDType) -> None:
    """A Python number that elements of a type are given is one of them, or can be made one."""
    if dtype.kind not in "iu" or value.kind == "bool":
        return
    if value.kind == "float":
        _require_float(values.cast(value, DType.DOUBLE), dtype)
        return
    _require_integer(values.cast(value, DType.INT64), dtype, is_natural=value.is_natural)


def check_number(number: np.generic, dtype: NumpyDType) -> None:
    """Refuse a number of numpy's that numpy does not assign to elements of a type."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what becomes another number by a cast
            np.zeros(1, dtype)[0] = number
    except OverflowError as error:
        raise OutOfBoundsError(
            f"{number.dtype.name}({number}) is out of bounds for {dtype.name}: {error}",
            help="cast it: x[i] = v.astype(x.dtype); or make an array of a type that holds it",
        ) from None
    except ValueError as error:
        raise AttributeValueError(f"{number.dtype.name}({number}) is no {dtype.name}: {error}") from None


def require_number(number: Tensor, given: NumpyDType, dtype: NumpyDType) -> None:
    """The same of the real part of a dynamic number."""
    if dtype.kind != "i" or np.can_cast(given, dtype):  # numpy casts its numbers to unsigned integers
        return
    if given.kind in "fc":
        _require_float(op.Cast(number, to=DType.DOUBLE), dtype)
    elif given == np.uint64:
        most = np.uint64(np.iinfo(cast("np.dtype[np.int64]", dtype)).max)
        demand(lambda: _all(number <= most), _out_of_bounds(dtype))
    else:
        _require_integer(op.Cast(number, to=DType.INT64), dtype, is_natural=given.kind == "u")


def require_numbers(vector: Tensor, given: NumpyDType, dtype: NumpyDType, *, is_python: bool) -> None:
    """The same of all numbers of a vector, which are Python's or numpy's."""
    if not is_python:
        require_number(vector, given, dtype)
    elif dtype.kind in "iu" and given.kind in "fc":
        _require_float(op.Cast(vector, to=DType.DOUBLE), dtype)
    elif dtype.kind in "iu" and given.kind != "b":
        require_whole(op.Cast(vector, to=DType.INT64), dtype)


def require_whole(whole: Tensor, dtype: NumpyDType) -> None:
    """Python integers of the model are elements of a type of integers."""
    _require_integer(whole, dtype, is_natural=False)


def require_signed(natural: Tensor) -> None:
    """Elements of uint64 that become Python integers of the model, which have a sign, are below 2**63."""
    demand(
        lambda: _all(natural <= np.uint64(2**63 - 1)),
        OverflowError("an integer of a model has 64 bits with its sign, and this one is greater"),
    )


def _all(truth: Tensor) -> Tensor:
    return reductions.all_true(truth, list(range(values.rank_of(truth))), False)


def _require_float(given: Tensor, dtype: NumpyDType) -> None:
    limits = np.iinfo(cast("np.dtype[np.int64]", dtype))
    least = (
        np.float64(limits.min) - 1 if limits.min > -(2**63) else np.nextafter(np.float64(limits.min), -np.inf)
    )
    demand(
        lambda: _all((given > least) & (given < np.float64(limits.max) + 1)),
        Refusal(
            ValueError("cannot convert float NaN to integer"),
            lambda: ~_all(~op.IsNaN(given)),
        ),
        OverflowError(f"a Python float is out of bounds for {dtype.name}"),
    )


def _require_integer(whole: Tensor, dtype: NumpyDType, *, is_natural: bool) -> None:
    limits = np.iinfo(cast("np.dtype[np.int64]", dtype))
    parts: list[Any] = []
    if limits.min > -(2**63) and not (limits.min <= 0 and is_natural):
        parts.append(lambda: _all(whole >= limits.min))
    if limits.max < 2**63 - 1:
        parts.append(lambda: _all(whole <= limits.max))
    for each in parts:
        demand(each, _out_of_bounds(dtype))


def _out_of_bounds(dtype: NumpyDType) -> OverflowError:
    return OverflowError(f"a Python integer is out of bounds for {dtype.name}")
