"""Scattering: what is written over has no gradient, by whichever of the operators and however places are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import opset21 as op
from onnxsmith.grad import grad, jvp

RANDOM = np.random.default_rng(0)
BASE = RANDOM.standard_normal((5, 3)).astype(np.float32)
WEIGHT = RANDOM.standard_normal((5, 3)).astype(np.float32)
#: Places along the first axis: none twice, some twice, from the front and from the end, one alone.
PLACES = [[0, 1, 2], [0, 0, 1], [4, -1, 2], [2, 2, 2], [3, 3, -2], [-1, 0, 4], [3]]


def put_rows(base: Any, rows: Any, places: Any) -> Any:
    return op.ScatterND(base, op.Unsqueeze(places, [-1]), rows)


def put_elements(base: Any, rows: Any, places: Any) -> Any:
    return op.ScatterElements(base, op.Expand(op.Unsqueeze(places, [-1]), op.Shape(rows)), rows)


def written(places: list[int], rows: np.ndarray) -> np.ndarray:
    result = BASE.astype(np.float64)
    for place, row in zip(places, rows, strict=True):
        result[place] = row
    return result


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("put", [put_rows, put_elements])
@pytest.mark.parametrize("places", PLACES)
def test_what_is_written_last_has_the_gradient(places: list[int], put: Any, is_known: bool) -> None:
    rows = RANDOM.standard_normal((len(places), 3)).astype(np.float32)
    where = np.int64(places)
    if is_known:
        found = grad(lambda base, rows: (put(base, rows, where) * WEIGHT).sum(), wrt=(0, 1))(BASE, rows)
    else:
        found = grad(lambda base, rows, where: (put(base, rows, where) * WEIGHT).sum(), wrt=(0, 1))(
            BASE, rows, where
        )
    last = {place % 5: k for k, place in enumerate(places)}
    wanted = np.zeros_like(rows)
    for place, k in last.items():
        wanted[k] = WEIGHT[place]
    np.testing.assert_array_equal(found[1], wanted)
    rest = WEIGHT.copy()
    rest[where] = 0
    np.testing.assert_array_equal(found[0], rest)


@pytest.mark.parametrize("put", [put_rows, put_elements])
@pytest.mark.parametrize("places", PLACES)
def test_the_way_forwards_is_the_difference(places: list[int], put: Any) -> None:
    rows = RANDOM.standard_normal((len(places), 3)).astype(np.float32)
    tangent = RANDOM.standard_normal(rows.shape).astype(np.float32)
    squared = jvp(lambda rows, where: put(BASE, rows, where) ** 2.0)
    _, found = squared(rows, np.int64(places), tangent=tangent)
    ends = [written(places, rows + sign * tangent.astype(np.float64)) ** 2 for sign in (1e-3, -1e-3)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / 2e-3, rtol=1e-4, atol=1e-4)


def test_places_that_are_known_to_differ_cost_nothing() -> None:
    def made(places: list[int]) -> int:
        model = grad(lambda rows: (put_rows(BASE, rows, np.int64(places)) ** 2.0).sum())
        return len(model.to_model(np.ones((len(places), 3), np.float32)).ir.graph)

    assert made([0, 1, 2]) < made([0, 0, 1])
