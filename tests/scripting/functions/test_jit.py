"""`profile` of scripts and jitted functions: the model that a call would run."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from onnxsmith import FLOAT, INT64, jit, script
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError

X = np.ones((3, 4), np.float32)


@script
def typed(x: FLOAT["N", 4], n: INT64):
    for _ in range(n):
        x = op.Exp(x)
    return x


@script
def open_types(x, y, alpha: float = 0.5):
    return op.LeakyRelu(x * y, alpha=alpha)


@pytest.mark.parametrize("function", [typed, typed.jit, jit(typed)])
def test_inputs_in_order_by_name_and_made_up(function) -> None:
    for inputs in ([X, np.array(2)], {"x": X, "n": np.array(2)}, None):
        profile = function.profile(inputs, runs=1, warm_up=0)
        assert {each.operator for each in profile.kernels} == {"Loop", "Exp"}
        assert profile.circumstances.are_made_up == (inputs is None)
        assert {line.file for each in profile.kernels for line in each.lines} == {__file__}


def test_types_are_those_of_the_inputs() -> None:
    profile = open_types.profile([X.astype(np.float64), X.astype(np.float64)], runs=1)
    assert dict(profile.circumstances.inputs) == {"x": "float64[3, 4]", "y": "float64[3, 4]"}


def test_attributes_are_given_by_name() -> None:
    profile = open_types.profile({"x": X, "y": X, "alpha": 0.1}, runs=1)
    assert "LeakyRelu" in {each.operator for each in profile.kernels}


@pytest.mark.parametrize("inputs", [X, "x", 3, [X], {"x": X, "m": X}])
def test_wrong_inputs(inputs) -> None:
    with pytest.raises(OnnxsmithError) as found:
        typed.profile(inputs, runs=1)
    assert "inputs" in found.value.message or "'n'" in found.value.message or "'m'" in found.value.message


@script
def same_sizes(x: FLOAT["N", "M"], y: FLOAT["M"], z: FLOAT["N", 1]):
    return x + y + z


@pytest.mark.parametrize(
    ("sizes", "is_right"),
    [
        (((2, 3), (3,), (2, 1)), True),
        (((1, 3), (3,), (1, 1)), True),
        # These would be broadcast.
        (((2, 3), (1,), (2, 1)), False),
        (((2, 1), (3,), (2, 1)), False),
        (((2, 3), (3,), (1, 1)), False),
        (((1, 3), (3,), (2, 1)), False),
    ],
)
def test_sizes_of_one_name_are_equal(sizes, is_right: bool) -> None:
    arrays = [np.ones(each, np.float32) for each in sizes]
    same_sizes.jit(*[np.ones(each, np.float32) for each in ((4, 5), (5,), (4, 1))])
    if is_right:
        np.testing.assert_array_equal(same_sizes.jit(*arrays), sum(arrays))
        return
    for call in (same_sizes.jit, same_sizes):
        with pytest.raises(OnnxsmithError, match=r"'[NM]'"):
            call(*arrays)


@script
def shifted(x: FLOAT["N"], w: TensorProto):
    return x + op.Constant(value=w)


@script
def decided(x: FLOAT["N"], w: TensorProto):
    return x + (2.0 if np.asarray(w).sum() > 1 else 1.0)


def test_the_values_of_a_long_attribute_are_told_apart() -> None:
    """The text of an array leaves out most of its elements."""
    x, first = np.zeros(2000, np.float32), np.zeros(2000, np.float32)
    second = first.copy()
    second[1000] = 5

    @script
    def both(x: FLOAT["N"]):
        return decided(x, first), decided(x, second)

    for function in (shifted, decided):
        for value in (first, second, numpy_helper.from_array(first), numpy_helper.from_array(second)):
            np.testing.assert_array_equal(function.jit(x, value), function(x, value))
        given = first.copy()
        for _ in range(2):
            np.testing.assert_array_equal(function.jit(x, given), function(x, given))
            given[7] = 3
    for run in (both.jit, both.to_model()):
        for result, wanted in zip(run(x), both(x), strict=True):
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("value", [None, memoryview(b"a"), 1.5])
def test_attributes_are_checked_as_in_an_eager_run(value) -> None:
    """A None was taken for the default, and what has no hash was Python's error."""

    @script
    def scaled(x: FLOAT["N"], k: int = 7):
        return x * k

    for run in (scaled, scaled.jit):
        with pytest.raises(OnnxsmithError, match="'k' of scaled is an attribute, an int"):
            run(np.ones(2, np.float32), k=value)


quick = jit(shifted)


@script
def calls_what_jit_made(x: FLOAT["N"]):
    for _ in range(2):
        x = quick(x, np.float32([1, 2]))
    return x


def test_a_script_calls_what_jit_made_as_the_script_itself() -> None:
    x = np.zeros(2, np.float32)
    for run in (calls_what_jit_made, calls_what_jit_made.to_model(), calls_what_jit_made.jit):
        np.testing.assert_array_equal(run(x), [2, 4])
