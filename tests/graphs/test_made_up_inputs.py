"""Inputs that nobody gave."""

from __future__ import annotations

import numpy as np

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset21 as op
from onnxsmith.graphs.made_up_inputs import made_up_inputs


@script
def repeated(x: FLOAT["N"], n: INT64):
    for _ in range(n):
        x = op.Sin(x)
    return x


@script
def chosen(x: FLOAT[2], k: INT64[1]):
    return op.Gather(x, k)


def test_a_single_integer_makes_loops_run() -> None:
    first = next(iter(made_up_inputs(repeated.to_model().inputs)))
    assert first["n"] == 2


def test_a_single_integer_may_be_an_index() -> None:
    tried = [int(np.asarray(each["k"]).item()) for each in made_up_inputs(chosen.to_model().inputs)]
    assert tried == [2, 0]
    assert chosen.to_model().profile(runs=1).kernels


def test_what_is_given_stays() -> None:
    two = script(lambda x, y: x + y).to_model(input_types={"x": FLOAT["N", 2], "y": FLOAT["N", "M"]})
    x = np.ones((7, 2), np.float32)
    tried = list(made_up_inputs(two.inputs, {"x": x}))
    assert all(each["x"] is x for each in tried)
    assert [np.shape(each["y"]) for each in tried] == [(7, 2), (7, 1), (7, 8), (7, 3), (7, 16)]


def test_open_dimensions_are_tried_in_several_sizes() -> None:
    sizes = [np.shape(each["x"])[0] for each in made_up_inputs(repeated.to_model().inputs)]
    assert sizes == [2, 1, 8, 3, 16] * 2
