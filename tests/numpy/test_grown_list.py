"""Lists of lists whose lengths only the model knows are refused where they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import InputTypeError, OnnxsmithError


def products(x):
    return np.array([[v * w for w in x] for v in x])


def rows_of_numbers(x):
    return [[v + w for v in x] for w in x]


def appended(x):
    rows = []
    for v in x:
        row = []
        for w in x:
            row.append(v * w)
        rows.append(row)
    return np.array(rows)


def rows_as_arrays(x):
    return np.array([np.array([v * w for w in x]) for v in x])


@pytest.mark.parametrize("function", [products, rows_of_numbers, appended])
def test_lists_of_lists_are_refused_by_line(function: Callable[..., Any]):
    with pytest.raises(InputTypeError, match="a list of lists") as caught:
        xp.jit(function)(np.arange(3.0))
    assert f"in {function.__name__}" in str(caught.value)


def test_rows_that_are_arrays_are_taken():
    x = np.arange(3.0)
    np.testing.assert_array_equal(xp.jit(rows_as_arrays)(x), np.outer(x, x))


def _in_a_spiral(a: Any) -> Any:
    first, out = [], []
    while a.size:
        first.append(a[:1, 0])
        out.append(a[0])
        a = np.rot90(a[1:])
    return np.concatenate(out), np.concatenate(first)


def test_arrays_of_several_shapes_in_one_list_are_refused_at_their_line() -> None:
    x = np.arange(12.0).reshape(3, 4)
    with pytest.raises(
        OnnxsmithError, match=r'has arrays of one shape, and these differ;.*static="shapes"'
    ) as caught:
        xp.jit(_in_a_spiral)(x)
    assert caught.value.span is not None
    assert caught.value.span.line == _in_a_spiral.__code__.co_firstlineno + 4
    for found, wanted in zip(xp.jit(_in_a_spiral, static="shapes")(x), _in_a_spiral(x), strict=True):
        np.testing.assert_array_equal(found, wanted)
