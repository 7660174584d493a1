"""Spoiled cases are the same for the same seed, and spoil in many ways."""

from __future__ import annotations

import random

import numpy as np

from tests.laws.case import Case, node_case
from tests.laws.spoil import spoiled

DATA = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
CASE = node_case("sum", "ReduceSum", 13, [DATA, np.array([1])], {"keepdims": 0})


def made(seed: int) -> Case:
    return spoiled(CASE, random.Random(seed), f"sum~{seed}")


def test_a_seed_gives_one_case() -> None:
    for seed in range(20):
        one, other = made(seed), made(seed)
        assert one.graph_bytes == other.graph_bytes
        assert all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in zip(one.inputs, other.inputs, strict=True)
        )


def test_many_ways() -> None:
    cases = [made(seed) for seed in range(300)]
    data = [each.inputs[0] for each in cases]
    assert any(each.dtype != np.float32 for each in data)
    assert any(each.size == 0 for each in data)
    assert any(each.ndim != 2 for each in data)
    assert any(each.dtype.kind == "f" and not np.isfinite(each).all() for each in data)
    assert any(len(each.inputs) == 1 for each in cases)
    assert any(each.inputs[1:] and each.inputs[1].size == 0 for each in cases)
    assert {len(each.graph.node[0].attribute) for each in cases} >= {0, 1, 2}
    assert len({each.version("") for each in cases}) > 1


def test_the_original_is_left_alone() -> None:
    np.testing.assert_array_equal(CASE.inputs[0], np.arange(1, 7, dtype=np.float32).reshape(2, 3))
