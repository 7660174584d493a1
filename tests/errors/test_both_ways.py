"""One mistake has one error: the same class, code and words where operators run at once and where a graph is made.

Made in each case first of all, and again after the same call was made rightly: an eager call that was made before is
answered from memory, and must not be judged by another judge for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxsmith import opset21 as op
from onnxsmith import trace
from onnxsmith.errors import OnnxsmithError
from onnxsmith.runtime.engine import clear_cache
from onnxsmith.types.annotations import type_of_example
from tests.errors.catalogue import PROGRAM, Case, read_cases

#: Programs of the catalogue that make no graph themselves, and whose mistake is in a call on arrays.
_FOLDERS = ("operators/", "tensors/", "running/")
_OTHERWISE = ("script", "trace", "jit", "load", "using", "Model", "Opset(", "onnx.helper", "annotation_")
#: What only a run can find: how long a sequence is.
_FOUND_BY_RUNS = ("SequenceAt(",)


def _can_be_made_both_ways(case: Case) -> bool:
    if not case.name.startswith(_FOLDERS) or case.raises in ("OperatorFailedError", "DivisionByZeroError"):
        return False  # what only a runtime can find is not found in a graph
    words = (*_OTHERWISE, *_FOUND_BY_RUNS)
    return not any(word in case.program or word in case.name for word in words)


CASES = [case for case in read_cases() if _can_be_made_both_ways(case)]


def words(call: Callable[[], object]) -> tuple[type[OnnxsmithError], str, str] | None:
    try:
        call()
    except OnnxsmithError as error:
        return type(error), error.code, error.message
    return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_catalogued_mistake(case: Case) -> None:
    def run() -> Any:
        exec(compile(case.program, PROGRAM, "exec"), {"__name__": "__main__"})

    eager = words(run)
    assert eager is not None
    assert words(lambda: trace(run)) == eager


def test_there_are_enough() -> None:
    assert len(CASES) >= 25


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def same_both_ways(function: Callable[..., Any], right: tuple[Any, ...], wrong: tuple[Any, ...]) -> None:
    traced = words(lambda: trace(function, *map(type_of_example, wrong)))
    clear_cache()
    assert words(lambda: function(*wrong)) == traced
    words(lambda: function(*right))
    for _ in range(2):  # the second time, the right call may have been learnt by heart
        assert words(lambda: function(*wrong)) == traced


#: A call, inputs that it works on, and inputs of the same form that it does not work on.
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "matmul": (op.MatMul, (ones(2, 4), ones(4, 3)), (ones(2, 5), ones(4, 3))),
    "add": (op.Add, (ones(2, 5), ones(5)), (ones(2, 5), ones(2, 4))),
    "reshape": (lambda x: op.Reshape(x, [2, 5]), (ones(10),), (ones(4, 3),)),
    "reshape by an array": (lambda x: op.Reshape(x, np.array([2, 5])), (ones(10),), (ones(4, 3),)),
    "concat": (lambda x, y: op.Concat(x, y, axis=0), (ones(1, 3), ones(2, 3)), (ones(1, 3), ones(2, 4))),
    "concat of ranks": (lambda x, y: op.Concat(x, y, axis=0), (ones(1), ones(2)), (ones(1), ones(2, 4))),
    "axis": (lambda x: op.Softmax(x, axis=1), (ones(2, 5),), (ones(5),)),
    "axes": (lambda x: op.ReduceSum(x, [1]), (ones(2, 5),), (ones(5),)),
    "gather elements": (
        lambda x: op.GatherElements(x, np.zeros((2, 1), np.int64), axis=1),
        (ones(2, 5),),
        (ones(1, 5),),
    ),
    "gather by a matrix": (lambda x: op.Gather(x, [[3, 0]]), (ones(4),), (ones(2),)),
    "gather": (lambda x: op.Gather(x, [3]), (ones(4),), (ones(2),)),
    "transpose": (lambda x: op.Transpose(x, perm=[1, 0]), (ones(2, 5),), (ones(5),)),
    "split": (lambda x: op.Split(x, num_outputs=2, axis=1), (ones(2, 4),), (ones(4),)),
    "convolution": (op.Conv, (ones(1, 3, 8), ones(2, 3, 3)), (ones(1, 4, 8), ones(2, 3, 3))),
    "window": (lambda x: op.MaxPool(x, kernel_shape=[2]), (ones(1, 1, 4),), (ones(1, 4),)),
    "expand": (lambda x: op.Expand(x, [2, 3]), (ones(3),), (ones(4),)),
    "squeeze": (lambda x: op.Squeeze(x, [0]), (ones(1, 3),), (ones(2, 3),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_worked_before(name: str) -> None:
    function, right, wrong = CALLS[name]
    assert words(lambda: trace(function, *map(type_of_example, right))) is None
    assert words(lambda: trace(function, *map(type_of_example, wrong))) is not None
    same_both_ways(function, right, wrong)


shapes = st.lists(st.integers(1, 3), max_size=3).map(tuple)
operators: dict[str, Callable[..., Any]] = {
    "Add": op.Add,
    "MatMul": op.MatMul,
    "Where": lambda x, y: op.Where(np.array([True, False]), x, y),
    "Concat": lambda x, y: op.Concat(x, y, axis=-1),
    "Gemm": op.Gemm,
    "Reshape": lambda x, y: op.Reshape(x, np.array(y.shape or (1,))),
    "Expand": lambda x, y: op.Expand(x, np.array(y.shape or (1,))),
    "Squeeze": lambda x, y: op.Add(op.Squeeze(x, [0]), y),
    "ReduceMax": lambda x, y: op.ReduceMax(x, [1]),
    "Flatten": lambda x, y: op.Flatten(x, axis=2),
    "Tile": lambda x, y: op.Tile(x, np.ones(2, np.int64)),
    "GatherElements": lambda x, y: op.GatherElements(x, np.zeros(y.shape, np.int64), axis=1),
}


@settings(max_examples=100)
@given(
    name=st.sampled_from(sorted(operators)), right=st.tuples(shapes, shapes), wrong=st.tuples(shapes, shapes)
)
def test_on_any_shapes(name: str, right: Any, wrong: Any) -> None:
    made = [tuple(ones(*shape) for shape in pair) for pair in (right, wrong)]
    same_both_ways(operators[name], *made)
