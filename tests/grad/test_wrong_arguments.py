"""What a call refuses, its gradient refuses with the same error; what a call raises, its gradient raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError, LossError, ModelInputError, OnnxsmithError
from onnxsmith.grad import grad, gradient, jvp, value_and_grad, vjp

X = np.float32([1.0, 2.0])


@script
def product(x: FLOAT["N"], v: FLOAT["N"]):
    return op.ReduceSum(x * v * v, keepdims=0)


FIXED = trace(lambda x, v: op.ReduceSum(x * v * v, keepdims=0), FLOAT[2], FLOAT[2])
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "script": product,
    "open model": product.to_model(),
    "model": FIXED,
}
WRONG: dict[str, tuple[object, object]] = {
    "float64": (X.astype(np.float64), X),
    "int64": (X, np.int64([1, 2])),
    "bool": (X > 0, X),
    "another size": (np.float32([1, 2, 3]), X),
    "a size of one": (np.float32([1]), X),
    "two dimensions": (X[None], X),
    "no dimension": (np.float32(1), X),
    "text": ("a", X),
    "None": (None, X),
    "a set": ({1, 2}, X),
    "a dict": ({"a": 1}, X),
    "complex": (X.astype(np.complex64), X),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=list(FUNCTIONS))
@pytest.mark.parametrize("given", WRONG.values(), ids=list(WRONG))
def test_the_gradient_refuses_what_the_call_refuses(
    function: Callable[..., Any], given: tuple[object, object]
) -> None:
    with pytest.raises(OnnxsmithError) as plain:
        function(*given)
    for made in (grad(function), value_and_grad(function, wrt=[0, 1])):
        with pytest.raises(OnnxsmithError) as caught:
            made(*given)
        if isinstance(given[0], dict):
            assert isinstance(caught.value, CallError)  # a dict of weights is told to be arguments
        else:
            assert (type(caught.value), caught.value.message) == (type(plain.value), plain.value.message)
        assert caught.value.span is not None
        assert caught.value.span.file == __file__


@xp.jit
def _raising(x, limit):
    if x.sum() > limit:
        raise ValueError("too much")
    assert x.min() > 0, "too little"
    return (x * x).sum()


@xp.jit
def _nested(x, limit):
    return _raising(x * 2, limit) + 1


@pytest.mark.parametrize("function", [_raising, _nested])
@pytest.mark.parametrize("given", [X, X * 100, -X, X[:0]], ids=["right", "too much", "too little", "empty"])
def test_what_a_call_raises_its_gradient_raises(function: Callable[..., Any], given: Any) -> None:
    try:
        plain: BaseException | None = None
        function(given, 50.0)
    except (ValueError, AssertionError) as error:
        plain = error
    calls = (
        lambda: grad(function)(given, 50.0),
        lambda: value_and_grad(function)(given, 50.0),
        lambda: vjp(function)(given, 50.0, cotangent=np.float32(1)),
        lambda: jvp(function)(given, 50.0, tangent=np.ones_like(given)),
    )
    for call in calls:
        if plain is None:
            call()
            continue
        with pytest.raises(type(plain)) as caught:
            call()
        assert str(caught.value) == str(plain)


@pytest.mark.parametrize(
    "given", [np.float32([1, 2, 3]), np.float64([1, 2]), np.float32([[1, 2]])], ids=["size", "dtype", "rank"]
)
def test_a_wrong_cotangent_or_tangent_is_named(given: Any) -> None:
    with pytest.raises(ModelInputError, match="cotangent"):
        vjp(lambda x: x * x)(X, cotangent=given)
    with pytest.raises(ModelInputError, match="'x_tangent'"):
        jvp(lambda x: x * x)(X, tangent=given)


def test_what_is_no_weight_of_a_result_is_refused() -> None:
    for given in ("text", None, {"a": X}, [X, X]):
        with pytest.raises(OnnxsmithError):
            vjp(lambda x: x * x)(X, cotangent=given)
        with pytest.raises(OnnxsmithError):
            jvp(lambda x: x * x)(X, tangent=given)


def test_a_gradient_of_no_number_is_refused() -> None:
    with pytest.raises(LossError, match="nothing says which is the loss"):
        gradient(trace(lambda x: (x, x * 2.0), FLOAT[1]), wrt="x")
