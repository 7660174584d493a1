"""Hurwitz's zeta function and derivatives of the gamma function's logarithm, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.algorithms.special import zeta
from tests.algorithms.running import computed

special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("n", [2, 3, 4])
def test_polygamma(n: int) -> None:
    x = np.concatenate([np.linspace(0.1, 12, 25), [40.0]])
    (found,) = computed(lambda x: zeta.polygamma(n, x), x)
    np.testing.assert_allclose(found, special.polygamma(n, x), 1e-9)


def test_hurwitz_zeta() -> None:
    s, q = (each.ravel() for each in np.meshgrid([1.5, 2.0, 3.25, 8.0, 30.0], [0.25, 1.0, 2.5, 9.0, 20.0]))
    (found,) = computed(zeta.hurwitz_zeta, s, q)
    np.testing.assert_allclose(found, special.zeta(s, q), 1e-10)
    (found,) = computed(zeta.hurwitz_zeta, np.array([1.0, 0.5]), np.array([2.0, 2.0]))
    assert np.isinf(found[0])
    assert np.isnan(found[1])
