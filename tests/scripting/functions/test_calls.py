"""Calls of scripts: where a graph is being made, and with sizes that types declare."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, Dim, script
from onnxsmith.errors import InputTypeError, OnnxsmithError, ShapeError


def total(p: FLOAT["K"], q: FLOAT["K"]):
    return p.sum() + q.sum()


CALLED = pytest.mark.parametrize(
    "called", [script(total), script(inline=True)(total)], ids=["call", "inline"]
)


@CALLED
def test_sizes_that_contradict_a_name_are_refused(called: Any) -> None:
    def outer(x: FLOAT[3], y: FLOAT[4]):
        return called(x, y)

    with pytest.raises(ShapeError, match="'K' is 3 in 'p' and 4 in 'q'") as caught:
        script(outer)
    assert "called(x, y)" in str(caught.value)


@CALLED
def test_sizes_that_are_open_or_the_same_are_not(called: Any) -> None:
    @script
    def outer(x: FLOAT[3], y: FLOAT["M"], z: FLOAT[3]):
        return called(x, y) + called(x, z)

    three = np.ones(3, np.float32)
    for run in (outer, onnxsmith.jit(outer), outer.to_model()):
        assert run(three, three, three) == 12.0


def test_none_for_an_input_that_is_needed_is_refused_at_the_call() -> None:
    called = script(total)
    given = np.ones(2, np.float32)

    def outer(x: FLOAT["N"]):
        return called(x, None)

    calls = (lambda: called(given, None), lambda: onnxsmith.jit(called)(given, None), lambda: script(outer))
    for call in calls:
        with pytest.raises(InputTypeError, match="total needs a tensor for 'q', not None") as caught:
            call()
        assert "None)" in str(caught.value)


@script
def of_few(x: FLOAT[Dim("N", min=1, max=4), 2]):
    return x * 2.0


@script
def calls_of_few(x: FLOAT["M", 2]):
    return of_few(x)


@pytest.mark.parametrize("count", [0, 1, 4, 5])
@pytest.mark.parametrize("road", ["eager", "jit", "model", "nested"])
def test_declared_sizes_hold_on_every_road(road: str, count: int) -> None:
    """A model refused other sizes, and the same script took them on arrays."""
    function = {"eager": of_few, "jit": of_few.jit, "model": of_few.to_model(), "nested": calls_of_few}[road]
    x = np.ones((count, 2), np.float32)
    if count in (1, 4):
        np.testing.assert_array_equal(function(x), x * 2)
        return
    with pytest.raises(OnnxsmithError, match=f"was given N = {count}"):
        function(x)
