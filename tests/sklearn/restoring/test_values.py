"""Values of estimators as JSON: each comes back as it was, and what is damaged is refused by what is wrong with it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from onnxsmith.sklearn.restoring.values import Damaged, Unwritable, read, written

TYPES = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


def unwritable(value: Any) -> Any:
    raise Unwritable(type(value).__name__)


def again(value: Any) -> Any:
    return read(json.loads(json.dumps(written(value, unwritable), allow_nan=False)), {})


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, -(2**70), "text", 0.5, math.inf, -math.inf),
        *(
            [1, [2.5, None]],
            (1, ("a",)),
            {"a": 1, 2: [3], None: (4,), 1.5: {}},
            slice(1, None, 2),
            slice("a", "b"),
        ),
        *(int, float, bool, str, object, np.float32, np.bool_, np.uint8),
        *(np.dtype("float32"), np.dtype("<U3"), np.dtype("O")),
    ],
    ids=repr,
)
def test_a_value_comes_back(value: Any) -> None:
    found = again(value)
    assert found == value
    assert type(found) is type(value)


def test_what_is_no_number_comes_back() -> None:
    assert math.isnan(again(math.nan))
    assert np.isnan(again(np.float32(np.nan)))


@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (3, 0, 2)])
def test_arrays_and_their_elements_come_back(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    found = again(array)
    assert found.dtype == array.dtype
    assert found.flags.writeable
    np.testing.assert_array_equal(found, array)
    one = np.ones((), dtype)[()]
    assert again(one) == one
    assert type(again(one)) is type(one)


@pytest.mark.parametrize(
    "array",
    [
        *(np.array(["a", "bcd"]), np.empty((0, 2), "<U3"), np.array([["a"], ["b"]], object)),
        *(np.array([None, 1, (2, "x"), 0.5], object), np.asfortranarray(np.arange(6.0).reshape(2, 3))),
    ],
)
def test_arrays_of_text_and_objects_come_back(array: np.ndarray) -> None:
    found = again(array)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tolist() == array.tolist()


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(Unwritable, match="an array of complex128"):
        written(np.ones(2, complex), unwritable)
    with pytest.raises(Unwritable, match="set"):
        written([{1}], unwritable)
    assert written([{1}], lambda value: {"set": sorted(value)}) == [{"set": [1]}]
    assert read([{"set": [1]}], {"set": lambda given: set(given)}) == [{1}]


ARRAY = written(np.arange(4.0), unwritable)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"float": "huge"}, "a float 'huge'"),
        ({"float": 1}, "a float 1"),
        ({"nothing": 1, "known": 2}, "an entry with known, nothing, which is no value"),
        ({}, "an entry with nothing, which is no value"),
        ({"dtype": "c16"}, "an element type 'c16'"),
        ({"dtype": "not one"}, "an element type 'not one'"),
        ({"dtype": 1}, "an element type 1"),
        ({"scalar": [1], "dtype": "<f4"}, "a number that is none"),
        ({"scalar": "x", "dtype": "<f4"}, "a number that is none: "),
        ({**ARRAY, "shape": [5]}, "whose content does not fit its shape (5,)"),
        ({**ARRAY, "shape": [3]}, "whose content does not fit its shape (3,)"),
        ({**ARRAY, "shape": [-4]}, "a shape [-4]"),
        ({**ARRAY, "shape": [True] * 4}, "a shape [True, True, True, True]"),
        ({**ARRAY, "shape": [1] * 33}, "a shape [1, 1,"),
        ({**ARRAY, "shape": 4}, "a shape is no list"),
        ({**ARRAY, "shape": [2**30]}, "with the shape (1073741824,)"),
        ({**ARRAY, "dtype": "<U4"}, "an array of <U4"),
        ({**ARRAY, "array": "?"}, "an array that cannot be unpacked"),
        ({**ARRAY, "array": 1}, "an array of float64"),
        ({"elements": ["a"], "dtype": "<U1", "shape": [2]}, "an array of 1 elements with the shape (2,)"),
        ({"elements": ["a"], "dtype": "<f4", "shape": [1]}, "an array of text of float32"),
        ({"elements": [1], "dtype": "<U1", "shape": [1]}, "an array of text with something else in it"),
        ({"slice": [1, 2]}, "a slice that is none"),
        ({"slice": [1, 2, [3]]}, "a slice that is none"),
        ({"tuple": 1}, "a tuple is no list"),
        ({"dict": [[1]]}, "an entry of a dict that is no pair"),
        ({"dict": [[[1], 2]]}, "a dict with a key that is neither a number nor text"),
        ({"type": "eval"}, "a type 'eval'"),
        ({"type": 1}, "a type 1"),
    ],
)
def test_what_is_damaged_is_refused(given: Any, message: str) -> None:
    with pytest.raises(Damaged) as caught:
        read(given, {})
    assert message in str(caught.value)
