"""A run that fails says what the same mistake says elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import BOOL, FLOAT, INT64, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError, ShapeError, TensorIndexError
from onnxsmith.runtime import using

A, B = np.ones((2, 5), np.float32), np.ones((4, 3), np.float32)


def error_of(call) -> OnnxsmithError:
    with pytest.raises(OnnxsmithError) as caught:
        call()
    return caught.value


def test_a_model_a_jitted_script_and_an_eager_call_agree() -> None:
    @script
    def product(a: FLOAT[...], b: FLOAT[...]):
        return op.MatMul(a, b)

    model = trace(lambda a, b: op.MatMul(a, b), FLOAT["I", "J"], FLOAT["K", "L"])
    errors = [
        error_of(lambda: op.MatMul(A, B)),
        error_of(lambda: jit(product)(A, B)),
        error_of(lambda: model(A, B)),
    ]
    assert {type(each) for each in errors} == {ShapeError}
    assert all("the inner dimensions are 5 and 4" in each.message for each in errors)


def test_the_line_of_the_node_is_shown() -> None:
    model = trace(lambda a, b: op.MatMul(a, b), FLOAT["I", "J"], FLOAT["K", "L"])
    span = error_of(lambda: model(A, B)).span
    assert span is not None
    assert span.file == __file__


def test_a_branch_that_was_not_taken_is_not_blamed() -> None:
    @script
    def program(c: BOOL, a: FLOAT["I", "J"], b: FLOAT["K", "L"], i: FLOAT["N"]):
        if c:
            y = op.MatMul(a, b)
        else:
            y = op.Gather(a, op.Cast(i, to=7))
        return y

    error = error_of(lambda: program.to_model()(False, A, B, np.float32([99])))
    assert "Gather" in error.message
    assert "MatMul" not in error.message


@script
def by_what_is_found(x: FLOAT["N"], i: INT64["K"]):
    return op.Gather(x, op.ArgMax(x, axis=0, keepdims=0) + op.Cast(op.ReduceSum(x), to=7) + i)


@script
def in_a_loop(x: FLOAT["N"], i: INT64["K"]):
    total = x[0]
    for k in range(op.ReduceSum(i, keepdims=0)):
        total = total + x[k]
    return total


@script
def by_elements(x: FLOAT["N"], i: INT64["K"]):
    return op.GatherElements(x, op.Abs(i) * 2)


@script
def scattered(x: FLOAT["N"], i: INT64["K"]):
    return op.ScatterElements(x, op.Abs(i) * 2, op.Cast(i, to=1))


@script
def by_rows(x: FLOAT["N"], i: INT64["K"]):
    return op.GatherND(x, op.Unsqueeze(op.Abs(i) * 2, [1]))


@script
def of_a_sequence(x: FLOAT["N"], i: INT64["K"]):
    return op.SequenceAt(op.SplitToSequence(x), op.ReduceSum(i, keepdims=0) * 2)


@pytest.mark.parametrize(
    "program",
    [by_what_is_found, in_a_loop, by_elements, scattered, by_rows, of_a_sequence],
    ids=lambda p: p.name,
)
@pytest.mark.parametrize("index", [np.array([5, 1]), np.full(2000, 9)], ids=["few", "many"])
def test_an_index_that_only_the_run_decides_has_one_class(program, index: np.ndarray) -> None:
    x = np.arange(4, dtype=np.float32)
    roads = [lambda: program(x, index), lambda: program.jit(x, index), lambda: program.to_model()(x, index)]
    assert [type(error_of(road)) for road in roads] == [TensorIndexError] * 3


def test_the_reference_evaluator_has_the_same_class() -> None:
    x = np.arange(4, dtype=np.float32)
    with using(runtime="reference"):
        errors = [error_of(lambda: by_what_is_found(x, np.array([0])))]
        errors += [error_of(lambda: by_what_is_found.to_model()(x, np.array([0])))]
    assert [type(each) for each in errors] == [TensorIndexError] * 2
