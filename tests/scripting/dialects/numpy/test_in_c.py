"""Functions that numba compiles: the Python function behind them is staged."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import script


class _Dispatcher:
    """As numba's: it types its arguments, and takes no array of ours."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.__name__ = function.__name__
        self.owner = weakref.proxy(_Owner())  # whose object is gone

    def __call__(self, *args: Any) -> Any:
        if not all(isinstance(each, np.ndarray | float | int) for each in args):
            raise TypeError("Cannot determine Numba type")
        return self.py_func(*args)


class _Owner:
    pass


class _Universal:
    """As what `numba.vectorize` gives."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._dispatcher = _Dispatcher(function)

    def __call__(self, *args: Any) -> Any:
        raise TypeError("Cannot determine Numba type")


_Dispatcher.__module__ = "numba.core.registry"
_Universal.__module__ = "numba.np.ufunc.dufunc"


@_Dispatcher
def squares(x):
    s = 0.0
    for v in x:
        s += v * v
    return s


@_Universal
def clamped(a):
    if a > 1.5:
        return 1.5
    return a


def with_a_helper(x):
    return squares(x) + 1


def with_a_helper_in_a_loop(x):
    s = 0.0
    for i in range(len(x)):
        s += squares(x[: i + 1])
    return s


def with_a_helper_in_a_list(x):
    return [squares][0](x)


@pytest.mark.parametrize("function", [with_a_helper, with_a_helper_in_a_loop, with_a_helper_in_a_list])
def test_the_function_behind_a_dispatcher_is_staged(function: Callable[..., Any]) -> None:
    for size in (0, 1, 3):
        x = np.arange(float(size))
        assert xp.jit(function)(x) == function(x)


def test_a_universal_function_goes_through_the_elements() -> None:
    def called(x):
        return clamped(x)

    np.testing.assert_array_equal(xp.jit(called)(np.array([1.0, 2.0])), [1.0, 1.5])


def test_an_object_that_is_gone_is_not_asked() -> None:
    gone = {"here": weakref.proxy(_Owner())}

    @script
    def kept(x):
        if x[0] > 0:
            x = x + len(gone)
        return x

    np.testing.assert_array_equal(np.asarray(kept(np.array([1.0]))), [2.0])
