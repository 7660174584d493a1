"""Variables that a loop sets to something known: numbers and arrays of numpy's are carried as what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import LoopTypeError

#: What a variable holds before the loop, and what each turn sets it to.
PAIRS: list[tuple[Any, Any]] = [
    *((start, kind(1)) for start in (0, 0.0) for kind in (np.float64, np.float32, np.float16)),
    *((0, kind(1)) for kind in (np.int64, np.int32, np.uint8)),
    (False, np.bool_(True)),
    (False, np.int64(1)),
    *((kind(0), kind(1)) for kind in (np.float64, np.float32, np.int64, np.bool_)),
    (0.0, np.array(1.5)),
    (np.array(0.5), np.array(1.5)),
    (np.array(0.5), np.float64(1.5)),
    (np.zeros(3), np.ones(3)),
    (np.zeros(3), np.ones(2)),
    (np.zeros((2, 0)), np.ones((2, 3))),
    ((0.0, 1), (np.float64(2), np.int64(3))),
    ({"a": 0.0, "b": [0]}, {"a": np.float32(1), "b": [np.int64(3)]}),
]


def _always(start: Any, after: Any) -> Callable[..., Any]:
    def function(x):
        held = start
        for _ in x:
            held = after
        return held

    return function


def _sometimes(start: Any, after: Any) -> Callable[..., Any]:
    def function(x):
        held = start
        for v in x:
            if v > 1:
                held = after
        return held

    return function


def _one_turn_late(start: Any, after: Any) -> Callable[..., Any]:
    def function(x):
        held, following = start, start
        for _ in x:
            held, following = following, after
        return held, following

    return function


def _in_while(start: Any, after: Any) -> Callable[..., Any]:
    def function(x):
        held, turns = start, 0
        while turns < len(x):
            held, turns = after, turns + 1
        return held, turns

    return function


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for each in value for leaf in _leaves(each)] if isinstance(value, tuple | list) else [value]


@pytest.mark.parametrize("form", [_always, _sometimes, _one_turn_late, _in_while])
@pytest.mark.parametrize(("start", "after"), PAIRS, ids=lambda each: f"{type(each).__name__}-{each!r}"[:40])
def test_what_a_loop_sets_is_carried(form: Callable[..., Any], start: Any, after: Any):
    if isinstance(start, dict) and form is not _always:
        return  # a dict that two variables hold is refused, and so is one that a branch replaces
    function = form(start, after)
    jitted = xp.jit(function)
    kinds = {np.asarray(each).dtype for each in _leaves(after)} | {np.dtype(np.int64)}
    for size in (3, 0, 1, 2):
        x = np.arange(float(size))
        mine, theirs = _leaves(jitted(x)), _leaves(function(x))
        assert len(mine) == len(theirs)
        for got, expected in zip(mine, theirs, strict=True):
            # The model has one type for a variable: that of what the loop sets, where a Python number came before.
            assert np.asarray(got).dtype in kinds
            assert np.asarray(got).dtype == np.asarray(expected).dtype or isinstance(expected, int | float)
            np.testing.assert_array_equal(got, expected, strict=np.ndim(expected) > 0)


@pytest.mark.parametrize(("start", "after"), [(0.5, np.int64(1)), (2, np.bool_(True)), (300, np.uint8(1))])
def test_a_start_that_the_type_lacks_is_refused(start: Any, after: Any):
    with pytest.raises(LoopTypeError, match="'held'"):
        xp.jit(_always(start, after))(np.arange(3.0))
