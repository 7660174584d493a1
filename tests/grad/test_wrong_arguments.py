"""What a call refuses, its gradient refuses with the same error; what a call raises, its gradient raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError, InputTypeError, LossError, ModelInputError, OnnxsmithError
from onnxsmith.grad import (
    adam,
    checkpoint,
    custom_gradient,
    expand_training,
    grad,
    gradient,
    initial_state,
    jvp,
    losses,
    sgd,
    training_step,
    value_and_grad,
    vjp,
)

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


WEIGHT = np.float32([[1, 0.5, 0.2], [0, 1, 0.3]])
MODEL = trace(lambda x: x @ WEIGHT, FLOAT["N", 2])
STEP = training_step(MODEL, losses.squared, sgd(lr=0.1))
_NO_MODELS: list[Any] = [None, 3, "a.onnx", lambda x: x, product]
_NO_FUNCTIONS: list[Any] = [None, 3, "squared", [1]]
_NO_FLAGS: list[Any] = ["yes", 1, None]
_CALLS: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
    "gradient": (lambda given: gradient(given, wrt="x"), _NO_MODELS),
    "wrt of gradient": (
        lambda given: gradient(FIXED, wrt=given),
        [None, 3, [], [3], {}, "", "q", ["x", "q"], ["x", "x"], b"x"],
    ),
    "of": (lambda given: gradient(FIXED, wrt="x", of=given), [3, "", "lss", ["reduce_sum"], b"x"]),
    "grad": (grad, _NO_FUNCTIONS),
    "vjp": (vjp, _NO_FUNCTIONS),
    "wrt of grad": (
        lambda given: grad(FIXED, wrt=given)(X, X),
        [None, 1.5, True, 5, -3, "q", [], {}, [[0]], [0, "x"], [0, 0], [0, 2]],
    ),
    "checkpoint": (checkpoint, _NO_FUNCTIONS),
    "custom_gradient": (custom_gradient, _NO_FUNCTIONS),
    "backward": (
        lambda given: grad(lambda x: custom_gradient(lambda y: y * 2.0)(given)(x).sum())(X),
        [
            *_NO_FUNCTIONS,
            lambda g: g,
            lambda g, x, y: g,
            lambda g, x: (g, g),
            lambda g, x: g.sum(),
            lambda g, x: "a",
            lambda g, x: {},
        ],
    ),
    "model of a step": (lambda given: training_step(given, losses.squared, sgd(lr=0.1)), _NO_MODELS),
    "loss": (
        lambda given: training_step(MODEL, given, sgd(lr=0.1)),
        [*_NO_FUNCTIONS, losses.huber, lambda p: p, lambda p, t: p, lambda p, t: None, lambda p, t: 1.0],
    ),
    "optimizer": (lambda given: training_step(MODEL, losses.squared, given), [None, 3, "sgd", sgd]),
    "weights": (
        lambda given: training_step(MODEL, losses.squared, sgd(lr=0.1), weights=given),
        [3, [], [3], "q", ["q*"], "x"],
    ),
    "penalty": (
        lambda given: training_step(MODEL, losses.squared, sgd(lr=0.1), penalty=given),
        [3, "l2", lambda: 0.0, lambda w: None, lambda w: "a"],
    ),
    "inputs of a step": (
        lambda given: training_step(
            trace(lambda x: x @ WEIGHT, FLOAT["N", 2], input_names=[given]), losses.squared, adam(lr=None)
        ),
        ["target", "lr", "step"],
    ),
    "lr": (lambda given: sgd(lr=given), ["a", -1, float("nan"), True, [0.1]]),
    "momentum": (lambda given: sgd(lr=0.1, momentum=given), ["a", -1, float("nan"), [0.1]]),
    "nesterov": (lambda given: sgd(lr=0.1, momentum=0.9, nesterov=given), _NO_FLAGS),
    "nesterov alone": (lambda given: sgd(lr=0.1, momentum=given, nesterov=True), [0.0, 0]),
    "betas": (
        lambda given: adam(lr=0.1, betas=given),
        [3, "a", (0.9,), (0.9, "a"), (0.9, -1), (0.9, 1.0), (2.0, 0.9)],
    ),
    "nested loops of grad": (lambda given: grad(FIXED, keep_nested_loops=given), _NO_FLAGS),
    "nested loops of gradient": (
        lambda given: gradient(FIXED, wrt="x", keep_nested_loops=given),
        _NO_FLAGS,
    ),
    "nested loops of a step": (
        lambda given: training_step(MODEL, losses.squared, sgd(lr=0.1), keep_nested_loops=given),
        _NO_FLAGS,
    ),
    "l1": (lambda given: losses.elastic_penalty(l1=given), ["a", -1]),
    "delta": (losses.huber, ["a", -1]),
    "model of initial_state": (lambda given: initial_state(given, STEP), [*_NO_MODELS, STEP, FIXED]),
    "step of initial_state": (lambda given: initial_state(MODEL, given), [*_NO_MODELS, MODEL, FIXED]),
    "swapped initial_state": (lambda given: initial_state(STEP, given), [MODEL]),
    "expand_training": (expand_training, [None, 3, "a.onnx"]),
}


@pytest.mark.parametrize(
    ("call", "given"),
    [(call, each) for call, wrong in _CALLS.values() for each in wrong],
    ids=[f"{name}-{number}" for name, (_, wrong) in _CALLS.items() for number in range(len(wrong))],
)
def test_wrong_input_is_told_at_its_place(call: Callable[[Any], object], given: Any) -> None:
    with pytest.raises(OnnxsmithError) as caught:
        call(given)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_arrays_whose_operators_mean_something_else_are_refused() -> None:
    for given in (np.matrix([[1.0, 2.0]]), np.ma.masked_array(X, [True, False])):
        with pytest.raises(OnnxsmithError, match="whose operators mean something else"):
            grad(lambda x: (x * x).sum())(given)


@pytest.mark.parametrize(
    "function", [*FUNCTIONS.values(), lambda x, v: (x * v).sum(), xp.jit(lambda x, v: (x * v).sum())]
)
def test_an_argument_that_is_given_twice_is_told_so(function: Callable[..., Any]) -> None:
    with pytest.raises(CallError, match="given twice"):
        grad(function)(X, X, x=X)
    with pytest.raises(CallError, match="given twice"):
        grad(function)(X, x=X)


def test_containers_that_hold_themselves() -> None:
    endless: list[Any] = [X]
    endless.append(endless)
    table: dict[str, Any] = {"x": X}
    table["self"] = table
    for given in (endless, table):
        for call in (
            grad(lambda x: x[0]),
            xp.jit(lambda x: x[0]),
            lambda given: vjp(lambda x: x)(X, cotangent=given),
            lambda given: xp.to_model(lambda x: x[0], given),
            lambda given: xp.jit(lambda x: given)(X),
        ):
            with pytest.raises(InputTypeError, match="holds itself") as caught:
                call(given)
            assert caught.value.help


def test_a_tangent_of_several_lengths() -> None:
    with pytest.raises(OnnxsmithError, match="no array"):
        jvp(lambda x: x, wrt=[0])(X, tangent=([1.0, [2.0, 3.0]],))
