"""Inputs that nobody gave."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from onnxsmith import BOOL, FLOAT, INT64, STRING, DType, script
from onnxsmith import opset21 as op
from onnxsmith.graphs.model_inputs import Port
from onnxsmith.graphs.trial_inputs import (
    Draw,
    Values,
    around,
    further_trials,
    outside,
    sizes_apart,
    trials,
)


@script
def repeated(x: FLOAT["N"], n: INT64):
    for _ in range(n):
        x = op.Sin(x)
    return x


@script
def chosen(x: FLOAT[2], k: INT64[1]):
    return op.Gather(x, k)


def test_a_single_integer_makes_loops_run() -> None:
    first = next(iter(trials(repeated.to_model().inputs)))
    assert first.inputs["n"] == 2


def test_a_single_integer_may_be_an_index() -> None:
    tried = [int(np.asarray(each.inputs["k"]).item()) for each in trials(chosen.to_model().inputs)]
    assert tried == [2, 0]
    assert chosen.to_model().profile(runs=1).kernels


def test_what_is_given_stays() -> None:
    two = script(lambda x, y: x + y).to_model(input_types={"x": FLOAT["N", 2], "y": FLOAT["N", "M"]})
    x = np.ones((7, 2), np.float32)
    tried = list(trials(two.inputs, {"x": x}))
    assert all(each.inputs["x"] is x for each in tried)
    assert [np.shape(each.inputs["y"]) for each in tried] == [(7, each) for each in (2, 1, 7, 8, 3, 16)]


def test_dynamic_dimensions_are_tried_in_several_sizes() -> None:
    sizes = [np.shape(each.inputs["x"])[0] for each in trials(repeated.to_model().inputs)]
    assert sizes == [2, 1, 7, 8, 3, 16] * 2


def test_further_trials_have_other_sizes_and_the_values_that_are_allowed() -> None:
    ports = [Port("x", FLOAT["N", 8]), Port("y", FLOAT["N"])]
    allowed = [Values.SMALL, Values.HUGE, Values.EDGES, Values.NOT_FINITE]
    made = list(further_trials(ports, next(trials(ports)), allowed, [3.0]))
    assert [np.shape(each["x"]) for each in made] == [(0, 8), (1, 8), (7, 8), (2, 8), (2, 8)]
    assert all(np.shape(each["y"])[0] == np.shape(each["x"])[0] for each in made)  # equal names, equal sizes
    _, small, huge, edges, special = (np.asarray(each["x"]) for each in made)
    assert np.abs(small).max() < 1e-4
    assert np.abs(huge).max() > 1e4
    assert {bool(np.signbit(each)) for each in edges.flat if each == 0} == {False, True}
    assert {3.0, *np.nextafter(np.float32(3), np.float32([0, 9])).tolist()} <= set(edges.ravel().tolist())
    assert np.isnan(special).any()
    assert {np.inf, -np.inf} <= set(special.ravel().tolist())


def test_values_are_tried_where_all_sizes_are_known() -> None:
    ports = [Port("x", FLOAT[3])]
    made = list(further_trials(ports, next(trials(ports)), [Values.SMALL, Values.NOT_FINITE]))
    assert [bool(np.isfinite(np.asarray(each["x"])).all()) for each in made] == [True, False]


def test_values_are_for_floating_point_numbers_alone() -> None:
    ports = [Port("i", INT64[3]), Port("b", BOOL[3]), Port("s", STRING[3])]
    assert not list(further_trials(ports, next(trials(ports)), list(Values)))


def test_names_have_sizes_of_their_own() -> None:
    assert sizes_apart(["N", "M"]) == [{"N": a, "M": b} for a, b in [(0, 0), (1, 1), (2, 3), (7, 9)]]


@pytest.mark.parametrize("dtype", list(DType), ids=str)
def test_elements_of_every_type(dtype) -> None:
    for values, shape in itertools.product(Values, [(), (0,), (3, 4)]):
        array = Draw(1).elements(dtype, shape, values=values, thresholds=[0.5])
        assert (array.shape, array.dtype) == (shape, dtype.numpy)


def test_equal_seeds_give_equal_elements() -> None:
    one, two, three = (Draw(seed).elements(DType.FLOAT, (20,)) for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, three)


@pytest.mark.parametrize(
    "array",
    [
        np.ones((4, 5), np.float32),
        np.full((4, 5), 3, ml_dtypes.bfloat16),
        np.full((4, 5), 1 + 2j, np.complex64),
        np.full((4, 5), 255, np.uint8),
        np.full((4, 5), 2**63 - 1, np.int64),
        np.ones((4, 5), bool),
        np.array([["a", "b"]], object),
    ],
    ids=lambda array: str(array.dtype),
)
def test_near_elements_keep_type_and_shape(array) -> None:
    found = Draw(0).near(array)
    assert (found.shape, found.dtype) == (array.shape, array.dtype)
    if array.dtype.kind in "iu":
        assert found.min() >= array.min() - 1


def test_numbers_next_to_others() -> None:
    assert around(0.1, np.dtype(np.float64))[:3] == [np.nextafter(0.1, -1), 0.1, np.nextafter(0.1, 1)]
    assert outside(np.array([0.0, 8.0, np.nan])) == [-1.0, -16.0, 9.0, 24.0]
    assert outside(np.array([np.nan])) == [0.0] * 4
