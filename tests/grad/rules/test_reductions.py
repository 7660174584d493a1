"""Gradients of reductions over all axes, over some, with axes that stay and that go, and of running ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import opset24 as op
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

#: Positive, for logarithms; no two are equal.
X = np.array([[[0.5, 1.7], [2.4, 0.9]], [[3.1, 0.2], [1.1, 0.7]]])
#: A name, what is computed, and of which arrays.
CASES: dict[str, tuple[Any, ...]] = {
    "Sum of all": (lambda x: op.ReduceSum(x), X),
    "Mean of all": (lambda x: op.ReduceMean(x), X),
    "SumSquare of all": (lambda x: op.ReduceSumSquare(x), X),
    "L1 of all": (lambda x: op.ReduceL1(x), X),
    "L2 of all": (lambda x: op.ReduceL2(x), X),
    "LogSum of all": (lambda x: op.ReduceLogSum(x), X),
    "LogSumExp of all": (lambda x: op.ReduceLogSumExp(x), X),
    "Max of all": (lambda x: op.ReduceMax(x), X),
    "Min of all": (lambda x: op.ReduceMin(x), X),
    "Prod of all": (lambda x: op.ReduceProd(x), X),
    "Sum of some, axes go": (lambda x: op.ReduceSum(x, [0, -1], keepdims=0), X),
    "Mean of some, axes go": (lambda x: op.ReduceMean(x, [0, -1], keepdims=0), X),
    "SumSquare of some, axes go": (lambda x: op.ReduceSumSquare(x, [0, -1], keepdims=0), X),
    "L1 of some, axes go": (lambda x: op.ReduceL1(x, [0, -1], keepdims=0), X),
    "L2 of some, axes go": (lambda x: op.ReduceL2(x, [0, -1], keepdims=0), X),
    "LogSum of some, axes go": (lambda x: op.ReduceLogSum(x, [0, -1], keepdims=0), X),
    "LogSumExp of some, axes go": (lambda x: op.ReduceLogSumExp(x, [0, -1], keepdims=0), X),
    "Max of some, axes go": (lambda x: op.ReduceMax(x, [0, -1], keepdims=0), X),
    "Min of some, axes go": (lambda x: op.ReduceMin(x, [0, -1], keepdims=0), X),
    "Prod of some, axes go": (lambda x: op.ReduceProd(x, [0, -1], keepdims=0), X),
    "Sum of one": (lambda x: op.ReduceSum(x, [1]), X),
    "Mean of one": (lambda x: op.ReduceMean(x, [1]), X),
    "SumSquare of one": (lambda x: op.ReduceSumSquare(x, [1]), X),
    "L1 of one": (lambda x: op.ReduceL1(x, [1]), X),
    "L2 of one": (lambda x: op.ReduceL2(x, [1]), X),
    "LogSum of one": (lambda x: op.ReduceLogSum(x, [1]), X),
    "LogSumExp of one": (lambda x: op.ReduceLogSumExp(x, [1]), X),
    "Max of one": (lambda x: op.ReduceMax(x, [1]), X),
    "Min of one": (lambda x: op.ReduceMin(x, [1]), X),
    "Prod of one": (lambda x: op.ReduceProd(x, [1]), X),
    "Sum of none": (lambda x: op.ReduceSum(x, noop_with_empty_axes=1), X),
    "L1 of negatives": (lambda x: op.ReduceL1(x, [1]), -X),
    "Prod with a zero": (lambda x: op.ReduceProd(x, [1]), X * (X != 2.4)),
    "CumSum": (lambda x: op.CumSum(x, np.int64(1)), X),
    "CumSum backwards": (lambda x: op.CumSum(x, np.int64(1), reverse=1), X),
    "CumSum without the own": (lambda x: op.CumSum(x, np.int64(1), exclusive=1), X),
    "CumSum both": (lambda x: op.CumSum(x, np.int64(1), reverse=1, exclusive=1), X),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    function, *arrays = CASES[name]
    agree(function, *arrays)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("reductions") == []
