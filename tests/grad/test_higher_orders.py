"""Law: second derivatives at zero, and some third ones, where formulas choose between branches.

Held to differences of numpy's own values, at 0 and beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.grad import grad

POINTS = np.array([0.0, 0.3])
RANK_ONE = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
#: The step, and the weights of values at multiples of it, of each derivative.
DIFFERENCES = {
    1: (1e-4, {1: 0.5, -1: -0.5}),
    2: (1e-3, {1: 1, 0: -2, -1: 1}),
    3: (5e-3, {2: 0.5, 1: -1, -1: 1, -2: -0.5}),
    4: (1e-2, {2: 1, 1: -4, 0: 6, -1: -4, -2: 1}),
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sinc": lambda x: np.sinc(x),
    "complex sinc": lambda x: np.sinc(x + 0j).real,
    "expm1": lambda x: np.expm1(x),
    "log1p": lambda x: np.log1p(x),
    "sinh": lambda x: np.sinh(x),
    "tanh": lambda x: np.tanh(x),
    "arcsinh": lambda x: np.arcsinh(x),
    "arctanh": lambda x: np.arctanh(x),
    "arctan": lambda x: np.arctan(x),
    "arcsin": lambda x: np.arcsin(x),
    "tan": lambda x: np.tan(x),
    "exp2": lambda x: np.exp2(x),
    "square": lambda x: np.square(x),
    "i0": lambda x: np.i0(x),
    "logaddexp": lambda x: np.logaddexp(x, -x),
    "logaddexp2": lambda x: np.logaddexp2(x, 0 * x),
    "hypot": lambda x: np.hypot(x, 1 + 0 * x),
    "arctan2": lambda x: np.arctan2(x, 1 + x),
    "whole power": lambda x: x**3,
    "power": lambda x: np.power(1 + x, x),
    "prod of two zeros": lambda x: np.stack([x, x, 1 + x]).prod(axis=0),
    "prod of three zeros": lambda x: np.stack([x, 2 * x, 1 + x, x]).prod(axis=0),
    "prod of four zeros": lambda x: np.stack([x, x, 1 + x, x, x]).prod(axis=0),
    "det of rank one": lambda x: np.linalg.det(RANK_ONE + x[:, None, None] * np.eye(3)),
    "nanprod": lambda x: np.nanprod(np.stack([x, x, 1 + x]), axis=0),
    "cumprod": lambda x: np.cumprod(np.stack([x, 1 + x, x]), axis=0).sum(axis=0),
    "complex exp": lambda x: np.exp(1 + 1j * x).imag + np.exp(1j * x).real,
    "complex power": lambda x: ((1j * x) ** 2).real + np.power((1 + 1j) * x, 1).imag,
}


THIRD = ["sinc", "prod of three zeros", "prod of four zeros", "det of rank one", "hypot"]


@pytest.mark.filterwarnings("ignore::onnxsmith.errors.ModelWarning")  # a third derivative that is 0
@pytest.mark.parametrize(
    ("name", "order"),
    [
        *((name, 2) for name in FUNCTIONS),
        *((name, 3) for name in THIRD),
        ("prod of four zeros", 4),
        ("complex exp", 1),
        ("complex power", 1),
    ],
)
def test_derivatives_at_zero(name: str, order: int) -> None:
    function = FUNCTIONS[name]
    step, weights = DIFFERENCES[order]
    wanted = sum(weight * function(POINTS + k * step) for k, weight in weights.items()) / step**order
    found: Any = xp.jit(lambda x: function(x).sum())
    for _ in range(order):
        found = grad(_total(found))
    assert np.allclose(found(POINTS), wanted, rtol=2e-3, atol=2e-3)


def _total(function: Any) -> Any:
    return lambda x: function(x).sum()


def test_the_second_derivative_of_sinc() -> None:
    first = grad(xp.jit(lambda x: np.sinc(x).sum()))
    second = grad(lambda x: first(x).sum())
    assert np.allclose(second(np.array([0.0, 1e-9, 1e-3])), -(np.pi**2) / 3, rtol=1e-5)


def test_values_of_sinc_stay() -> None:
    x = np.concatenate([np.linspace(-3, 3, 1001), [1e-300, -1e-9, np.inf, np.nan]])
    with np.errstate(invalid="ignore"):
        assert np.allclose(xp.sinc(xp.asarray(x)), np.sinc(x), rtol=1e-15, atol=1e-16, equal_nan=True)
