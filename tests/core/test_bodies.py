"""Bodies given as functions: a literal that a loop starts from has the element type that the body gives that state."""

from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, errors, graph, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith.types.annotations import type_of_example


@script
def cumulative_sum(x):
    @graph()
    def add(sum_in, element):
        sum_out = sum_in + element
        return sum_out, op.Identity(sum_out)

    total, sums = op.Scan(0, x, body=add, num_scan_inputs=1)
    return total, sums


@script
def counted(n: INT64, x: FLOAT["N"]):
    @graph()
    def add(i, go_on, total, count):
        return go_on, total + x, count + 1

    total, count = op.Loop(n, None, 0, 0, body=add)
    return total, count


def assert_same(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for each, other in zip(found, expected, strict=True):
        assert each.dtype == other.dtype
        np.testing.assert_array_equal(each, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, np.float16])
def test_scan_from_a_literal(dtype: Any) -> None:
    x = np.array([1, 2, 3], dtype)
    expected = (np.array(6, dtype), np.array([1, 3, 6], dtype))
    assert_same(cumulative_sum(x), expected)
    assert_same(jit(cumulative_sum)(x), expected)
    model = cumulative_sum.to_model(input_types=[type_of_example(x)])
    model.check()
    assert_same(model(x), expected)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_loop_from_literals(count: int) -> None:
    x, n = np.array([1, 2], np.float32), np.array(count)
    model = counted.to_model()
    total = np.array(0, np.float32) if count == 0 else x * count
    assert_same(counted(n, x), (total, n))
    assert_same(model(n, x), (total, n))


BODIES: dict[str, Any] = {
    "a body that says nothing": lambda i, c, s: (c, s, s),
    "a float that meets nothing": lambda i, c, s: (c, s + 0.5),
    "a body that needs to know": lambda i, c, s: (c, s // 2),
    "a body of its own mind": lambda i, c, s: (c, op.Cast(i, to=11)),
    "a state of another shape": lambda i, c, s: (c, s + np.ones(2, np.float32)),
}


@pytest.mark.parametrize("start", [0, 4, 2.5, [1, 2]], ids=repr)
@pytest.mark.parametrize("name", BODIES)
def test_the_same_eagerly_and_in_a_graph(name: str, start: Any) -> None:
    def loop(x: Any) -> Any:
        return op.Loop(2, None, start, body=BODIES[name])

    x = np.ones(2, np.float32)
    try:
        expected = loop(x)
    except errors.OnnxsmithError as error:
        with pytest.raises(type(error)):
            trace(loop, FLOAT[2])
        return
    found = trace(loop, FLOAT[2])(x)
    many = isinstance(expected, tuple)
    assert_same(found if many else (found,), expected if many else (expected,))


def test_a_literal_that_does_not_fit_what_the_body_gives() -> None:
    def loop(x: Any) -> Any:
        return op.Loop(3, None, 2.5, body=lambda i, c, s: (c, op.Cast(x, to=7)))

    for call in (lambda: loop(np.float32(1)), lambda: trace(loop, FLOAT)):
        with pytest.raises(errors.LiteralError, match=r"the literal 2\.5 does not fit int64 in Loop"):
            call()


def test_a_body_that_changes_python_objects_is_refused_in_a_trace() -> None:
    log: list[int] = []

    def body(i: Any, condition: Any, value: Any) -> Any:
        log.append(1)
        return condition, value + len(log)

    def program(x: Any) -> Any:
        return op.Loop(3, None, x, body=body)

    with pytest.raises(errors.MutationError, match="'log' is changed inside this"):
        trace(program, FLOAT["N"])
    assert log == []
    np.testing.assert_array_equal(program(np.float32([1, 2])), [7, 8])  # eagerly it is Python that runs it


def test_a_branch_that_does_not_fit_the_first_iteration() -> None:
    def last_two(x):
        def body(turn, goes_on, made):
            made = op.Concat(made, op.Unsqueeze(op.Gather(x, turn), [0]), axis=0)
            is_long = op.Greater(op.Size(made), 1)
            made = op.If(
                is_long,
                then_branch=lambda: op.Concat(made, op.Gather(made, [-2]), axis=0),
                else_branch=lambda: op.Identity(made),
            )
            return goes_on, made

        return op.Loop(op.Size(x), None, np.zeros(0, np.float32), body=body)

    model = trace(last_two, FLOAT["N"])
    assert_same(model(np.float32([1, 2, 3])), np.float32([1, 2, 1, 3, 1]))


def test_an_index_past_sizes_that_stay_is_refused() -> None:
    with pytest.raises(errors.TensorIndexError):
        trace(
            lambda x: op.Loop(
                3, None, x, body=lambda turn, goes_on, state: (goes_on, state + op.Gather(state, [4]))
            ),
            FLOAT[2],
        )
