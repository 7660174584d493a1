"""A call of a form that was seen before gives what the first one gave, and refuses what that refused."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.cached_calls import is_large
from tests.numpy.agreement import sample


@pytest.mark.parametrize(
    "name", ["sum", "max", "var", "median", "sort", "argmax", "cumsum", "unique", "nonzero"]
)
def test_calls_of_all_sizes_agree_again_and_again(name: str) -> None:
    for size in (1, 3, 200, 255, 256, 257, 3000, 3):
        x = sample("float64", (size,), special=False)
        for _ in range(3):
            ours, theirs = getattr(xp, name)(xp.asarray(x)), getattr(np, name)(x)
            for mine, expected in zip(
                *[each if isinstance(each, tuple) else (each,) for each in (ours, theirs)], strict=True
            ):
                np.testing.assert_allclose(np.asarray(mine), expected, rtol=1e-12)


def test_options_are_told_apart() -> None:
    x = xp.asarray([[1.0, 2.0], [3.0, 5.0]])
    for _ in range(2):
        assert xp.sum(x, axis=0).tolist() == [4, 7]
        assert xp.sum(x, axis=1).tolist() == [3, 8]
        assert xp.sum(x, axis=(0, 1)).tolist() == 11
        assert xp.sum(x, axis=1, keepdims=True).tolist() == [[3], [8]]
        assert xp.sum(x, 1, xp.int64).dtype == xp.int64
        assert xp.percentile(x, 50).tolist() == 2.5
        assert xp.percentile(x, 100).tolist() == 5
        assert np.signbit(np.asarray(xp.max(xp.asarray([-1.0]), initial=-0.0)))
        assert not np.signbit(np.asarray(xp.max(xp.asarray([-1.0]), initial=0.0)))


def test_mistakes_are_found_each_time() -> None:
    x = xp.asarray([1.0, 2.0])
    xp.max(x)
    for _ in range(2):
        with pytest.raises(OnnxsmithError):
            xp.max(x[:0].copy())
        with pytest.raises(OnnxsmithError):
            xp.sum(x, axis=1)
        with pytest.raises(OnnxsmithError):
            xp.percentile(x, 101)


def test_a_view_is_read_as_it_is_now() -> None:
    x = xp.asarray([1.0, 2.0, 3.0])
    part = x[1:]
    assert float(xp.sum(part)) == 5
    x[2] = 10
    assert float(xp.sum(part)) == 12
    assert float(xp.sum(x)) == 13


def test_sizes_are_large_by_their_powers_of_two() -> None:
    assert is_large([256], 8)
    assert is_large([16, 31], 8)
    assert not is_large([255], 8)
    assert not is_large([0, 1000], 8)
