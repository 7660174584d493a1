"""The incomplete gamma functions, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.algorithms.special import incomplete_gamma
from tests.algorithms.running import computed

special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("is_upper", [False, True])
def test_incomplete(is_upper: bool) -> None:
    function = incomplete_gamma.upper_incomplete if is_upper else incomplete_gamma.lower_incomplete
    oracle = special.gammaincc if is_upper else special.gammainc
    points = ([0.1, 0.5, 1.0, 2.5, 9.0, 30.0, 120.0], [0.0, 0.01, 0.5, 1.0, 2.0, 8.5, 31.0, 140.0])
    a, x = (each.ravel() for each in np.meshgrid(*points))
    (found,) = computed(function, a, x, tolerance=1e-12)
    np.testing.assert_allclose(found, oracle(a, x), 1e-8, 1e-13)


@pytest.mark.parametrize("is_upper", [False, True])
def test_incomplete_at_the_border(is_upper: bool) -> None:
    function = incomplete_gamma.upper_incomplete if is_upper else incomplete_gamma.lower_incomplete
    oracle = special.gammaincc if is_upper else special.gammainc
    a = np.array([0.0, 2.0, -1.0, 2.0, 2.0, np.inf])
    x = np.array([2.0, np.inf, 2.0, -1.0, 0.0, 2.0])
    (found,) = computed(function, a, x)
    np.testing.assert_array_equal(found, oracle(a, x))
