"""Bessel functions and Airy's, against scipy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.special import bessel
from tests.algorithms.running import computed

special = pytest.importorskip("scipy.special")

BOTH_SIDES = np.concatenate(
    [np.linspace(-30, 30, 61), [1e-8, -1e-3, 0.49, 0.51, 4.99, 5.01, 7.99, 8.01, 100.25, -250.5]]
)
POSITIVE = np.concatenate(
    [np.linspace(0, 30, 61), [1e-8, 1e-3, 1.99, 2.0, 2.01, 4.99, 5.01, 100.25, 600.0, -1.0]]
)
FUNCTIONS: dict[str, tuple[Any, Any, Any]] = {
    "i0": (bessel.i0, special.i0, BOTH_SIDES),
    "i1": (bessel.i1, special.i1, BOTH_SIDES),
    "scaled_i0": (bessel.scaled_i0, special.i0e, BOTH_SIDES),
    "scaled_i1": (bessel.scaled_i1, special.i1e, BOTH_SIDES),
    "k0": (bessel.k0, special.k0, POSITIVE),
    "k1": (bessel.k1, special.k1, POSITIVE),
    "scaled_k0": (bessel.scaled_k0, special.k0e, POSITIVE),
    "scaled_k1": (bessel.scaled_k1, special.k1e, POSITIVE),
    "j0": (bessel.j0, special.j0, BOTH_SIDES),
    "j1": (bessel.j1, special.j1, BOTH_SIDES),
    "y0": (bessel.y0, special.y0, POSITIVE),
    "y1": (bessel.y1, special.y1, POSITIVE),
    "spherical_j0": (bessel.spherical_j0, lambda x: special.spherical_jn(0, np.abs(x)), BOTH_SIDES),
    "airy": (bessel.airy, lambda x: special.airy(x)[0], np.linspace(-12, 12, 97)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name: str) -> None:
    function, oracle, x = FUNCTIONS[name]
    (found,) = computed(function, x, tolerance=1e-12)
    np.testing.assert_allclose(found, oracle(x), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["k0", "k1", "y0", "y1"])
def test_at_zero_and_below(name: str) -> None:
    function, oracle, _ = FUNCTIONS[name]
    (found,) = computed(function, np.array([0.0, -1.0]))
    np.testing.assert_array_equal(found, oracle(np.array([0.0, -1.0])))


@pytest.mark.parametrize("name", ["spherical_j0"])
def test_at_infinity(name: str) -> None:
    (found,) = computed(FUNCTIONS[name][0], np.array([np.inf, -np.inf]))
    np.testing.assert_array_equal(found, [0, 0])
