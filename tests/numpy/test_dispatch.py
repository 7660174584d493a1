"""numpy's own functions on our arrays are the namespace's; what is not there is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, trace
from onnxsmith.errors import InputTypeError, TracedValueError

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)
CALLS: list[Callable[[Any], Any]] = [
    lambda x: np.concatenate([x, x], axis=1),
    lambda x: np.stack((x, x), axis=-1),
    lambda x: np.reshape(x, (3, 2)),
    lambda x: np.transpose(x),
    lambda x: np.clip(x, a_min=1, a_max=4),
    lambda x: np.clip(x, 1, None),
    lambda x: np.sum(x, axis=0, keepdims=True),
    lambda x: np.mean(x, 1),
    lambda x: np.where(x > 2, x, 0.0),
    lambda x: np.tile(x, reps=2),
    lambda x: np.tensordot(x, x.T, 1),
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.fft.fft(x).real,
    lambda x: np.einsum("ij,ij->i", x, x),
    lambda x: np.round(x / 3, decimals=1),
    lambda x: np.expand_dims(x, axis=0),
    lambda x: np.roll(x, 1, axis=1),
    lambda x: np.pad(x, 1, mode="edge"),
    lambda x: np.zeros_like(x),
    lambda x: np.dot(x, x.T),
    lambda x: np.sort(x, axis=0),
    lambda x: np.argmax(x, axis=1),
]


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_numpys_function(call: Callable[[Any], Any]) -> None:
    expected = call(X)
    ours = call(xp.asarray(X))
    assert isinstance(ours, xp.Array)
    model = trace(lambda t: call(xp.asarray(t)).tensor, FLOAT["N", "M"])
    for each in (np.asarray(ours), model(X)):
        assert each.dtype == expected.dtype
        np.testing.assert_allclose(each, expected, rtol=1e-6, atol=1e-6)


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(InputTypeError, match=r"roots is not there .* depends on values"):
        np.roots(xp.asarray([1.0, 2.0, 3.0]))


def test_no_array_of_objects() -> None:
    with pytest.raises(TracedValueError):
        trace(lambda t: np.asarray(xp.asarray(t)), FLOAT["N"])
