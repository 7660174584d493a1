"""The law of updates: `x.at[index].set(v)` = numpy's `x[index] = v`, eagerly and traced, for every form of index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onnxsmith import FLOAT, Tensor, trace
from onnxsmith.errors import OnnxsmithError
from tests.core.laws import ALL, FLOATS, NUMBERS, check, counted, law, shapes, types_of
from tests.core.semantics.index_strategies import subscripts

KINDS = ("static", "named", "open")
_AT = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


@st.composite
def cases(draw: Any, dynamic: bool, dtypes: tuple[str, ...]) -> Any:
    """An array, a subscript, and a value that numpy can put there."""
    shape = draw(shapes(rank=3, side=3))
    subscript = draw(subscripts(shape, dynamic))
    array = counted(draw(st.sampled_from(dtypes)), shape)
    index = subscript.fill(subscript.inputs)
    try:
        place = np.asarray(array[index])
    except IndexError:  # arrays that do not broadcast, after all
        assume(False)
    # numpy takes no array where there is one place only, and an array of objects for an object.
    has_ones = place.ndim > 0 and array.dtype != object
    form = draw(st.sampled_from(["scalar", "row", "whole"] + ["ones"] * has_ones))
    target = {
        "scalar": (),
        "row": place.shape[-1:],
        "whole": place.shape,
        "ones": (1, *place.shape[:-1], *(1 for _ in place.shape[-1:])),
    }[form]
    size = int(np.prod(target))
    value = (np.arange(size) % 5 + 2).astype(array.dtype).reshape(target)
    if array.dtype == object:
        value = np.array([f"v{k}" for k in range(size)], object).reshape(target)
    return array, subscript, index, value


def assigned(array: Any, index: Any, value: Any) -> Any:
    """numpy's `array[index] = value`, on a copy; it takes leading ones for most indices, but not for masks."""
    result, place = array.copy(), np.asarray(array[index])
    fitting = value.reshape(value.shape[max(0, value.ndim - place.ndim) :])
    result[index] = fitting.item() if fitting.ndim == 0 else fitting
    return result


@law(300)
@given(cases(dynamic=False, dtypes=(*ALL, "str")))
def test_set(case: Any) -> None:
    array, subscript, index, value = case
    check(
        lambda x, v: x.at[subscript.fill([])].set(v),
        [array, value],
        assigned(array, index, value),
        kinds=KINDS,
    )


@law(100)
@given(cases(dynamic=False, dtypes=("float32", "int64", "bool")))
def test_set_to_an_array_gives_a_tensor(case: Any) -> None:
    """What an array replaces whole stays a tensor: as an array it would go on computing by numpy's rules."""
    array, subscript, index, value = case

    def program(x: Any) -> Any:
        result = x.at[subscript.fill([])].set(value)
        assert isinstance(result, Tensor)
        return result

    check(program, [array], assigned(array, index, value), kinds=KINDS)


def test_an_integer_tensor_that_is_replaced_whole_divides_as_one() -> None:
    array = np.array([7, -7], np.int64)
    check(
        lambda x: x.at[...].set(array) / 2, [np.zeros_like(array)], np.array([3, -3], np.int64), kinds=KINDS
    )


@law(250)
@given(cases(dynamic=True, dtypes=("float32", "int64", "bool")))
def test_set_where_the_index_is_a_tensor(case: Any) -> None:
    array, subscript, index, value = case
    numbers = np.arange(array.size).reshape(array.shape)[index]
    # ONNX leaves open what is set when a place is named twice.
    assume(np.unique(numbers).size == numbers.size)
    check(
        lambda x, v, *parts: x.at[subscript.fill(parts)].set(v),
        [array, value, *subscript.inputs],
        assigned(array, index, value),
        kinds=KINDS,
    )


@pytest.mark.parametrize("method", _AT)
@law(60)
@given(st.data())
def test_combinations(method: str, data: Any) -> None:
    dynamic = data.draw(st.booleans())
    array, subscript, index, value = data.draw(cases(dynamic, NUMBERS))
    numbers = np.arange(array.size).reshape(array.shape)[index]
    # Half floats are not combined by ScatterND in ONNX Runtime, and sums of many are rounded in another order.
    assume(array.dtype.name not in FLOATS or method != "multiply" or np.unique(numbers).size == numbers.size)
    expected, place = array.copy(), np.asarray(array[index])
    fitting = value.reshape(value.shape[max(0, value.ndim - place.ndim) :])
    whole = np.broadcast_to(fitting, place.shape)
    _AT[method].at(expected, index, whole)
    kinds = ("static", "named")
    check(
        lambda x, v, *parts: getattr(x.at[subscript.fill(parts)], method)(v),
        [array, value, *subscript.inputs],
        expected,
        kinds=kinds,
    )


@law(40)
@given(cases(dynamic=False, dtypes=NUMBERS))
def test_a_literal(case: Any) -> None:
    array, subscript, index, _ = case
    check(lambda x: x.at[subscript.fill([])].set(3), [array], assigned(array, index, np.array(3)))


def test_the_last_of_several_is_set() -> None:
    array, value = np.zeros((3, 2), np.float32), np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    index = np.array([[0, 1], [1, 0]])
    check(lambda x, v: x.at[index].set(v), [array, value], assigned(array, index, value))
    # Each place is named once, because ONNX does not say which value it takes otherwise.
    model = trace(lambda x, v: x.at[index].set(v), *types_of([array, value], "static"))
    (scatter,) = (node for node in model.ir.graph if node.op_type == "ScatterND")
    assert sorted(scatter.inputs[1].const_value.numpy().tolist()) == [[0], [1]]


def test_what_was_there() -> None:
    array = counted("float32", (3, 2))
    check(lambda x: x.at[1:].get(), [array], array[1:])


@pytest.mark.parametrize("start", [None, 0, 2, -2, 400])
@pytest.mark.parametrize("stop", [None, 1, 299, -1, -400])
def test_a_slice_is_written_whatever_the_size_turns_out_to_be(start: int | None, stop: int | None) -> None:
    part = slice(start, stop)

    def put(x: Any, v: Any) -> Any:
        return x.at[part].set(v)

    for shape in ("N",), (None,), (300,):
        model = trace(put, FLOAT[shape], FLOAT["M"])
        for size in (300,) if shape == (300,) else (0, 1, 2, 3, 300):
            array = counted("float32", (size,))
            for count in {1, len(array[part])}:
                value = -1 - counted("float32", (count,))
                np.testing.assert_array_equal(model(array, value), assigned(array, part, value))


def test_slices_of_several_axes() -> None:
    model = trace(lambda x, v: x.at[1:-1, :, 2:].set(v), FLOAT["N", "M", "K"], FLOAT["M", "L"])
    for shape in (4, 3, 5), (1, 3, 5), (4, 2, 2), (0, 1, 3):
        array, value = counted("float32", shape), -counted("float32", (shape[1], shape[2] - 2))
        np.testing.assert_array_equal(model(array, value), assigned(array, np.s_[1:-1, :, 2:], value))


def test_a_value_that_is_larger_than_its_place_is_refused() -> None:
    model = trace(lambda x, v: x.at[2:].set(v), FLOAT["N"], FLOAT["M"])
    with pytest.raises(OnnxsmithError):
        model(counted("float32", (3,)), counted("float32", (4,)))
