"""A gradient takes arguments as a call of the function itself: element types, numbers, truth values and options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import opset21 as op
from onnxsmith import script, tensor
from onnxsmith.errors import CallError, MixedDTypesError, OnnxsmithError, TracedValueError
from onnxsmith.grad import checkpoint, custom_gradient, grad, jvp, value_and_grad, vjp

X = np.float32([1.5, 2.0])

GIVEN = {
    "float16 array": np.float16([2, 3]),
    "float32 array": np.float32([2, 3]),
    "float64 array": np.float64([2, 3]),
    "int64 array": np.int64([2, 3]),
    "int32 array": np.int32([2, 3]),
    "uint8 array": np.uint8([2, 3]),
    "bool array": np.array([True, False]),
    "float32 of no dimension": np.array(3, np.float32),
    "float64 of no dimension": np.array(3.0),
    "int64 of no dimension": np.array(3),
    "np.float16": np.float16(3),
    "np.float32": np.float32(3),
    "np.float64": np.float64(3),
    "np.int64": np.int64(3),
    "np.int8": np.int8(3),
    "np.bool": np.bool_(True),
    "float": 0.1,
    "int": 3,
    "bool": True,
    "list": [2.0, 3.0],
    "list of ints": [2, 3],
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": lambda x, b: (x + b).sum(),
    "-": lambda x, b: (b - x).sum(),
    "*": lambda x, b: (x * b).sum(),
    "reflected *": lambda x, b: (b * x).sum(),
    "/": lambda x, b: (x / (b * np.float32(1) + 1)).sum(),
    "/ of what is given": lambda x, b: (x * (np.asarray(b) / 2 if isinstance(b, list) else b / 2)).sum(),
    "**": lambda x, b: (x**b).sum(),
    "//": lambda x, b: (x * (x // (b + x * 0 + 1))).sum(),
    "a literal of numpy's": lambda x, b: (x * np.float64(0.1) + b).sum(),
    "an array around it": lambda x, b: (x * np.int64([1, 2]) + b).sum(),
    "a comparison": lambda x, b: (x * (x > b)).sum(),
    "a mean of what is given": lambda x, b: x.mean() * (b.mean() if hasattr(b, "mean") else 2),
    "an operator of ONNX": lambda x, b: op.ReduceSum(op.Mul(x, b), keepdims=0),
    "both": lambda x, b: (op.ReduceSum(op.Mul(x, b), keepdims=0) * b).sum(),
    "checkpoint": lambda x, b: checkpoint(lambda y: y * b)(x).sum(),
    "a truth value asked": lambda x, b: (x * x).sum() if np.all(b) else x.sum(),
}


def _plain(function: Callable[..., Any], *args: object) -> Any:
    try:
        with np.errstate(all="ignore"):
            return np.asarray(function(*args))
    except (OnnxsmithError, TypeError):
        return None


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=list(FUNCTIONS))
@pytest.mark.parametrize("given", GIVEN.values(), ids=list(GIVEN))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_value_is_that_of_the_call(function: Callable[..., Any], given: Any, dtype: Any) -> None:
    x = X.astype(dtype)
    plain = _plain(function, x, given)
    if plain is None:
        with pytest.raises((OnnxsmithError, TypeError)):
            value_and_grad(function)(x, given)
        return
    is_array = isinstance(given, np.ndarray)
    if is_array and function is FUNCTIONS["a truth value asked"]:
        with pytest.raises(TracedValueError):  # the value of an array is the model's
            value_and_grad(function)(x, given)
        return
    value, gradient = value_and_grad(function)(x, given)
    assert value.dtype == plain.dtype
    np.testing.assert_allclose(value, plain, rtol=1e-3 if plain.dtype == np.float16 else 1e-6)
    assert gradient.dtype == dtype
    assert gradient.shape == x.shape
    np.testing.assert_array_equal(vjp(function)(x, given, cotangent=np.ones((), plain.dtype))[1], gradient)
    assert jvp(function)(x, given, tangent=x)[0].dtype == plain.dtype


@pytest.mark.parametrize("stage", [lambda function: function, xp.jit], ids=["plain", "jit"])
def test_options_are_what_they_are_in_the_call(stage: Callable[..., Any]) -> None:
    def scaled(x, power=2, *, name="", how="sum", flag=False, axes=(0,), scale=None):
        for _ in range(power - 1):
            x = x * x
        y = x.sum(axis=axes) if how == "sum" else x.mean(axis=axes)
        y = -y if flag else y
        return y.sum() if scale is None else (y * scale).sum()

    options: list[tuple[tuple[object, ...], dict[str, object]]] = [
        ((), {}),
        ((1,), {}),
        ((3,), {"how": "mean"}),
        ((), {"flag": True, "name": "n"}),
        ((), {"flag": False, "axes": (0, 1)}),
        ((), {"axes": (1,), "how": "mean"}),
        ((), {"scale": 0.5}),
        ((), {"scale": 2.5}),
        ((), {"scale": np.float64(2)}),
        ((1,), {"scale": np.float32([1, 2])}),
    ]
    both = value_and_grad(stage(scaled))
    x = np.float32([[1, 2], [3, 4]])
    for args, kwargs in options * 2:
        value, gradient = both(x, *args, **kwargs)
        plain = np.asarray(scaled(x, *args, **kwargs))
        assert value.dtype == plain.dtype
        np.testing.assert_allclose(value, plain, rtol=1e-6)
        y, step = x.astype(np.float64), 1e-6
        for place in np.ndindex(2, 2):
            there = y.copy()
            there[place] += step
            slope = (scaled(there, *args, **kwargs) - scaled(y, *args, **kwargs)) / step
            np.testing.assert_allclose(gradient[place], slope, rtol=1e-4)


@pytest.mark.parametrize("stage", [lambda function: function, xp.jit], ids=["plain", "jit"])
def test_a_number_that_the_function_needs_to_know_may_change(stage: Callable[..., Any]) -> None:
    def clipped(x, bound):
        return (x * x).sum() if bound > 1 else (x * bound).sum()

    slope = grad(stage(clipped))
    for bound in (0.5, 2.0, np.float32(0.25), 3, 1, 0.5):
        np.testing.assert_allclose(slope(X, bound), 2 * X if bound > 1 else np.full_like(X, bound))


def test_a_whole_number_that_changes_is_one_model() -> None:
    made: list[int] = []

    def scaled(x, n):
        made.append(1)
        return (x * n).sum()

    slope = grad(scaled)
    for n in range(1, 9):
        np.testing.assert_array_equal(slope(X, n), np.full_like(X, n))
    assert len(made) <= 2


@pytest.mark.parametrize("given", [True, 3, "sum", None])
def test_an_option_has_no_gradient(given: object) -> None:
    with pytest.raises(OnnxsmithError, match=r"whole numbers have no gradient|a bool|arrays and numbers"):
        grad(lambda x, b: (x * b).sum(), wrt="b")(X, given)


def test_what_is_no_option_is_refused() -> None:
    with pytest.raises(CallError, match="'b' of f is given a set"):
        grad(lambda x, b: (x * x).sum())(X, {1})
    with pytest.raises(CallError, match="missing a required argument: 'b'"):
        grad(lambda x, b: (x * b).sum())(X)
    with pytest.raises(CallError, match="there is no argument 'c' to give"):
        grad(lambda x, b=1: (x * b).sum())(X, c=2)


def test_scripts_and_tensors_keep_to_one_element_type() -> None:
    @script
    def product(x, b):
        return x * b

    with pytest.raises(MixedDTypesError):
        grad(lambda x: product(x, np.float64([1, 2])).sum())(X)
    with pytest.raises(MixedDTypesError):
        grad(lambda x, b: (x * b).sum())(tensor(X), np.float64([1, 2]))


def test_a_function_with_a_gradient_of_its_own_mixes_element_types_as_numpy_does() -> None:
    doubled = custom_gradient(lambda x: x * np.float64([2, 2]))(
        lambda g, x: (g * np.int64([2, 2])).astype(np.float32)
    )
    value, gradient = value_and_grad(lambda x: doubled(x).sum())(X)
    assert (value.dtype, gradient.dtype) == (np.float64, np.float32)
    np.testing.assert_array_equal(gradient, [2, 2])


def test_a_gradient_has_the_parameters_of_its_function() -> None:
    second = grad(lambda x, n: grad(lambda y, m: (y**3.0).sum() * m, wrt="y")(x, m=n).sum(), wrt="x")
    np.testing.assert_allclose(second(X, n=2), 12 * X, rtol=1e-6)
    np.testing.assert_allclose(jvp(grad(lambda x, k: (x**k).sum()), wrt="x")(X, k=3, tangent=X)[1], 6 * X * X)
