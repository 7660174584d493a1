"""Functions over many combinations of arguments in jitted code: a part of the law, and what it found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from tests.numpy.jitted_arguments import LAW
from tests.scripting.dialects.numpy.agreeing import check


def test_the_first_calls_agree_with_numpy() -> None:
    assert LAW.wrong(0, 40) == []


def _placed(x: Any, mask: Any) -> Any:
    np.place(x, mask, [])
    return x


def _put(x: Any, places: Any) -> Any:
    np.put(x, places, [], mode="clip")
    return x


REFUSED: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (lambda x, out: np.round(x, -1, out=out), (np.zeros(1), np.zeros(3))),
    (lambda x, out: np.sum(x, axis=0, out=out), (np.zeros((2, 1)), np.zeros(4))),
    (lambda x, out: np.argmin(x, -2, out, keepdims=True), (np.zeros((3, 1)), np.zeros((3, 1), int))),
    (lambda x, weights: np.histogram(x, 2, weights=weights), (np.zeros((2, 3)), np.zeros(6))),
    (lambda x, weights: np.bincount(x, weights), (np.zeros(3, int), np.zeros((3, 1)))),
    (lambda x: np.linspace(x, 3, num=2, axis=1), (np.float64(2),)),
    (lambda x: np.linspace(x, 1j, 3, dtype=int), (np.float64(2),)),
    (lambda x: np.arange(0, x, dtype=bool), (np.float64(3),)),
    (lambda x: np.unpackbits(x, count=-30), (np.zeros(2, np.uint8),)),
    (lambda x: np.delete(x, [True, False, True], axis=1), (np.zeros((2, 1)),)),
    (_placed, (np.zeros(3), np.ones(3, bool))),
    (_put, (np.zeros((2, 0)), np.array([5]))),
)


@pytest.mark.parametrize(("function", "arguments"), REFUSED)
def test_what_numpy_refuses_is_refused_for_open_sizes(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011  # numpy has a class for each reason
        function(*arguments)
    with pytest.raises((OnnxsmithError, theirs.type)):
        xp.jit(function)(*arguments)


GIVEN: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (lambda x, n: np.linspace(x, 3, num=n, retstep=True), (np.float64(2), 1)),
    (lambda x: np.linspace(x, 3, num=0, endpoint=False, retstep=True), (np.zeros(2),)),
    (lambda x: np.linspace(x, 1.0, 3, dtype=bool), (np.float64(0),)),
    (lambda x, edges: np.histogram(x, edges), (np.zeros(3), np.zeros(0))),
    (lambda x, y: np.cov(x, y, rowvar=False), (np.zeros((2, 0)), np.zeros((2, 3)))),
    (lambda x, y: np.corrcoef(x, y, rowvar=False), (np.zeros((2, 0)), np.zeros((2, 3)))),
    (lambda x, y: np.einsum("j,ij->", x, y), (np.zeros(0), np.zeros((2, 0)))),
    (lambda x, mask: _placed(x.copy(), mask), (np.zeros(3), np.zeros(3, bool))),
    (lambda x: np.delete(x, [True, False, True]), (np.arange(3.0),)),
)


@pytest.mark.parametrize(("function", "arguments"), GIVEN)
def test_what_numpy_gives_is_given_for_open_sizes(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    check(function, *arguments)


def test_nothing_is_counted_in_whole_numbers() -> None:
    found = xp.bincount(xp.zeros(0, dtype=xp.int64), weights=xp.zeros(0), minlength=2)
    assert found.dtype == np.int64
