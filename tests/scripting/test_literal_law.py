"""A literal becomes an array in one way, whichever door it comes through: the same array, or the same refusal."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import onnxsmith
from onnxsmith import BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, STRING, UINT8, UINT64, jit, script
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError

ANNOTATIONS = (BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, STRING, UINT8, UINT64)

numbers = st.one_of(
    st.booleans(),
    st.integers(-300, 300),
    st.integers(),
    st.sampled_from([2**31, 2**63, 2**64, -(2**63), 2**70, 10**400, -0.0, 65504.0, 65520.0, 1e39, 1e300]),
    st.floats(),
    st.complex_numbers(max_magnitude=10),
    st.sampled_from(["", "text", b"bytes"]),
    st.sampled_from([np.int64(3), np.float64(2.5), np.bool_(True), np.int64(2**40)]),
)
literals = st.one_of(
    numbers,
    st.lists(numbers, max_size=3),
    st.lists(st.lists(numbers, min_size=1, max_size=2), min_size=1, max_size=2),
)


@functools.cache
def doors(annotation: Any) -> dict[str, Callable[[Any], Any]]:
    @script
    def parameter(n: annotation[...]):  # pyright: ignore[reportInvalidTypeForm]
        return op.Identity(n)

    def from_script(value: Any) -> Any:
        @script
        def caller(x: FLOAT):
            return parameter(value)

        return caller.to_model()(np.float32(0))

    zero: Any = np.zeros((), object) if annotation is STRING else np.zeros((), annotation.dtype.numpy)
    if annotation is STRING:
        zero[()] = ""
    return {
        "operator": lambda value: op.SequenceConstruct(zero, value)[1],
        "script": parameter,
        "jit": jit(parameter),
        "called by a script": from_script,
        "model": parameter.to_model(),
        "tensor": lambda value: onnxsmith.tensor(value, annotation).numpy(),
    }


def outcome(door: Callable[[Any], Any], value: Any) -> Any:
    try:
        array = np.asarray(door(value))
    except OnnxsmithError as error:
        return type(error), error.code, error.message.partition(" in ")[0]
    return array.dtype, array.shape, [_exactly(each) for each in array.reshape(-1).tolist()]


def _exactly(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return (math.copysign(1, value), value) if isinstance(value, float) and value == 0 else str(value)


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=repr)
@settings(max_examples=25)
@given(value=literals)
@example(value=2.5)
@example(value=300)
@example(value=10**400)
@example(value=math.nan)
@example(value=[1, [2]])
@example(value=[])
def test_every_door_gives_the_same(annotation: Any, value: Any) -> None:
    expected = outcome(doors(annotation)["operator"], value)
    for name, door in doors(annotation).items():
        found = outcome(door, value)
        if isinstance(expected[0], type):
            assert found[:2] == expected[:2], name
            assert found[2] == expected[2] or "cannot" in expected[2], name
        else:
            assert found == expected, name


@pytest.mark.parametrize(
    "value",
    [{1}, object(), {"a": 1}, np.array(["2024"], "datetime64[Y]")],
    ids=lambda each: type(each).__name__,
)
def test_every_door_refuses_what_is_no_tensor(value: Any) -> None:
    found = {name: outcome(door, value)[:2] for name, door in doors(FLOAT).items()}
    assert set(found.values()) == {(onnxsmith.errors.InputTypeError, "C309")}, found


def test_a_float_for_an_integer_parameter_is_refused_everywhere() -> None:
    @script
    def add(x: INT64["N"], n: INT64):
        return x + n

    def caller(x: INT64["N"]):
        return add(x, 2.5)

    x = np.array([1, 2])
    for call in (add, jit(add), add.to_model(), op.Add):
        with pytest.raises(onnxsmith.errors.LiteralError, match=r"the literal 2\.5 does not fit int64 in"):
            call(x, 2.5)
    with pytest.raises(onnxsmith.errors.LiteralError, match=r"the literal 2\.5 does not fit int64 in add"):
        script(caller)


def test_a_returned_number_is_not_cut_to_its_annotation() -> None:
    number = {"n": 5}

    @script
    def constant(x: FLOAT["N"]) -> INT8:
        return number["n"]

    assert constant(np.ones(2, np.float32)) == 5
    number["n"] = 300
    with pytest.raises(onnxsmith.errors.ReturnTypeError) as eager:
        constant(np.ones(2, np.float32))
    with pytest.raises(onnxsmith.errors.ReturnTypeError) as model:
        constant.to_model()
    assert eager.value.message == model.value.message


def test_numpy_scalars_in_a_list_say_the_element_type() -> None:
    assert op.Identity([np.float32(1), 2.5]).dtype == np.float32
    with pytest.raises(onnxsmith.errors.MixedDTypesError):
        op.Add(np.ones(2, np.int8), [np.float32(1), 2])


def test_the_default_of_an_input_is_a_tensor_in_a_model_too() -> None:
    @script
    def halved(x: INT8["N"], n: INT8 = 5):
        return x + n / 2

    x = np.array([1], np.int8)
    np.testing.assert_array_equal(halved.to_model(input_types=[INT8["N"]])(x), halved(x))


def test_a_jitted_call_that_worked_before_is_checked_against_the_annotation() -> None:
    @script
    def doubled(x: FLOAT[2, 3]):
        return x + x

    jitted = jit(doubled)
    jitted(np.ones((2, 3), np.float32))
    for call in (doubled, jitted):
        with pytest.raises(
            onnxsmith.errors.ShapeError, match=r"doubled takes shape \(2, 3\) as 'x', not \(4, 3\)"
        ):
            call(np.ones((4, 3), np.float32))
