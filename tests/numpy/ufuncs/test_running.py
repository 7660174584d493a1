"""Running extremes and bits: combined by doubling, and yet what numpy gives going from element to element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE

NAMES = ("maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor")
SHAPES = arrays.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=18)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_as_numpy(name: str, data: st.DataObject) -> None:
    dtypes = (
        [np.int32, np.uint8, np.bool_] if name.startswith("bitwise") else [np.float64, np.float32, np.int64]
    )
    x = data.draw(arrays.arrays(data.draw(st.sampled_from(dtypes)), SHAPES))
    axis = data.draw(st.integers(0, x.ndim - 1))
    expected = getattr(np, name).accumulate(x, axis=axis)
    np.testing.assert_array_equal(
        np.asarray(getattr(xp, name).accumulate(xp.asarray(x), axis=axis)), expected
    )


def test_few_turns_and_any_length() -> None:
    """As many turns as the length has bits: with one for each element, it took a thousand times as long as numpy."""
    model = xp.to_model(lambda x: np.maximum.accumulate(x), DOUBLE["N"])
    for length in (0, 1, 2, 3, 4, 5, 63, 64, 65, 4096, 4097):
        x = np.random.default_rng(length).normal(size=length)
        np.testing.assert_array_equal(model(x), np.maximum.accumulate(x))
    loops = [node for node in model.nodes if node.op_type == "Loop"]
    assert loops
    for node in loops:
        counted = model.with_outputs(node.inputs[0].name)
        *_, turns = counted(np.zeros(4096))
        assert turns <= 13
