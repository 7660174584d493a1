"""Scattering: what is written over has no gradient, by whichever of the operators and however places are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import opset21 as op
from onnxsmith.grad import grad, jvp
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

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


MATRIX = np.arange(12.0).reshape(3, 4) % 5 + np.linspace(0, 0.7, 12).reshape(3, 4)
#: A name, what is computed, and of which arrays.
MOVED: dict[str, tuple[Any, ...]] = {
    "Gather of rows, one twice": (lambda x: op.Gather(x, [2, 0, 2, -1]), MATRIX),
    "Gather of one column": (lambda x: op.Gather(x, np.int64(1), axis=1), MATRIX),
    "GatherElements": (lambda x: op.GatherElements(x, np.int64([[0, 3], [1, 1], [-1, 2]]), axis=1), MATRIX),
    "GatherND of elements": (lambda x: op.GatherND(x, np.int64([[0, 1], [2, 3], [0, 1]])), MATRIX),
    "GatherND in batches": (lambda x: op.GatherND(x, np.int64([[1], [0], [-1]]), batch_dims=1), MATRIX),
    "ScatterElements that adds": (
        lambda x, y: op.ScatterElements(x, np.int64([[0, 1, 1, 0]]), y, reduction="add"),
        MATRIX,
        MATRIX[:1] + 1,
    ),
    "ScatterND that adds": (
        lambda x, y: op.ScatterND(x, np.int64([[1], [1]]), y, reduction="add"),
        MATRIX,
        MATRIX[:2] + 1,
    ),
    "Slice": (lambda x: op.Slice(x, [0, 1], [3, 4], [0, 1], [2, 2]), MATRIX),
    "Slice backwards": (lambda x: op.Slice(x, [-1], [-9], [1], [-2]), MATRIX),
    "Pad": (lambda x: op.Pad(x, [1, 0, 0, 2]), MATRIX),
    "Pad by a value": (lambda x, v: op.Pad(x, [0, 2, 1, 0], v), MATRIX, np.array(0.5)),
    "Pad of one axis": (lambda x: op.Pad(x, [1, 2], None, [-1]), MATRIX),
    "Pad that cuts off": (lambda x: op.Pad(x, [-1, 0, 0, 1]), MATRIX),
    "Pad by reflection": (lambda x: op.Pad(x, [0, 2, 1, 1], mode="reflect"), MATRIX),
    "Pad by the edge": (lambda x: op.Pad(x, [1, 0, 2, 2], mode="edge"), MATRIX),
    "Pad around": (lambda x: op.Pad(x, [1, 1, 0, 2], mode="wrap"), MATRIX),
    "Compress of rows": (lambda x: op.Compress(x, np.array([True, False, True]), axis=0), MATRIX),
    "Compress of elements": (lambda x: op.Compress(x, np.arange(12) % 3 == 1), MATRIX),
    "TopK": (lambda x: op.TopK(x, [2], axis=1)[0], MATRIX),
    "TopK, the least": (lambda x: op.TopK(x, [2], axis=0, largest=0)[0], MATRIX),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_moves_elements(name: str) -> None:
    function, *arrays = MOVED[name]
    agree(function, *arrays)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("indexing") == []
