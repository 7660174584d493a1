"""The gamma function's logarithm and its derivatives, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.algorithms.special import gamma
from tests.algorithms.running import computed

special = pytest.importorskip("scipy.special")

X = np.concatenate([np.linspace(-9.75, 30.25, 81), [1e-6, 0.5, 1.0, 2.0, 3.0, 9.99, 10.0, 10.01, 171.5, 1e5]])


def test_lgamma() -> None:
    (found,) = computed(gamma.lgamma, np.append(X, [0.0, -1.0, -4.0, np.inf, -np.inf]))
    np.testing.assert_allclose(
        found, special.gammaln(np.append(X, [0.0, -1.0, -4.0, np.inf, np.inf])), 1e-10, 1e-12
    )


@pytest.mark.parametrize("p", [1, 2, 5])
def test_of_many_dimensions(p: int) -> None:
    x = np.linspace(2.6, 9, 11)
    (found,) = computed(lambda x: gamma.multivariate_lgamma(x, p), x)
    np.testing.assert_allclose(found, special.multigammaln(x, p), 1e-10)


def test_digamma() -> None:
    (found,) = computed(gamma.digamma, np.append(X, [0.0, -2.0]))
    np.testing.assert_allclose(found[:-2], special.digamma(X), 1e-9, 1e-11)
    np.testing.assert_array_equal(found[-2:], [-np.inf, np.nan])
