"""Random numbers of a key: the same bits at once and in a model, spread as they should be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, INT64, trace
from onnxsmith.errors import AttributeValueError, InputTypeError

KEY = xp.random.key(11)
COUNT = 20_000

DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform": lambda key, shape: xp.random.uniform(key, shape),
    "uniform, float32": lambda key, shape: xp.random.uniform(key, shape, -1, 2, xp.float32),
    "uniform, float16": lambda key, shape: xp.random.uniform(key, shape, dtype=xp.float16),
    "normal": lambda key, shape: xp.random.normal(key, shape, 1.0, 2.0),
    "normal, float32": lambda key, shape: xp.random.normal(key, shape, dtype=xp.float32),
    "integers": lambda key, shape: xp.random.integers(key, -3, 9, shape),
    "integers, int8": lambda key, shape: xp.random.integers(key, 5, shape=shape, dtype=xp.int8),
    "permutation": lambda key, shape: xp.random.permutation(key, shape[0]),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_model_draws_the_same_numbers_and_a_key_gives_them_again(draw: Callable[[Any, Any], Any]) -> None:
    model = trace(
        lambda seed, like: draw(xp.random.key(xp.asarray(seed)), xp.asarray(like).shape).tensor,
        INT64,
        FLOAT["N", "M"],
    )
    for seed, shape in ((0, (3, 4)), (2**40 + 5, (2, 1)), (-7, (0, 3))):
        drawn = np.asarray(draw(xp.random.key(seed), shape))
        np.testing.assert_array_equal(model(np.int64(seed), np.zeros(shape, np.float32)), drawn)
        np.testing.assert_array_equal(np.asarray(draw(xp.random.key(seed), shape)), drawn)
    assert not np.array_equal(draw(xp.random.key(1), (30, 2)), draw(xp.random.key(2), (30, 2)))


def test_uniform_fills_its_range_evenly() -> None:
    drawn = np.asarray(xp.random.uniform(KEY, COUNT, 2.0, 5.0))
    assert drawn.min() >= 2
    assert drawn.max() < 5
    counts = np.histogram(drawn, 30, (2, 5))[0]
    assert ((counts - COUNT / 30) ** 2 / (COUNT / 30)).sum() < 70  # chi squared of 29, one in 30,000
    assert np.asarray(xp.random.uniform(KEY, COUNT, dtype=xp.float16)).max() < 1


def test_normal_has_the_moments_of_its_distribution() -> None:
    drawn = np.asarray(xp.random.normal(KEY, COUNT))
    moments = [float((drawn**k).mean()) for k in range(1, 5)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.3)
    np.testing.assert_allclose(moments[:2], [0, 1], atol=5 * COUNT**-0.5)
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 5 * COUNT**-0.5


def test_integers_are_equally_likely() -> None:
    counts = np.bincount(np.asarray(xp.random.integers(KEY, 10, shape=COUNT)), minlength=10)
    assert counts.size == 10
    assert ((counts - COUNT / 10) ** 2 / (COUNT / 10)).sum() < 40  # chi squared of 9, one in 100,000
    wide = np.asarray(xp.random.integers(KEY, -(2**30), 2**30, 1000))
    assert abs(wide.mean()) < 2**30 / 5


def test_a_permutation_has_every_number_once_and_moves_rows_of_arrays() -> None:
    order = np.asarray(xp.random.permutation(KEY, 100))
    assert sorted(order.tolist()) == list(range(100))
    assert order.tolist() != list(range(100))
    rows = xp.asarray(np.arange(200).reshape(100, 2))
    np.testing.assert_array_equal(xp.random.permutation(KEY, rows), np.arange(200).reshape(100, 2)[order])


def test_keys_that_are_split_have_nothing_in_common() -> None:
    keys = xp.random.split(KEY, 3)
    assert keys.shape == (3, 2)
    drawn = [np.asarray(xp.random.normal(each, COUNT)) for each in (KEY, *keys)]
    close = np.corrcoef(drawn) - np.eye(4)
    assert np.abs(close).max() < 5 * COUNT**-0.5

    def unpacked(seed: Any) -> Any:
        first, second = xp.random.split(xp.random.key(xp.asarray(seed)))
        return (xp.random.uniform(first) + xp.random.uniform(second)).tensor

    first, second = xp.random.split(xp.random.key(4))
    expected = float(xp.random.uniform(first) + xp.random.uniform(second))
    assert float(trace(unpacked, INT64)(np.int64(4))) == expected


@pytest.mark.parametrize(
    ("draw", "error"),
    [
        (lambda: xp.random.uniform(3), InputTypeError),
        (lambda: xp.random.key(1.5), InputTypeError),
        (lambda: xp.random.uniform(KEY, dtype=xp.int64), AttributeValueError),
        (lambda: xp.random.integers(KEY, 0), AttributeValueError),
        (lambda: xp.random.integers(KEY, 0, 300, dtype=xp.uint8), AttributeValueError),
        (lambda: xp.random.integers(KEY, 0, 2**40), AttributeValueError),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        draw()
