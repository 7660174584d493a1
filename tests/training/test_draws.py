"""Dropouts of a trainer: other masks in each step, by the seed, and the same bits from a state on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import BOOL, FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.training import Trainer, sgd
from onnxsmith.training.draws import with_draws

X = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int64)


def trainer(**options: Any) -> Trainer:
    weight = np.random.default_rng(1).normal(size=(8, 2)).astype(np.float32)
    model = trace(lambda x: op.MatMul(op.Dropout(x, np.float32(0.3), np.array(True)), weight), FLOAT["N", 8])
    return Trainer(model, **options)


def _mixed(words: Any) -> Any:
    """The finaliser of splitmix64, by numpy."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.9])
def test_masks_are_those_of_splitmix(ratio: float) -> None:
    model = trace(
        lambda x: op.Dropout(
            op.Dropout(x, np.float32(0.0), np.array(True)), np.float32(ratio), np.array(True)
        ),
        FLOAT["N", 50],
    )
    x = np.ones((40, 50), np.float32)
    y, after = with_draws(model, 7)(x)
    assert after == (7 << 32) + 1
    with np.errstate(over="ignore"):
        gamma = np.uint64(0x9E3779B97F4A7C15)
        base = _mixed(np.array([7 << 32], np.uint64) * gamma)
        words = _mixed((np.arange(2000, dtype=np.uint64) + base + np.uint64(1 << 44)) * gamma)
    stays = (words >> np.uint64(40)).astype(np.float32) * np.float32(2**-24) >= np.float32(ratio)
    np.testing.assert_allclose(y.ravel(), stays / np.float32(1 - ratio), rtol=1e-6)
    assert abs((y == 0).mean() - ratio) < 0.04


def test_each_step_draws_anew_and_a_seed_says_how() -> None:
    def found(seed: int) -> list[float]:
        made = trainer(seed=seed, optimizer=sgd(0.0))
        return [float(made.session(X, Y)) for _ in range(4)]

    assert found(3) == found(3) != found(4)
    assert len(set(found(3))) == 4


def test_a_state_goes_on_with_the_same_bits() -> None:
    whole, resumed = trainer(), trainer()
    whole.fit(X, Y, epochs=1)
    resumed.state = whole.state
    whole.fit(X, Y, epochs=1, shuffle=False)
    resumed.fit(X, Y, epochs=1, shuffle=False)
    np.testing.assert_array_equal(whole.state["weight"], resumed.state["weight"])
    assert whole.state["draws"] == 4
    assert [each.name for each in whole.model.inputs + whole.model.outputs] == ["x", "mat_mul"]


def test_a_dropout_that_is_off_or_has_a_seed_stays() -> None:
    off = trace(lambda x: op.Dropout(x, np.float32(0.3), np.array(False)), FLOAT["N"])
    seeded = trace(lambda x: op.Dropout(x, np.float32(0.3), np.array(True), seed=1), FLOAT["N"])
    for each in (off, seeded):
        assert with_draws(each, 0) is each


def test_a_flag_that_is_an_input_turns_it_off() -> None:
    model = with_draws(trace(lambda x, on: op.Dropout(x, np.float32(0.5), on), FLOAT["N"], BOOL[()]), 0)
    x = np.ones(100, np.float32)
    np.testing.assert_array_equal(model(x, np.array(False))[0], x)
    assert set(model(x, np.array(True))[0]) == {0.0, 2.0}
