"""What two paths have in common: a model that onnx's checker takes, or an error where they have nothing."""

from typing import Any

import numpy as np
import pytest

from onnxsmith import BOOL, FLOAT, INT64, errors, script, tensor
from onnxsmith import opset21 as op


def sequences_of_two_types(c: BOOL, x: FLOAT["N"], i: INT64["N"]):
    if c:
        s = op.SequenceConstruct(x)
    else:
        s = op.SequenceConstruct(i)
    return op.SequenceLength(s)


def a_tensor_or_a_sequence(c: BOOL, x: FLOAT["N"]):
    s = x if c else op.SequenceConstruct(x)
    return op.Identity(s)


def sequence_that_changes_its_type(n: INT64, x: FLOAT["N"], i: INT64["N"]):
    s = op.SequenceConstruct(x)
    for _ in range(n):
        s = op.SequenceConstruct(i)
    return op.SequenceLength(s)


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (sequences_of_two_types, errors.BranchTypeError, "when the condition is true and"),
        (a_tensor_or_a_sequence, errors.BranchTypeError, "a sequence of float32"),
        (sequence_that_changes_its_type, errors.LoopTypeError, "before an iteration and"),
    ],
)
def test_types_that_no_value_has_both_of(function: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        script(function)


@script
def sequences_of_two_shapes(c: BOOL, x: FLOAT[2], y: FLOAT[3]):
    if c:
        s = op.SequenceConstruct(x)
    else:
        s = op.SequenceConstruct(y)
    return op.SequenceAt(s, 0)


@script
def optionals_of_two_shapes(c: BOOL, x: FLOAT[2], y: FLOAT[3]):
    if c:
        s = op.Optional(x)
    else:
        s = op.Optional(y)
    return op.OptionalGetElement(s)


@script
def a_sequence_that_grows(n: INT64, x: FLOAT[2], y: FLOAT[3]):
    s = op.SequenceConstruct(x)
    for _ in range(n):
        s = op.SequenceConstruct(y)
    return op.SequenceAt(s, 0)


@pytest.mark.parametrize("made", [sequences_of_two_shapes, optionals_of_two_shapes, a_sequence_that_grows])
@pytest.mark.parametrize("first", [True, False])
def test_shapes_that_differ_are_left_open(made: Any, first: bool) -> None:
    model = made.to_model()
    model.check()
    x, y = np.ones(2, np.float32), np.zeros(3, np.float32)
    test = np.array(first) if made is not a_sequence_that_grows else np.array(int(first))
    np.testing.assert_array_equal(model(test, x, y), made(test, x, y))


RUNNING = tensor(np.float32([1, 2]))


def test_a_tensor_that_runs_is_a_constant_wherever_it_stands() -> None:
    @script
    def added(x: FLOAT[2], y: FLOAT[2]):
        return x + y

    @script
    def program(x: FLOAT[2]):
        is_positive = op.ReduceSum(x, keepdims=0) > 0
        return RUNNING, added(x, RUNNING), RUNNING if is_positive else x + RUNNING

    model, constant = program.to_model(), RUNNING.array
    assert len(model.ir.graph.initializers) == 2  # itself, and zero
    for sign in (1, -1):
        x = np.float32([3, 4]) * np.float32(sign)
        expected = constant, x + constant, constant if sign > 0 else x + constant
        for found, wanted in zip(model(x), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
