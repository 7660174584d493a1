"""Shuffling through a buffer: each row once, by the seed and the epoch, and mixed as far as the buffer goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from onnxsmith.training import shuffling
from onnxsmith.training.shuffling import rebatched, shuffled, split


def blocks(sizes: list[int]) -> Iterator[list[Any]]:
    begin = 0
    for size in sizes:
        rows = np.arange(begin, begin + size)
        begin += size
        yield [rows, -rows]


@pytest.mark.parametrize("sizes", [[1], [7, 3], [100] * 7, [3] * 50, [250, 1, 250], [64] * 4])
def test_each_row_leaves_once_in_whole_batches(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "BUFFER_ROWS", 64)
    for make in (lambda: shuffled(blocks(sizes), 16, 0, 0), lambda: rebatched(blocks(sizes), 16)):
        batches = list(make())
        assert [len(each) for each, _ in batches[:-1]] == [16] * (len(batches) - 1)
        rows = np.concatenate([each for each, _ in batches])
        assert sorted(rows) == list(range(sum(sizes)))
        for one, other in batches:
            np.testing.assert_array_equal(one, -other)


def test_the_order_is_that_of_the_seed_and_the_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "BUFFER_ROWS", 64)

    def order(seed: int, epoch: int) -> list[int]:
        return [int(row) for each, _ in shuffled(blocks([32] * 8), 16, seed, epoch) for row in each]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)
    assert order(1, 0) != sorted(order(1, 0))
    assert max(order(1, 0)[:16]) < 64  # what the buffer holds


def test_rows_in_memory_are_limited_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "BUFFER_BYTES", 1000)
    assert shuffling.buffer_rows([np.zeros((5, 25), np.float32)]) == 10


def test_a_split_has_each_row_once() -> None:
    train, held_out = split(100, 0.25, 3)
    assert len(held_out) == 25
    assert sorted([*train, *held_out]) == list(range(100))
    assert [len(each) for each in split(2, 0.01, 0)] == [1, 1]


def test_the_order_of_rows_in_memory_is_another_in_each_epoch() -> None:
    orders = [shuffling.order_of(50, seed, epoch).tolist() for seed in (0, 1) for epoch in (0, 1)]
    assert len({*map(tuple, orders)}) == 4
    assert all(sorted(each) == list(range(50)) for each in orders)
    assert orders[0] == shuffling.order_of(50, 0, 0).tolist()
