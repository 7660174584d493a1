"""Numbers about weights: of all elements, of a sample, and of what is odd."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from onnxsmith.view.statistics import SAMPLE, statistics_of


def test_a_small_tensor_is_looked_at_whole() -> None:
    found = statistics_of(ir.tensor(np.array([[0.0, 1.0], [2.0, 5.0]], np.float32)), is_full=False)
    assert found is not None
    assert (found.low, found.high, found.mean, found.zeros, found.sampled) == (0, 5, 2, 0.25, 0)
    assert found.deviation == pytest.approx(np.std([0, 1, 2, 5]))
    assert sum(found.bins) == 4


@pytest.mark.parametrize("is_full", [True, False])
def test_a_sample_says_that_it_is_one(is_full: bool) -> None:
    content = np.random.default_rng(0).normal(3.0, 2.0, 3_000_000).astype(np.float32)
    found = statistics_of(ir.tensor(content), is_full=is_full)
    assert found is not None
    assert found.sampled == (0 if is_full else SAMPLE)
    assert sum(found.bins) == (content.size if is_full else SAMPLE)
    assert found.mean == pytest.approx(3.0, abs=0.01 if is_full else 0.3)
    assert found.deviation == pytest.approx(2.0, abs=0.01 if is_full else 0.3)


def test_what_is_not_finite_is_counted() -> None:
    content = np.array([np.nan, np.inf, -np.inf, 1.0, 3.0], np.float32)
    found = statistics_of(ir.tensor(content), is_full=True)
    assert found is not None
    assert (found.odd, found.low, found.high) == (3, 1.0, 3.0)
    assert statistics_of(ir.tensor(np.full(3, np.nan, np.float32)), is_full=True) is None


@pytest.mark.parametrize(
    "content",
    [np.array(["a"], object), np.zeros((0, 3), np.float32), np.array([1j], np.complex64)],
    ids=["text", "nothing", "complex"],
)
def test_what_has_no_numbers_has_no_statistics(content: np.ndarray) -> None:
    tensor = ir.StringTensor(content) if content.dtype == object else ir.tensor(content)
    assert statistics_of(tensor, is_full=True) is None


def test_equal_elements_have_no_histogram() -> None:
    found = statistics_of(ir.tensor(np.full(100, 7.0, np.float32)), is_full=True)
    assert found is not None
    assert (found.bins, found.deviation) == ((), 0.0)
