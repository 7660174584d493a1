"""Evenly spaced powers and multiples, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, trace
from tests.numpy.agreement import agrees
from tests.numpy.every_argument import disagreements


@pytest.mark.parametrize("num", [0, 1, 2, 5])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
def test_logspace(num: int, endpoint: bool, dtype: str) -> None:
    pairs: list[tuple[Any, Any]] = [(0, 2), (1, -1), ([0, 1], [2, 3]), ([[0.5]], [1, 2])]
    for start, stop in pairs:
        ends = np.array(start, dtype), np.array(stop, dtype)
        agrees("logspace", *ends, num, endpoint, exact=False, ulps=8)
        agrees("logspace", *ends, num, endpoint, base=2.0, exact=False, ulps=8)
    agrees("logspace", np.array([0.0, 1]), np.array([2.0, 3]), num, endpoint, axis=1, exact=False)
    agrees("logspace", np.array(0.0), np.array(2.0), num, endpoint, dtype=np.float32, exact=False)
    agrees("logspace", np.array(0.0), np.array(2.0), num, endpoint, base=np.array([2.0, 3.0]), exact=False)


@pytest.mark.parametrize("num", [0, 1, 2, 5])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_geomspace(num: int, endpoint: bool, dtype: str) -> None:
    pairs: list[tuple[Any, Any]] = [(1, 256), (256, 1), (-1, -1000), ([1, 2], [8, 16]), ([[1]], [10, 20])]
    for start, stop in pairs:
        agrees(
            "geomspace", np.array(start, dtype), np.array(stop, dtype), num, endpoint, exact=False, ulps=32
        )
    agrees("geomspace", np.array([1.0, 2]), np.array([8.0, 4]), num, endpoint, axis=1, exact=False, ulps=32)
    agrees("geomspace", np.array(1.0), np.array(8.0), num, endpoint, dtype=np.float32, exact=False)


def test_multiples_of_nothing() -> None:
    agrees("geomspace", np.array(0.0), np.array(8.0))
    agrees("geomspace", np.array(1.0), np.array(8.0), -1)


def test_a_count_that_the_model_knows() -> None:
    def body(t: Any) -> Any:
        return xp.geomspace(1.0, 8.0, xp.asarray(t).shape[0]).tensor

    model = trace(body, DOUBLE["N"])
    for count in (4, 1, 0):
        np.testing.assert_allclose(model(np.zeros(count)), np.geomspace(1, 8, count))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.linspace(0, x[0], 3),
        lambda x: np.linspace(x, 1.5, 3, endpoint=False),
        lambda x: np.linspace(0, x.max(), 3, retstep=True),
        lambda x: np.logspace(0, x[1], 3),
        lambda x: np.logspace(0, 1, 3, base=x),
        lambda x: np.clip(x > 1, 0, x),
    ],
)
def test_a_python_number_takes_the_element_type_of_an_array(function: Any, dtype: str) -> None:
    x = np.array([2.5, 1, 1]).astype(dtype)
    wanted = function(x)
    for found in (xp.jit(function)(x), function(xp.asarray(x)), xp.to_model(function, x)(x)):
        for mine, theirs in zip(
            found if isinstance(wanted, tuple) else [found],
            wanted if isinstance(wanted, tuple) else [wanted],
            strict=True,
        ):
            assert np.asarray(mine).dtype == theirs.dtype
            np.testing.assert_allclose(np.asarray(mine), theirs, rtol=1e-2 if dtype == "float16" else 1e-6)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("ranges") == []
