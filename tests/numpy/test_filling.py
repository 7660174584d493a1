"""New arrays, against numpy: sizes and ends that are known, and those that only the model knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, trace
from onnxsmith.errors import AttributeValueError
from tests.numpy.every_argument import disagreements

#: Functions of a size, the same for numpy and for us.
OF_SIZE: list[Callable[[Any, Any], Any]] = [
    lambda m, n: m.zeros(n),
    lambda m, n: m.ones((n, 2), dtype=np.int8),
    lambda m, n: m.full((2, n), 3),
    lambda m, n: m.full(n, 1 + 2j).imag,
    lambda m, n: m.arange(n),
    lambda m, n: m.arange(1, n, 2),
    lambda m, n: m.arange(n, 0, -1),
    lambda m, n: m.arange(0.5, n),
    lambda m, n: m.arange(0.0, n, 0.3),
    lambda m, n: m.arange(n, dtype=np.float32),
    lambda m, n: m.linspace(0, 1, n),
    lambda m, n: m.linspace(2, -3, n, endpoint=False),
    lambda m, n: m.linspace(0, 10, n, dtype=np.int32),
    lambda m, n: m.eye(n),
    lambda m, n: m.eye(n, 3, k=1),
    lambda m, n: m.eye(n, dtype=np.complex64).real,
    lambda m, n: m.tri(n, 4, 1),
    lambda m, n: m.identity(n),
    lambda m, n: m.zeros((n, n + 1)).reshape(-1, n + 1),
    lambda m, n: m.arange(n * 2).reshape(n, 2).T,
    lambda m, n: m.arange(n)[: n // 2],
    lambda m, n: m.empty(n).shape[0] * m.ones(2),
]


@pytest.mark.parametrize("function", OF_SIZE, ids=range(len(OF_SIZE)))
def test_sizes_known_and_open(function: Callable[[Any, Any], Any]) -> None:
    model = trace(lambda t: function(xp, xp.asarray(t).shape[0]).tensor, DOUBLE["N"])
    for size in (0, 1, 2, 5, 8):
        expected = function(np, size)
        for ours in (np.asarray(function(xp, size)), model(np.zeros(size))):
            assert ours.dtype == expected.dtype
            if expected.dtype.kind == "f":
                np.testing.assert_array_max_ulp(ours, expected, 1)
            else:
                np.testing.assert_array_equal(ours, expected)


def test_dlpack_copies() -> None:
    ours = xp.asarray([1.0, 2.0])
    theirs = np.from_dlpack(ours)
    np.testing.assert_array_equal(theirs, [1, 2])
    back = xp.from_dlpack(theirs)
    back[0] = 5
    assert ours.tolist() == [1, 2]
    assert theirs[0] == 1


def test_all_kinds_of_arguments() -> None:
    assert disagreements("filling", {"tri": 11}) == []


@pytest.mark.parametrize(
    "made",
    [
        lambda device: xp.zeros(2, device=device),
        lambda device: xp.ones(2, device=device),
        lambda device: xp.empty(2, device=device),
        lambda device: xp.full(2, 3, device=device),
        lambda device: xp.zeros_like([1], device=device),
        lambda device: xp.ones_like([1], device=device),
        lambda device: xp.empty_like([1], device=device),
        lambda device: xp.full_like([1], 3, device=device),
        lambda device: xp.eye(2, device=device),
        lambda device: xp.arange(2, device=device),
        lambda device: xp.linspace(0, 1, 2, device=device),
        lambda device: xp.fft.fftfreq(4, device=device),
        lambda device: xp.fft.rfftfreq(4, device=device),
        lambda device: xp.asarray([1]).astype(float, device=device),
    ],
)
def test_there_is_one_device(made: Callable[[Any], Any]) -> None:
    for device in (None, "cpu"):
        made(device)
    with pytest.raises(AttributeValueError, match="there is no device 'gpu'"):
        made("gpu")
