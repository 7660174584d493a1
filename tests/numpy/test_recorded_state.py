"""What a recorded array is to Python and to other recordings: right, or an error that says why; never a crash."""

from __future__ import annotations

import copy
import numbers
import operator
import pickle
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, trace
from onnxsmith.errors import (
    LeakedValueError,
    OnnxsmithError,
    ShapeError,
    TensorAssignmentError,
    TracedValueError,
)

if TYPE_CHECKING:
    from onnxsmith.numpy.array import Array

OUTER = xp.asarray([1.0, 2.0])


def recorded(function: Callable[[Array], Any]) -> Any:
    """The model of a function of an array with an open size."""
    return trace(lambda x: function(xp.asarray(x)), FLOAT["N"])


def _add(x: Array) -> Any:
    x += 1
    return x.tensor


def _set(x: Array) -> Any:
    x[0] = 1
    return x.tensor


def _set_part(x: Array) -> Any:
    x[1:][0] = 1
    return x.tensor


def _set_outer(x: Array) -> Any:
    OUTER[0] = 5
    return x.tensor


def _add_to_outer(x: Array) -> Any:
    xp.add(OUTER, 1, out=OUTER)
    return x.tensor


def _fill_outer(x: Array) -> Any:
    OUTER.fill(3)
    return x.tensor


@pytest.mark.parametrize("function", [_add, _set, _set_part])
def test_an_argument_is_not_written_to(function: Callable[[Array], Any]) -> None:
    with pytest.raises(TensorAssignmentError) as caught:
        recorded(function)
    assert "x = x + 1" in str(caught.value)


@pytest.mark.parametrize("function", [_set_outer, _add_to_outer, _fill_outer])
def test_an_array_from_outside_is_not_written_to(function: Callable[[Array], Any]) -> None:
    with pytest.raises(TensorAssignmentError, match="outside the function"):
        recorded(function)
    assert OUTER.tolist() == [1.0, 2.0]


LEAKS: dict[str, Callable[[Array], Any]] = {
    "add": lambda x: x + 1,
    "sum": lambda x: x.sum(),
    "item": lambda x: x[0],
    "in place": lambda x: x.__iadd__(1),
    "set": lambda x: x.__setitem__(0, 1),
    "reshape": lambda x: x.reshape(-1),
    "concatenate": lambda x: xp.concatenate([x, x]),
}


@pytest.mark.parametrize("use", LEAKS.values(), ids=LEAKS)
def test_an_array_that_leaks_out_of_its_recording_is_refused(use: Callable[[Array], Any]) -> None:
    kept: list[Array] = []

    def leaking(x: Array) -> Any:
        kept.append(x + 1)
        return kept[0].tensor

    recorded(leaking)
    assert repr(kept[0]) == "<recorded Array float32('N',)>"
    with pytest.raises(LeakedValueError):
        use(kept[0])
    with pytest.raises(LeakedValueError):
        recorded(lambda x: use(kept[0]).tensor)
    with pytest.raises(LeakedValueError):
        recorded(lambda x: (x + kept[0]).tensor)


NEEDING: dict[str, Callable[[Array], Any]] = {
    "np.asarray": np.asarray,
    "np.array of a list": lambda x: np.array([x[0], 1]),
    "float": lambda x: float(x[0]),
    "int": lambda x: int(x[0]),
    "if": lambda x: x if x[0] > 0 else -x,
    "loop": lambda x: list(x),
    "len": len,
    "range": lambda x: list(range(x.shape[0])),
    "in a list": lambda x: x[0] in [1, 2],
    "in an array": lambda x: 1 in x,
    "pickle": pickle.dumps,
    "format": lambda x: f"{x[0]:.3f}",
    "truth of a size": lambda x: bool(x.shape[0]),
    "comparison of a size": lambda x: bool(x.shape[0] > 0),
    "hash of a size": lambda x: {x.shape[0]: 1},
    "place in a list": lambda x: [1, 2][x.shape[0]],
}


@pytest.mark.parametrize("use", NEEDING.values(), ids=NEEDING)
def test_what_needs_the_elements_says_so(use: Callable[[Array], Any]) -> None:
    with pytest.raises(TracedValueError) as caught:
        recorded(use)
    assert caught.value.help


def test_an_item_is_a_number_of_the_model() -> None:
    model = recorded(lambda x: xp.asarray(x.item()).tensor)
    assert model(np.array([4], np.float32)) == 4
    with pytest.raises(ShapeError):
        model(np.array([4, 5], np.float32))


def test_arrays_and_numbers_in_a_list_are_an_array() -> None:
    model = recorded(lambda x: xp.asarray([x[0], 1.0, x.shape[0]]).tensor)
    np.testing.assert_array_equal(model(np.array([4, 5], np.float32)), [4, 1, 2])


def test_copies_of_recorded_and_known_arrays() -> None:
    def copied(x: Array) -> Any:
        made = copy.deepcopy(x)
        made += 1
        return made.tensor

    np.testing.assert_array_equal(recorded(copied)(np.array([1, 2], np.float32)), [2, 3])
    known = xp.asarray([1, 2])
    for made in (copy.copy(known), copy.deepcopy(known), pickle.loads(pickle.dumps(known))):
        made[0] = 9
        assert made.tolist() == [9, 2]
    assert known.tolist() == [1, 2]


def test_arrays_have_no_hash() -> None:
    with pytest.raises(TypeError, match="no hash"):
        hash(OUTER)


def test_another_thread_does_not_see_the_recording() -> None:
    caught: list[Exception] = []

    def used(x: Array) -> Any:
        def elsewhere() -> None:
            try:
                caught.append(RuntimeError(str(x + 1)))
            except OnnxsmithError as error:
                caught.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return (x + 2).tensor

    np.testing.assert_array_equal(recorded(used)(np.array([1], np.float32)), [3])
    assert isinstance(caught[0], LeakedValueError)


def test_an_array_is_an_output_of_a_model() -> None:
    model = recorded(lambda x: x + 1)
    np.testing.assert_array_equal(model(np.zeros(3, np.float32)), np.ones(3))


def test_sizes_are_integers_for_libraries_that_ask() -> None:
    seen: list[bool] = []

    def asked(x: Array) -> Any:
        size = x.shape[0]
        seen.extend(isinstance(each, numbers.Integral) for each in (size, size + 1, size > 1, size / 2))
        seen.append(isinstance(size / 2, numbers.Real))
        for convert in (operator.index, int, float):
            with pytest.raises(TracedValueError):
                convert(size)
        return (x / size).tensor

    np.testing.assert_array_equal(recorded(asked)(np.array([1, 3], np.float32)), [0.5, 1.5])
    assert seen == [True, True, True, False, True]
