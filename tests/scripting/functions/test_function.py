"""Scripts as methods: they belong to an object without leaving anything on it."""

from __future__ import annotations

import gc
import pickle
import weakref
from dataclasses import dataclass

import numpy as np

from onnxsmith import FLOAT, script


@dataclass
class Layer:
    weight: float = 2.0

    @script
    def forward(self, x: FLOAT["N"]):
        if x.sum() > 0:
            return x * self.weight
        return x


class Slotted:
    __slots__ = ("weight",)

    @script
    def forward(self, x: FLOAT["N"]):
        return x * self.weight


X = np.array([1, 2], np.float32)


def test_an_object_looks_the_same_after_its_script_was_called() -> None:
    layer = Layer()
    np.testing.assert_array_equal(layer.forward(X), [2, 4])
    layer.forward.to_model()
    assert vars(layer) == {"weight": 2.0}
    assert vars(pickle.loads(pickle.dumps(layer))) == {"weight": 2.0}
    assert layer == Layer()


def test_a_method_is_one_script_while_it_is_in_use() -> None:
    layer, other = Layer(), Layer(3.0)
    held = layer.forward
    assert layer.forward is held
    assert other.forward is not held
    np.testing.assert_array_equal(other.forward(X), [3, 6])


def test_an_object_without_attributes_of_its_own_can_have_scripts() -> None:
    slotted = Slotted()
    slotted.weight = 3.0
    np.testing.assert_array_equal(slotted.forward.to_model()(X), [3, 6])


def test_an_object_goes_when_nobody_uses_it() -> None:
    layer = Layer()
    layer.forward(X)
    gone = weakref.ref(layer)
    del layer
    gc.collect()
    assert gone() is None


@script
def doubled(x: FLOAT["N"]):
    """Twice as much."""
    return x * 2


def test_the_call_of_a_script_can_be_taken_of_its_class() -> None:
    kind = type(doubled)
    np.testing.assert_array_equal(kind.__call__(doubled, X), [2, 4])
    assert doubled.__call__.__self__ is doubled
    np.testing.assert_array_equal(doubled.__call__(X), [2, 4])
    assert kind.__call__.__doc__ == kind.__dict__["__call__"].__doc__
