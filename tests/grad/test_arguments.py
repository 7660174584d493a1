"""Numbers and scalars as arguments of gradients have the element types of a call of the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, FLOAT, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError, LiteralError, MixedDTypesError, NotDifferentiableError, OnnxsmithError
from onnxsmith.grad import grad, jvp, value_and_grad, vjp
from tests.grad import structures

X = np.float32([1.0, 2.0])
SCALARS = [kind(3) for kind in (np.float64, np.float32, np.float16, np.int64, np.int32, np.int8, np.uint8)]
NUMBERS = [1 / 3, 3, np.float64(1 / 3), *SCALARS, *[np.array(each) for each in SCALARS]]


@script
def squared(b):
    return b * b


@script
def squared_double(b: DOUBLE):
    return b * b


@script
def product(x, b):
    return op.ReduceSum(x * b, keepdims=0)


def product_of_tensors(x, b):
    return op.ReduceSum(op.Mul(x, b), keepdims=0)


ALONE = {
    "numpy": xp.jit(lambda b: b * b),
    "tensors": lambda b: op.Mul(b, b),
    "script": squared,
    "annotated script": squared_double,
    "model": trace(lambda b: b * b, DOUBLE),
}
BESIDE = {
    "numpy": xp.jit(lambda x, b: (x * b).sum()),
    "tensors": product_of_tensors,
    "script": product,
    "model": trace(product_of_tensors, FLOAT["N"], FLOAT),
}


def _element_type(function: Callable[..., Any], *args: object) -> np.dtype[Any] | None:
    """The element type of what is computed, or None where it is refused."""
    try:
        return np.asarray(function(*args)).dtype
    except OnnxsmithError:
        return None


@pytest.mark.parametrize("function", ALONE.values(), ids=list(ALONE))
@pytest.mark.parametrize(
    "number", NUMBERS, ids=lambda each: f"{type(each).__name__}-{np.asarray(each).dtype}"
)
def test_a_number_alone_has_the_type_of_the_plain_call(function: Callable[..., Any], number: object) -> None:
    plain = _element_type(function, number)
    if plain is None or plain.kind != "f":
        with pytest.raises(OnnxsmithError):
            value_and_grad(function)(number)
        return
    value, gradient = value_and_grad(function)(number)
    assert value.dtype == plain
    np.testing.assert_array_equal(value, function(number))
    assert gradient.dtype == grad(function)(number).dtype == plain
    one = np.ones((), plain)
    assert [each.dtype for each in vjp(function)(number, cotangent=one)] == [plain, plain]
    assert [each.dtype for each in jvp(function)(number, tangent=one)] == [plain, plain]


@pytest.mark.parametrize("function", BESIDE.values(), ids=list(BESIDE))
@pytest.mark.parametrize("array", [X, X.astype(np.float64)], ids=["float32", "float64"])
@pytest.mark.parametrize(
    "number", NUMBERS, ids=lambda each: f"{type(each).__name__}-{np.asarray(each).dtype}"
)
def test_a_number_beside_an_array_is_taken_as_in_the_plain_call(
    function: Callable[..., Any], array: np.ndarray[Any, Any], number: object
) -> None:
    plain = _element_type(function, array, number)
    if plain is None:
        with pytest.raises(OnnxsmithError):
            value_and_grad(function)(array, number)
        return
    value, gradient = value_and_grad(function)(array, number)
    assert value.dtype == plain
    np.testing.assert_allclose(value, function(array, number), rtol=1e-6)
    assert gradient.dtype == array.dtype


def test_a_number_keeps_its_range() -> None:
    large = np.float64(1e100)
    assert grad(xp.jit(lambda b: b * b))(large) == grad(lambda b: op.Mul(b, b))(large) == 2e100
    for number in (large, 1e100):
        with pytest.raises(LiteralError, match="does not fit float32"):
            grad(product_of_tensors)(X, number)


def test_a_number_and_an_array_of_its_type_take_turns() -> None:
    slope = grad(product_of_tensors)
    for _ in range(2):
        np.testing.assert_array_equal(slope(X, np.float64(2)), np.float32([2, 2]))
        with pytest.raises(MixedDTypesError):
            slope(X, np.array(2.0))


def test_a_number_that_is_cast_by_the_function_loses_what_it_says() -> None:
    slope = grad(lambda x, b: op.ReduceSum(op.Mul(x, b), keepdims=0) * op.Cast(op.Cast(b, to=7), to=1))
    np.testing.assert_array_equal(slope(X, np.float64(2.5)), np.float32([5, 5]))


@pytest.mark.parametrize("number", [1.0, 1, np.float64(1), np.int64(1)])
@pytest.mark.parametrize("argument", [np.float64(0.5), np.float32(0.5), 0.5])
@pytest.mark.parametrize("function", [ALONE["numpy"], ALONE["tensors"]], ids=["numpy", "tensors"])
def test_cotangents_and_tangents_that_are_numbers_take_the_type_of_theirs(
    function: Callable[..., Any], argument: object, number: object
) -> None:
    plain = _element_type(function, argument)
    assert [each.dtype for each in vjp(function)(argument, cotangent=number)] == [plain, plain]
    assert [each.dtype for each in jvp(function)(argument, tangent=number)] == [plain, plain]


@pytest.mark.parametrize("stage", [xp.jit, lambda function: function], ids=["numpy", "tensors"])
def test_a_gradient_by_a_dict_is_a_dict(stage: Callable[..., Any]) -> None:
    function = stage(lambda weights, x: (weights["w"] * x).sum())
    found = grad(function)({"w": X}, X)
    assert list(found) == ["w"]
    assert found["w"].tolist() == X.tolist()


@pytest.mark.parametrize("namespace", [np, xp], ids=["numpy", "onnxsmith.numpy"])
def test_code_for_numpy_that_is_not_jitted_is_told(namespace: Any) -> None:
    def curve(x):
        return namespace.tanh(x).sum()

    with pytest.raises(OnnxsmithError) as caught:
        grad(curve)(X)
    assert caught.value.help == "grad(onnxsmith.numpy.jit(curve)) differentiates code for numpy"


def test_gradients_by_structures_are_those_by_their_arrays() -> None:
    assert not structures.LAW.wrong(0, 60)


def test_parts_of_a_container_do_not_meet_arguments_of_their_name() -> None:
    x = np.float32([1, 2])
    found = grad(lambda d_a, d: (d["a"] * d_a).sum(), wrt=1)(x, {"a": x * 5})
    assert found["a"].tolist() == [1, 2]


def test_a_tangent_has_the_form_of_its_argument() -> None:
    x = np.float32([1, 2])
    with pytest.raises(CallError, match="the tangent of 'd' has another form"):
        jvp(lambda d: d["a"] * d["b"])({"a": x, "b": x}, tangent={"a": x})


def test_a_structure_without_numbers_has_no_gradient() -> None:
    with pytest.raises(CallError, match="'o' of f has neither arrays nor numbers in it"):
        grad(lambda x, o: x.sum() * o["k"], wrt=1)(np.float32([1, 2]), {"k": 3})


@pytest.mark.filterwarnings("ignore::onnxsmith.errors.ModelWarning")
def test_the_second_derivative_of_a_line_along_a_vector_is_zero() -> None:
    x = np.float32([1, 2])
    slope, change = jvp(grad(lambda x: (3.0 * x).sum()))(x, tangent=x)
    assert slope.tolist() == [3, 3]
    assert change.tolist() == [0, 0]


@script
def scaled_sine(x: DOUBLE["N"], k: float = 0.5):
    return op.ReduceSum(op.Sin(x) * k, keepdims=0)


@script
def shaped(x: DOUBLE["N"], how: str = "none"):
    return op.ReduceSum(op.Gelu(x, approximate=how), keepdims=0)


def test_attributes_of_a_script_are_given_as_in_a_call() -> None:
    x = np.array([0.3, -0.7, 1.2])
    slope = grad(scaled_sine)
    for found, k in ((slope(x), 0.5), (slope(x, k=0.9), 0.9), (slope(x, 0.9), 0.9), (slope(x=x, k=2.0), 2.0)):
        np.testing.assert_allclose(found, np.cos(x) * np.float32(k))
    value, _ = value_and_grad(scaled_sine)(x, k=2.0)
    np.testing.assert_allclose(value, 2 * np.sin(x).sum())
    other = grad(shaped)
    assert not np.array_equal(other(x, how="tanh"), other(x))
    with pytest.raises(CallError, match="'k' is given twice"):
        slope(x, 0.9, k=0.9)


def test_a_gradient_needs_an_element_type() -> None:
    with pytest.raises(NotDifferentiableError, match="element type"):

        @script
        def _step(x):
            return x - grad(lambda y: (op.Sin(y) * y).sum())(x)


@pytest.mark.parametrize("rest", [None, (None,), (), [None, ()], {}, {"a": None}])
def test_a_cotangent_has_none_for_containers_without_numbers(rest: object) -> None:
    given = {"w": np.float32([1, 2]), "rest": rest}
    slope = grad(lambda state: (state["w"] * state["w"]).sum())
    for cotangent in ({"w": np.float32([1, 1]), "rest": rest}, {"w": np.float32([1, 1]), "rest": None}):
        _, found = vjp(slope)(given, cotangent=cotangent)
        np.testing.assert_array_equal(found["w"], [2, 2])
    with pytest.raises(CallError, match="cotangent"):
        vjp(slope)(given, cotangent={"w": np.float32([1, 1]), "rest": np.float32(1)})
