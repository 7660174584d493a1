"""Functions of a complex number: what numpy computes, on both sides of the axes and far from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.complex_numbers import functions
from onnxsmith.algorithms.complex_numbers.field import Field
from tests.algorithms.complex_numbers.test_field import agree
from tests.algorithms.running import computed

PARTS = (-25.0, -2.0, -0.7, -1e-5, 1e-5, 0.3, 1.0, 30.0)
Z = np.array([complex(a, b) for a in PARTS for b in PARTS])
NUMPYS: dict[str, Callable[[Any], Any]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "log1p": lambda z: np.log(1 + z),
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "silu": lambda z: z / (1 + np.exp(-z)),
}


@pytest.mark.parametrize("names", np.array_split(sorted(functions.FUNCTIONS), 3), ids=lambda each: each[0])
def test_functions(names: list[str]) -> None:
    agree(
        lambda z: [functions.FUNCTIONS[name](z) for name in names],
        Z,
        wanted=lambda z: [NUMPYS.get(name, getattr(np, name, None))(z) for name in names],
    )


#: Those that are smooth on both axes near zero.
SMOOTH = [
    "asin",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "log1p",
    "sin",
    "sinh",
    "tan",
    "tanh",
]


def test_zero_and_the_axes() -> None:
    agree(
        lambda z: [*(functions.FUNCTIONS[name](z) for name in SMOOTH), functions.sqrt(z), functions.sinc(z)],
        np.array([0j, 0.5 + 0j, -0.5 + 0j, 0.5j, -0.5j, 1e-9 + 0j, 1e-9j]),
        wanted=lambda z: [
            *(NUMPYS.get(name, getattr(np, name, None))(z) for name in SMOOTH),
            np.sqrt(z),
            np.sinc(z),
        ],
    )


def test_powers() -> None:
    z, w = (each.ravel() for each in np.meshgrid([0j, 2 + 1j, -2 + 1j, -1j], [0j, 2 + 0j, 0.5 + 0j, 1 + 1j]))
    agree(functions.power, z, w, wanted=lambda z, w: np.power(z, w))


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 2, 3, -1, -2, -3])
def test_powers_that_are_products_or_roots(exponent: float) -> None:
    agree(lambda z: functions.whole_power(z, exponent), Z[:20], wanted=lambda z: z**exponent)


def test_other_powers_are_none() -> None:
    def look(re: Any, im: Any) -> Any:
        assert functions.whole_power(Field(re, im), 4) is None
        assert functions.whole_power(Field(re), 2) is None
        return re

    computed(look, Z.real.copy(), Z.imag.copy())
