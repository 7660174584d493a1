"""Sizes that nothing reads are left out; all that may fail stays."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith import FLOAT, opset23, trace
from onnxsmith.graphs.records import ModelRecord
from onnxsmith.graphs.unread_sizes import leave_out_unread_sizes

op: Any = opset23


def _operators(function: Any) -> list[str]:
    model: Any = trace(function, FLOAT["N", "M"])  # whose record is no part of its stub
    held = model._held
    assert isinstance(held, ModelRecord)
    leave_out_unread_sizes(held.graph)
    x = np.ones((2, 3), np.float32)
    model(x)
    return [each.op_type for each in held.graph.all_nodes()]


def test_sizes_that_nothing_reads_are_left_out_one_behind_the_other() -> None:
    def function(x: Any) -> Any:
        op.Unsqueeze(op.Gather(op.Shape(x), 0), [0])
        op.Size(x)
        return op.Neg(x)

    assert _operators(function) == ["Neg"]


def test_sizes_that_something_reads_stay_also_where_it_stands_inside() -> None:
    def function(x: Any) -> Any:
        sizes = op.Shape(x)
        return op.If(
            op.Greater(op.ReduceSum(x, keepdims=0), 0.0),
            then_branch=lambda: op.Identity(sizes),
            else_branch=lambda: op.Add(sizes, sizes),
        )

    assert _operators(function).count("Shape") == 1


def test_what_may_fail_stays() -> None:
    def function(x: Any) -> Any:
        op.Reshape(x, [6])
        return op.Neg(x)

    assert _operators(function) == ["Reshape", "Neg"]
