"""The law of indexing: eager = traced model in ONNX Runtime = numpy, for every form of index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onnxsmith import FLOAT, tensor, trace
from onnxsmith.errors import TensorIndexError, UnknownRankError
from tests.core.laws import ALL, agree, check, counted, law, run, shapes, types_of
from tests.core.semantics.index_strategies import subscripts


@st.composite
def cases(draw: Any, dynamic: bool, arrays: bool = True) -> Any:
    shape = draw(shapes())
    subscript = draw(subscripts(shape, dynamic, arrays))
    array = counted(draw(st.sampled_from((*ALL, "str"))), shape)
    try:
        expected = array[subscript.fill(subscript.inputs)]
    except IndexError:  # arrays that do not broadcast, after all
        assume(False)
    return array, subscript, np.asarray(expected, array.dtype)


@law(300)
@given(cases(dynamic=False, arrays=False))
def test_basic(case: Any) -> None:
    array, subscript, expected = case
    check(lambda x: x[subscript.fill([])], [array], expected)


@law(500)
@given(cases(dynamic=False))
def test_all_forms(case: Any) -> None:
    array, subscript, expected = case
    check(lambda x: x[subscript.fill([])], [array], expected)


@law(500)
@given(cases(dynamic=True))
def test_parts_that_are_tensors(case: Any) -> None:
    array, subscript, expected = case
    check(
        lambda x, *parts: x[subscript.fill(parts)],
        [array, *subscript.inputs],
        expected,
        kinds=("static", "named", "open"),
    )


@law(300)
@given(cases(dynamic=True))
def test_unknown_rank(case: Any) -> None:
    """Either it works, or it says that it needs the rank."""
    array, subscript, expected = case
    types = [*types_of([array], "unranked"), *types_of(subscript.inputs, "open")]
    try:
        model = trace(lambda x, *parts: x[subscript.fill(parts)], *types)
    except UnknownRankError:
        return
    agree("traced, unranked", run(model, [array, *subscript.inputs]), expected)


#: One for each way through the code, so that no search is needed to find them.
EXAMPLES: list[tuple[tuple[int, ...], Any]] = [
    ((5,), np.s_[-9::-1]),
    ((5,), np.s_[3:-9:-2]),
    ((5,), np.s_[9:1:-1]),
    ((0,), np.s_[::-1]),
    ((2, 3, 4), np.s_[1, -1, -4]),
    ((2, 3, 4), np.s_[0, 1:, -1]),
    ((2, 3, 4), np.s_[:, [0, -1], [-1, -2]]),  # arrays side by side, not first
    ((2, 3, 4), np.s_[[0, -1], :, [-1, -2]]),  # apart
    ((2, 3, 4), np.s_[0, :, [-1, -2]]),
    ((2, 3, 4), np.s_[:, [[0], [1]], [[-1, -2]]]),  # broadcast
    ((5, 2, 3), np.s_[:, [0, 1], ..., [0, 1]]),  # apart, though `...` stands for nothing
    ((2, 3, 4), np.s_[:, [0, 1], None, [0, 1]]),
    ((2, 3), np.s_[np.zeros(0, np.int64), [7]]),  # out of range, but nothing is taken
    ((2, 3), np.s_[[True, False], [0, 2]]),
    ((2, 3), np.s_[[True, True], [True, False, True]]),
    ((2, 3), np.s_[True, 0]),
    ((2, 3), np.s_[:, 0, None, True]),
    ((2, 3), np.s_[True, False]),
    ((), np.s_[True, None]),
    ((), np.s_[...]),
    ((), np.s_[()]),
    ((3, 4), np.s_[[[]]]),
    ((2, 3), np.s_[range(2)]),
    ((2, 3), np.s_[(0, 1), :]),
]


@pytest.mark.parametrize("dtype", ["float32", "str"])
@pytest.mark.parametrize(("shape", "index"), EXAMPLES, ids=[f"{shape} {index}" for shape, index in EXAMPLES])
def test_examples(shape: tuple[int, ...], index: Any, dtype: str) -> None:
    array = counted(dtype, shape)
    check(
        lambda x: x[index], [array], np.asarray(array[index], array.dtype), kinds=("static", "named", "open")
    )


@pytest.mark.parametrize("start", [-9, -5, -2, -1, 0, 3, 9])
@pytest.mark.parametrize("stop", [None, -9, -2, -1, 0, 2])
def test_a_start_that_the_model_decides(start: int, stop: int | None) -> None:
    """Backwards, where ONNX and Python disagree on a start before the first element."""
    array = counted("float32", (5,))
    for step in (-1, -2):
        check(
            lambda x, n, step=step: x[n:stop:step],
            [array, np.array(start)],
            array[start:stop:step],
            kinds=("static", "open", "unranked"),
        )


def test_arrays_beside_new_axes_need_the_rank() -> None:
    with pytest.raises(UnknownRankError):
        trace(lambda x: x[None, [0], None, [0]], FLOAT[...])


def test_iteration_unrolls() -> None:
    array = counted("float32", (3, 2))
    model = trace(lambda x: sum(list(x), start=0.0), *types_of([array], "static"))
    agree("traced", run(model, [array]), array.sum(axis=0))
    assert [np.asarray(row).tolist() for row in tensor(array)] == array.tolist()


def test_a_list_that_holds_itself_is_no_index() -> None:
    index: list[object] = []
    index.append(index)
    with pytest.raises(TensorIndexError, match="holds itself"):
        tensor([1.0, 2.0])[index]  # type: ignore[index]
