"""`x[index]` and `x[index] = v` for every combination of small indices, against numpy; jitted, too."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.registry import FUNCTIONS
from tests.scripting.dialects.numpy.agreeing import check

X = np.arange(24).reshape(2, 3, 4)
#: What may stand at one place.
PARTS: tuple[Any, ...] = (
    *(0, -1, 5, -4, None, ..., True, np.int8(1), np.array(1), range(2)),
    *(slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(-9, 2**70), slice(2, 0, -2)),
    *([0, 1], [], [[0], [-1]], np.array([1, 0, 1], np.uint8), [0, 7], np.array([True, False, True])),
    *(np.array([[True, False, True], [False] * 3]), np.zeros((0,), bool), [True, False]),
)
PAIRS = [*((each,) for each in PARTS), *itertools.product(PARTS, PARTS)]
TRIPLES = list(itertools.product(PARTS, (0, slice(None, None, 2), ..., None), ([0, 1], -1, slice(1, 3))))
SHAPES = ((2, 3, 4), (3,), (), (3, 0))


def ours(index: Any) -> Any:
    return tuple(xp.asarray(each) if isinstance(each, np.ndarray) else each for each in index)


def outcome(function: Any) -> Any:
    try:
        return function()
    except Exception as error:  # numpy has a class for each reason
        return error


def differs(wanted: Any, found: Any) -> str | None:
    if isinstance(wanted, Exception):
        is_one = isinstance(found, OnnxsmithError)
        return None if is_one else f"{wanted!r}, and not {found!r}"
    if isinstance(found, Exception):
        return f"{found!r}, and not {wanted!r}"
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype} {found.shape}, and not {wanted.dtype} {wanted.shape}"
    return None if np.array_equal(np.asarray(found), wanted) else f"{found}, and not {wanted}"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_elements_that_an_index_names(shape: tuple[int, ...]) -> None:
    x = np.arange(int(np.prod(shape))).reshape(shape)
    wrong = []
    for index in PAIRS if shape == X.shape else PAIRS[: len(PARTS) + 60]:
        told = differs(outcome(lambda i=index: x[i]), outcome(lambda i=index: xp.asarray(x)[ours(i)]))
        wrong += [f"{index}: {told}"] if told else []
    assert wrong == []


def test_elements_that_three_parts_name() -> None:
    wrong = []
    for index in TRIPLES:
        told = differs(outcome(lambda i=index: X[i]), outcome(lambda i=index: xp.asarray(X)[ours(i)]))
        wrong += [f"{index}: {told}"] if told else []
    assert wrong == []


def written(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


@pytest.mark.parametrize("value", [7, [[1], [2]], np.arange(4), np.zeros((0,), int)], ids=str)
def test_elements_that_are_written(value: Any) -> None:
    wrong = []
    for index in PAIRS[::3] + TRIPLES[::4]:
        given = xp.asarray(value) if isinstance(value, np.ndarray) else value
        told = differs(
            outcome(lambda i=index: written(X.copy(), i, value)),
            outcome(lambda i=index, v=given: written(xp.asarray(X.copy()), ours(i), v)),
        )
        wrong += [f"{index}: {told}"] if told else []
    assert wrong == []


#: Messages of what is refused: an array, what is done with it, and the text.
REFUSED = [
    ((2,), lambda x: x[0, 0], "too many indices: the array has 1 dimensions, and 2 are indexed"),
    ((2,), lambda x: x[2], "index 2 is out of bounds for dimension 0, which has size 2"),
    ((2, 3), lambda x: x[..., -4], "index -4 is out of bounds for dimension 1, which has size 3"),
    ((2,), lambda x: x[[1.5]], "an index is of integers or bool, not an array of float64"),
    ((2,), lambda x: x["a"], "an array cannot be indexed with str"),
    ((2,), lambda x: x[int], "an array cannot be indexed with type"),
    ((2,), lambda x: x[:"a"], "a slice is made of integers, not str"),
    ((2, 3), lambda x: x[:, [True, False]], "dimension 1 of the array has size 3, and the mask's 2"),
    ((2, 3), lambda x: written(x, 0, [1, 2]), "a value of shape (2,) does not fit into (3,)"),
    ((2, 0), lambda x: written(x, 0, [1, 2]), "a value of shape (2,) does not fit into (0,)"),
    (
        (2, 3),
        lambda x: written(x, (0, 0), [1, 2]),
        "an element is one number, and this value has 1 dimensions",
    ),
    ((2,), lambda x: x.fill([1, 2]), "an element is one number, and this value has 1 dimensions"),
]


@pytest.mark.parametrize(("shape", "function", "text"), REFUSED)
def test_what_is_refused(shape: tuple[int, ...], function: Any, text: str) -> None:
    with pytest.raises(OnnxsmithError) as caught:
        function(xp.zeros(shape))
    assert text in str(caught.value)


def test_what_is_a_number_and_what_a_view() -> None:
    x = xp.asarray(X)
    assert x[0, 0, 0].is_number
    assert not x[0, 0].is_number
    assert not x[0, 0, 0][...].is_number
    assert xp.asarray(5)[()].is_number
    view = x[0, 1:]
    x[0, 1, 0] = 99
    assert int(view[0, 0]) == 99
    copied = x[[0]]
    x[0, 0, 0] = 98
    assert int(copied[0, 0, 0]) == 0
    view.fill(3)
    assert int(x[0, 2, 3]) == 3
    assert set(FUNCTIONS) >= {"_getitem", "_setitem", "_fill"}


def test_models_take_and_write_at_places_that_they_compute() -> None:
    def chosen(x, i, mask):
        made = x[i[0] : i[1]].copy()
        made[i[0] - 1, :, 0] = x[i[1], ..., 0]
        made[mask[: made.shape[0]]] += 1
        made[:, [i[0], 0]] = 7
        return made, x[i], x[:, i], x[mask], x[i[0], None, ::-1]

    check(chosen, X.astype(float).reshape(4, 3, 2), np.array([1, 2]), np.array([True, False, False, True]))


@pytest.mark.parametrize(
    ("function", "right", "wrong"),
    [
        (lambda x, i: x[i[0]], 2, 3),
        (lambda x, i: x[:, i[0]], -4, -5),
        (lambda x, i: x[i], 2, 3),
        (lambda x, i: written(x.copy(), i[0], 5), -3, -4),
    ],
)
def test_places_outside_of_an_array_fail_in_a_model(function: Any, right: int, wrong: int) -> None:
    jitted = xp.jit(function)
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(jitted(x, np.array([right])), function(x, np.array([right])))
    with pytest.raises(IndexError):
        jitted(x, np.array([wrong]))


def test_masks_of_other_sizes_fail_in_a_model() -> None:
    for function in (lambda x, m: x[m], lambda x, m: written(x.copy(), m, 0.0)):
        jitted = xp.jit(function)
        np.testing.assert_array_equal(
            jitted(np.arange(3.0), np.array([True, False, True])).shape,
            function(np.arange(3.0), np.array([True, False, True])).shape,
        )
        with pytest.raises(IndexError):
            jitted(np.arange(3.0), np.array([True, False]))


#: Parts that name nothing, and what stands beside them.
NOTHING: tuple[Any, ...] = (False, [], [False, False], np.zeros((0,), bool))
BESIDE: tuple[Any, ...] = (0, 5, -4, None, ..., slice(0, 0), [7], [True, False], [True] * 3, *NOTHING)
EMPTY_PAIRS = dict.fromkeys((i, k) for i in range(len(BESIDE)) for k in range(len(BESIDE)) if max(i, k) > 8)


@pytest.mark.parametrize("is_written", [False, True], ids=["read", "written"])
@pytest.mark.parametrize("shapes", [((3,), (0,)), ((2, 3), (0, 3))], ids=str)
def test_models_check_what_stands_beside_an_empty_part(shapes: Any, is_written: bool) -> None:
    wrong = []
    for places in EMPTY_PAIRS:
        index = tuple(BESIDE[each] for each in places)

        def function(x: Any, index: Any = index) -> Any:
            return written(x.copy(), index, 9) if is_written else x[index]

        jitted = xp.jit(function)
        for shape in shapes:
            x = np.arange(int(np.prod(shape))).reshape(shape)
            wanted = outcome(lambda f=function, x=x: f(x))
            for found in (
                outcome(lambda f=jitted, x=x: f(x)),
                outcome(lambda f=function, x=x: f(xp.asarray(x))),
            ):
                if isinstance(wanted, Exception) and isinstance(found, type(wanted)):
                    continue
                told = differs(wanted, found)
                wrong += [f"{shape} {index}: {told}"] if told else []
    assert wrong == []


@pytest.mark.parametrize(
    ("function", "right", "wrong"),
    [
        (lambda x, m: x[[False, False], m], [False, True, False], [True, True, False]),
        (lambda x, m: written(x.copy(), ([False, False], m), 9), [False, True, False], [True, True, False]),
        (lambda x, m: x[[], m.nonzero()[0]], [False, True], [True, True]),
        (lambda x, v: written(x.copy(), ([], 0), v), [4.0], [4.0, 5.0]),
        (lambda x, v: written(x.copy(), [], v), [4.0, 5.0, 6.0], [4.0, 5.0]),
        (lambda x, v: written(x.copy(), (slice(0), []), v), [4.0], [4.0, 5.0]),
        (lambda x, i: x[i[0], i < 0], [1, 1, 1], [2, 1, 1]),
        (lambda x, i: x[i[1:], i[0]], [2], [3]),
        (lambda x, i: written(x.copy(), (i[0], i < 0), 9), [1, 1, 1], [2, 1, 1]),
        (lambda x, i: np.arange(6.0).reshape(2, 3)[i[0], i < 0] + x[0, 0], [1, 1, 1], [2, 1, 1]),
    ],
)
def test_models_check_what_is_known_late_beside_an_empty_part(function: Any, right: Any, wrong: Any) -> None:
    x, jitted = np.arange(6.0).reshape(2, 3), xp.jit(function)
    np.testing.assert_array_equal(jitted(x, np.array(right)), function(x, np.array(right)))
    refused = outcome(lambda: function(x, np.array(wrong)))
    assert isinstance(refused, IndexError | ValueError)
    with pytest.raises(type(refused)):
        jitted(x, np.array(wrong))


@pytest.mark.parametrize(
    ("shape", "index"),
    [((2, 3, 4), (True, slice(0), [7])), ((2, 0, 4), ([7], ..., [0])), ((3, 0), (True, -4))],
)
def test_places_of_arrays_are_there_where_what_remains_is_empty(shape: tuple[int, ...], index: Any) -> None:
    with pytest.raises(OnnxsmithError):
        xp.zeros(shape)[index]


def test_models_check_a_place_beside_a_truth_where_what_remains_is_empty() -> None:
    with pytest.raises(IndexError):
        xp.jit(lambda x: x[True, -4])(np.zeros((3, 0)))
