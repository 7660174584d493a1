"""A jitted script gives what the script gives, also after a name around it stands for something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, script
from onnxsmith.scripting.functions.names_around import NamesAround

X = np.ones(2, np.float32)
FACTOR: Any = 2.0
SETTINGS: dict[str, Any] = {"offset": 3.0}
PARTS: list[Any] = [1.0, 2.0]
WEIGHTS: Any = np.array([1.0], np.float32)


def scaled(x):
    return x * FACTOR


@script
def direct(x: FLOAT["N"]) -> FLOAT["N"]:
    return x * FACTOR


@script
def through_a_helper(x: FLOAT["N"]) -> FLOAT["N"]:
    return scaled(x) + 1.0


@script
def through_a_script(x: FLOAT["N"]) -> FLOAT["N"]:
    return direct(x) + 1.0


@script
def by_key(x: FLOAT["N"]) -> FLOAT["N"]:
    return x + SETTINGS["offset"]


@script
def by_place(x: FLOAT["N"]) -> FLOAT["N"]:
    return x + PARTS[0]


@script
def of_weights(x: FLOAT["N"]) -> FLOAT["N"]:
    return x + WEIGHTS


@pytest.mark.parametrize(
    "function", [direct, through_a_helper, through_a_script, by_key, by_place, of_weights]
)
def test_another_object_is_seen_in_the_next_call(function: Any, monkeypatch: pytest.MonkeyPatch):
    fast = onnxsmith.jit(function)
    np.testing.assert_array_equal(fast(X), function(X))
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    monkeypatch.setitem(SETTINGS, "offset", 7.0)
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([4.0], np.float32))
    monkeypatch.setitem(globals(), "PARTS", [9.0])
    np.testing.assert_array_equal(fast(X), function(X))
    monkeypatch.undo()
    np.testing.assert_array_equal(fast(X), function(X))


def test_a_number_of_another_kind_is_another_object(monkeypatch: pytest.MonkeyPatch):
    """`1 == 1.0 == True`, and code tells them apart."""
    watched = NamesAround(scaled)
    assert not watched.changed()
    for each in (1, 1.0, True, 2.0):
        monkeypatch.setitem(globals(), "FACTOR", each)
        assert watched.changed()
        watched = NamesAround(scaled)
        assert not watched.changed()


def test_attributes_of_self_and_variables_around_are_seen():
    class Layer:
        def __init__(self) -> None:
            self.factor = 2.0

        @script
        def run(self, x: FLOAT["N"]) -> FLOAT["N"]:
            return x * self.factor

    layer = Layer()
    fast = onnxsmith.jit(layer.run)
    assert fast(X)[0] == 2
    layer.factor = 3.0
    assert fast(X)[0] == 3

    offset = 1.0

    @script
    def shifted(x: FLOAT["N"]) -> FLOAT["N"]:
        return x + offset

    fast = onnxsmith.jit(shifted)
    assert fast(X)[0] == 2
    offset = 4.0
    assert fast(X)[0] == 5
