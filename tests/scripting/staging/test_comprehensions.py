"""Comprehensions over what only the model knows are loops of the model; all others are Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset21 as op
from onnxsmith.errors import MutationError

X = np.array([1, -2, 3, -4], np.float32)


@script
def doubled(x: FLOAT["N"]):
    return op.ConcatFromSequence([v * 2.0 for v in x], axis=0, new_axis=1)


@script
def taken(x: FLOAT["N"]):
    return op.ConcatFromSequence([v + 1.0 for v in x if v > 0.0 if v < 10.0], axis=0, new_axis=1)


@script
def with_positions(x: FLOAT["N"]):
    scale = 3.0
    return op.ConcatFromSequence([v * float(i) * scale for i, v in enumerate(x)], axis=0, new_axis=1)


@script
def nested(x: FLOAT["N"]):
    return op.ConcatFromSequence([a * b for a in x for b in x if a > b], axis=0, new_axis=1)


@script
def inside_another(x: FLOAT["N"]):
    rows = [op.ConcatFromSequence([a - b for b in x], axis=0, new_axis=1) for a in x]
    return op.ConcatFromSequence(rows, axis=0, new_axis=1)


@script
def counted(x: FLOAT["N"], n: INT64):
    return op.ConcatFromSequence([x[i] for i in range(n)], axis=0, new_axis=1)


@script
def open_condition(x: FLOAT["N"]):
    return op.ConcatFromSequence([x[i] for i in range(4) if x[i] > 0.0], axis=0, new_axis=1)


@script
def in_a_branch(x: FLOAT["N"]):
    if op.ReduceSum(x, keepdims=0) > 0.0:
        values = [v for v in x]  # noqa: C416  # that it is a comprehension is what is tested
    else:
        values = [v * 2.0 for v in x]
    return op.ConcatFromSequence(values, axis=0, new_axis=1)


@pytest.mark.parametrize(
    "function",
    [doubled, taken, with_positions, nested, inside_another, open_condition, in_a_branch],
    ids=lambda each: each.__name__,
)
@pytest.mark.parametrize(
    "x", [X, -X, np.array([5, 1, 2, 4], np.float32)], ids=["mixed", "opposite", "positive"]
)
def test_eager_run_and_model_agree(function: Any, x: np.ndarray):
    np.testing.assert_array_equal(function.to_model()(x), function(x))


def test_a_range_that_the_model_counts():
    np.testing.assert_array_equal(counted.to_model()(X, 3), X[:3])


def test_what_was_tried_leaves_nothing():
    @script
    def noted(x: FLOAT["N"]):
        seen: list[int] = []

        def note(k: int) -> bool:
            seen.append(k)
            return k < 2

        kept = [x[k] for k in range(4) if note(k) or x[k] > 0.0]
        return op.ConcatFromSequence(kept, axis=0, new_axis=1) * float(len(seen))

    try:
        model = noted.to_model()
    except MutationError:
        return  # that it is refused is as good as that it is right
    np.testing.assert_array_equal(model(X), noted(X))


def test_a_comprehension_of_known_things_is_pythons():
    @script
    def unrolled(x: FLOAT[3]):
        return op.Concat(*[x[k : k + 1] * float(k) for k in range(3)], axis=0)

    assert not any(each.op_type in ("Loop", "If") for each in unrolled.to_model().proto.graph.node)


def test_a_lambda_keeps_its_own_names():
    @script
    def called(x: FLOAT[2]):
        both: Callable[[Any], list[Any]] = lambda k: [v * k for v in (x, x)]  # noqa: E731
        first, second = both(2.0)
        return first + second

    np.testing.assert_array_equal(called.to_model()(X[:2]), X[:2] * 4)
