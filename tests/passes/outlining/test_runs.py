"""Stretches of nodes that repeat themselves: how long a layer is, where it begins, and where else it stands."""

from __future__ import annotations

import pytest

from onnxsmith.passes.outlining.repeats import _best_cut, _periods, _runs, _windows

LAYER = [7, 8, 9, 7]


@pytest.mark.parametrize(
    ("labels", "periods"),
    [
        ([1, *LAYER * 4, 2], [4]),
        ([1, 2, 3, 4, 5, 6], []),
        ([5] * 9, []),  # a single node is no layer
        ([1, 2] * 6, []),  # nor are two
        ([1, 2, 3] * 6, [3]),
        ([1, 2, 3, 4, 1, 2, 3, 4], [4]),
        ([1, 2, 3, 4, 1, 2], []),
    ],
)
def test_the_lengths_of_layers(labels: list[int], periods: list[int]) -> None:
    assert _periods(labels)[:1] == periods


@pytest.mark.parametrize(
    ("labels", "period", "runs"),
    [
        ([1, *LAYER * 3, 2], 4, [(1, 12)]),
        ([*LAYER * 2, 0, *LAYER * 2], 4, [(0, 8), (9, 8)]),
        ([*LAYER, 0, *LAYER], 4, []),
        (LAYER, 4, []),
        ([1, 1, 1], 1, [(0, 3)]),
    ],
)
def test_where_nodes_repeat_themselves(labels: list[int], period: int, runs: list[tuple[int, int]]) -> None:
    assert list(_runs(labels, period)) == runs


def test_a_layer_begins_where_fewest_values_cross() -> None:
    crossings = [3, 3, 1, 3, 3, 1, 3, 3, 1, 3, 3]
    assert _best_cut(crossings, 0, 10, 3) == (2, 2)
    assert _best_cut([1] * 11, 1, 9, 3) == (1, 3)


def test_equal_stretches_elsewhere() -> None:
    labels = [1, 2, 3, 0, 1, 2, 3, 3, 1, 2]
    assert list(_windows(labels, [1, 2, 3])) == [0, 4]
    assert list(_windows(labels, [1, 2])) == [0, 4, 8]
    assert list(_windows([1], [1, 2])) == []
