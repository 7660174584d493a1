"""Counts in bins against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.algorithms import histograms
from onnxsmith.algorithms.values import constant
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

X = np.random.default_rng(0).normal(size=(6, 9)).astype(np.float32)


@pytest.mark.parametrize("least", [0, 12])
def test_counts_of_whole_numbers(least: int):
    x = np.array([1, 3, 3, 0, 7], np.int32)
    (found,) = computed(lambda x: histograms.bincount(x, least=least), x)
    np.testing.assert_array_equal(found, np.bincount(x, minlength=least))
    (found,) = computed(lambda x: histograms.bincount(x, least=least), np.zeros(0, np.int32))
    np.testing.assert_array_equal(found, np.zeros(least))


def test_edges_are_those_of_numpy():
    (found,) = computed(lambda x: histograms.equal_edges(x, 7), X, tolerance=1e-6)
    np.testing.assert_allclose(found, np.histogram_bin_edges(X, 7), 1e-5)
    (found,) = computed(lambda x: histograms.equal_edges(x, 7, (-1.0, 2.0)), X)
    np.testing.assert_allclose(found, np.histogram_bin_edges(X, 7, (-1.0, 2.0)), 1e-6, 1e-6)


@pytest.mark.parametrize("density", [False, True])
def test_histogram(density: bool):
    edges = np.array([-2.0, -0.5, 0.0, 1.0, 1.5], np.float32)
    (found,) = computed(
        lambda x: histograms.histogram(x, [constant(edges)], density=density),
        X.reshape(-1, 1),
        tolerance=1e-6,
    )
    np.testing.assert_allclose(found, np.histogram(X, edges, density=density)[0], 1e-6)


def test_equal_bins():
    (found,) = computed(lambda x: histograms.counts_of_equal_bins(x, 5), X)
    np.testing.assert_array_equal(found, np.histogram(X, 5)[0])
    (found,) = computed(lambda x: histograms.counts_of_equal_bins(x, 5, (-1, 1)), X)
    np.testing.assert_array_equal(found, np.histogram(X, 5, (-1, 1))[0])


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("histograms", {"bincount": 2, "histogram": 2, "histogram_bin_edges": 2}) == []
