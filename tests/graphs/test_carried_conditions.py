"""The sizes that a model is for, where it is called in another one: refused at once, refused in a run, or warned of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, Model, script, trace
from onnxsmith.errors import ModelInputError, ModelWarning
from onnxsmith.graphs.size_conditions import SIZES_KEY, SizeCondition, read, written


def _limited(*texts: str) -> Model:
    model: Any = trace(lambda x: x + 1.0, FLOAT["n", "m"])
    model.ir.metadata_props[SIZES_KEY] = written([SizeCondition(each, "model.py:3") for each in texts])
    return Model(model.ir)


def _ones(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


@pytest.fixture(autouse=True)
def no_other_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        yield


def test_sizes_that_are_known_are_refused_where_the_call_is_written():
    limited = _limited("n <= 4")
    with pytest.raises(ModelInputError, match=r"the model is for n <= 4, and was given n = 8"):
        trace(lambda x: limited(x) + 0.0, FLOAT[8, 4])
    small = trace(lambda x: limited(x) + 0.0, FLOAT[3, 4])
    assert SIZES_KEY not in small.ir.metadata_props


def test_the_outer_model_has_the_condition_in_its_own_names(tmp_path):
    limited = _limited("n <= m", "max(n, 2) % 2 == 0")
    outer = trace(lambda x: limited(x) + 0.0, FLOAT["N", 4])
    assert [each.text for each in read(outer.ir.metadata_props)] == ["N <= 4", "max(N, 2) % 2 == 0"]
    outer.save(tmp_path / "outer.onnx")
    for model in (outer, Model.load(tmp_path / "outer.onnx"), trace(lambda x: outer(x) * 1.0, FLOAT["k", 4])):
        assert model(_ones(4, 4)).shape == (4, 4)
        with pytest.raises(ModelInputError, match=r"the model is for \w <= 4, and was given \w = 8"):
            model(_ones(8, 4))


def test_a_name_that_is_no_identifier_stays_one():
    limited = _limited("n <= 4")
    outer = trace(lambda x: limited(x) + 0.0, FLOAT["batch size", 4])
    assert [each.text for each in read(outer.ir.metadata_props)] == ["'batch size' <= 4"]
    with pytest.raises(ModelInputError, match="batch size = 8"):
        outer(_ones(8, 4))


def test_sizes_that_no_input_names_are_warned_of():
    limited = _limited("n <= 4")
    with pytest.warns(ModelWarning, match=r"for n <= 4, and nothing will check that"):
        outer = trace(lambda x: limited(x) + 0.0, FLOAT[None, 4])
    assert SIZES_KEY not in outer.ir.metadata_props


LIMITED = _limited("n <= 4")


@script
def inner(y: FLOAT["K", 4]) -> FLOAT["K", 4]:
    return LIMITED(y) * 2.0


@script
def middle(z: FLOAT["N", 4]) -> FLOAT["N", 4]:
    return inner(z)


@script
def main(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
    return middle(x) + 0.0


@script
def direct(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
    return LIMITED(x) + 0.0


@pytest.mark.parametrize("each", [main, direct, inner])
def test_scripts_carry_them_through_functions_and_jit(each: Any):
    for run in (each, each.jit, each.to_model()):
        assert run(_ones(4, 4)).shape == (4, 4)
        with pytest.raises(ModelInputError, match=r"the model is for \w <= 4, and was given \w = 8"):
            run(_ones(8, 4))
