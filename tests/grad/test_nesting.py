"""Gradients, `jit` and `checkpoint` inside each other, in any order; and functions that read what is around them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, load, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import LeakedValueError, NotDifferentiableError, TracedValueError
from onnxsmith.grad import checkpoint, custom_gradient, grad, jvp, stop_gradient, value_and_grad, vjp

Function: TypeAlias = "Callable[..., Any]"
X = np.float32([1.0, 2.0])
W = np.float32([3.0, 4.0])
ONE = np.float32(1)

#: Each makes a function of a number into one, and says how many derivatives it takes.
TRANSFORMATIONS: dict[str, tuple[Callable[[Function], Function], int]] = {
    "jit": (xp.jit, 0),
    "call": (lambda f: lambda x: f(x), 0),
    "checkpoint": (checkpoint, 0),
    "grad": (grad, 1),
    "value of value_and_grad": (lambda f: lambda x: value_and_grad(f)(x)[0], 0),
    "grad of value_and_grad": (lambda f: lambda x: value_and_grad(f)(x)[1], 1),
    "jvp": (lambda f: lambda x: jvp(f)(x, tangent=ONE)[1], 1),
    "vjp": (lambda f: lambda x: vjp(f)(x, cotangent=ONE)[1], 1),
}


def _power(x):
    return x * x * x * x + 2.0 * x


#: The function and its derivatives.
_DERIVATIVES: list[Callable[[float], float]] = [
    lambda x: x**4 + 2 * x,
    lambda x: 4 * x**3 + 2,
    lambda x: 12 * x**2,
    lambda x: 24 * x,
]
_DEEP = [name for name in TRANSFORMATIONS if name not in ("call", "vjp", "value of value_and_grad")]
_NESTINGS = [
    *((name,) for name in TRANSFORMATIONS),
    *itertools.product(TRANSFORMATIONS, repeat=2),
    *itertools.product(_DEEP, repeat=3),
]


@pytest.mark.parametrize("names", _NESTINGS, ids=" of ".join)
def test_any_nesting_gives_the_derivative(names: tuple[str, ...]) -> None:
    function: Function = _power
    order = 0
    for name in reversed(names):
        transformation, derivatives = TRANSFORMATIONS[name]
        function = transformation(function)
        order += derivatives
    x = np.array(1.5, np.float32)
    found = np.asarray(function(x))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, _DERIVATIVES[order](1.5), rtol=1e-5)


_READING: dict[str, Function] = {
    "checkpoint": lambda x, v: checkpoint(lambda y: (y * y * v).sum())(x),
    "checkpoint in checkpoint": lambda x, v: checkpoint(lambda y: checkpoint(lambda z: (z * y * v).sum())(y))(
        x
    ),
    "value": lambda x, v: value_and_grad(lambda y: (y * y * v).sum())(x)[0],
    "gradient": lambda x, v: (grad(lambda y: (y * y * v).sum())(x) * x).sum() * 0.5,
    "vjp": lambda x, v: vjp(lambda y: y * y * v)(x, cotangent=v)[0].sum(),
    "jvp": lambda x, v: jvp(lambda y: y * y * v)(x, tangent=x)[1].sum() * 0.5,
    "in a checkpoint": lambda x, v: checkpoint(
        lambda y: (grad(lambda z: (z * z * v).sum())(y) * y).sum() * 0.5
    )(x),
}


@pytest.mark.parametrize("function", _READING.values(), ids=list(_READING))
@pytest.mark.parametrize("stage", [lambda function: function, xp.jit], ids=["plain", "jit"])
def test_a_function_reads_tensors_of_the_one_around_it(
    function: Function, stage: Callable[[Function], Function]
) -> None:
    value, (by_x, by_v) = value_and_grad(stage(function), wrt=[0, 1])(X, W)
    np.testing.assert_allclose(value, (X * X * W).sum(), rtol=1e-6)
    np.testing.assert_allclose(by_x, 2 * X * W, rtol=1e-5)
    np.testing.assert_allclose(by_v, X * X, rtol=1e-5)


def test_what_a_function_reads_survives_saving(tmp_path) -> None:
    model = trace(_READING["checkpoint"], FLOAT["N"], FLOAT["N"])
    model.save(tmp_path / "model.onnx")
    np.testing.assert_allclose(grad(load(tmp_path / "model.onnx"), wrt="v")(X, W), X * X)


def test_a_custom_gradient_reads_tensors_of_the_function_around_it(tmp_path) -> None:
    def scaled(x, v, u):
        return custom_gradient(lambda y: y * v)(lambda g, y: g * v * u)(x).sum()

    model = trace(scaled, FLOAT["N"], FLOAT["N"], FLOAT["N"])
    model.save(tmp_path / "model.onnx")
    for function in (scaled, xp.jit(scaled), load(tmp_path / "model.onnx")):
        value, gradient = value_and_grad(function)(X, W, np.float32([10, 20]))
        np.testing.assert_array_equal(value, (X * W).sum())
        np.testing.assert_array_equal(gradient, W * [10, 20])


def test_arrays_and_numbers_around_a_function_are_constants() -> None:
    weights, factor = np.float64([3, 4]), 2.0
    value, gradient = value_and_grad(lambda x: checkpoint(lambda y: (y * weights * factor).sum())(x))(X)
    assert value.dtype == np.float64
    np.testing.assert_array_equal(gradient, weights * 2)


def test_a_number_of_the_model_is_read_as_one() -> None:
    model = trace(lambda x: grad(lambda y: (y * y * x.shape[0]).sum())(x), FLOAT["N"])
    np.testing.assert_array_equal(model(np.float32([1, 2, 3])), [6, 12, 18])


def test_a_function_in_a_script_reads_its_tensors() -> None:
    @script
    def loss(x: FLOAT["N"], v: FLOAT["N"]):
        return checkpoint(lambda y: op.ReduceSum(y * y * v, keepdims=0))(x)

    np.testing.assert_array_equal(grad(loss, wrt="v")(X, W), X * X)


def test_stop_gradient_of_what_is_read() -> None:
    slope = grad(lambda x: checkpoint(lambda y: (y * stop_gradient(x)).sum())(x))
    np.testing.assert_array_equal(slope(X), X)


def test_a_tensor_of_a_finished_graph_is_still_refused() -> None:
    kept: list[Any] = []

    def leaking(x):
        kept.append(x)
        return x.sum()

    grad(leaking)(X)
    with pytest.raises(LeakedValueError):
        grad(lambda x: checkpoint(lambda y: (y * kept[0]).sum())(x))(X)


def test_descent_in_numpy_code() -> None:
    def bowl(x):
        return (x * x).sum() if x.sum() > 0 else (x * x * 4).sum()

    def descent(x, turns):
        for _ in range(turns):
            x = x - 0.1 * grad(xp.jit(bowl))(x)
        return x

    for turns in (1, 4, 5):
        np.testing.assert_allclose(xp.jit(descent)(X, turns), X * np.float32(0.8) ** turns, rtol=1e-5)
    with pytest.raises(TracedValueError) as caught:
        xp.jit(lambda x: grad(bowl)(x))(X)
    assert caught.value.help == "grad(onnxsmith.numpy.jit(bowl)) differentiates code for numpy"


def test_complex_numbers_are_refused() -> None:
    def power(z):
        return (z * z).real.sum()

    z = np.complex64([1 + 1j])
    for call in (lambda: grad(power)(z), lambda: grad(xp.jit(power))(z), lambda: xp.jit(grad(power))(z)):
        with pytest.raises(NotDifferentiableError, match="'z' of power is complex"):
            call()
