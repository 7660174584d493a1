"""`grad`, `value_and_grad`, `vjp` and `jvp` on functions, scripts and models."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, Model, load, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeTypeError, CallError, LossError, ModelWarning
from onnxsmith.grad import checkpoint, custom_gradient, grad, jvp, value_and_grad, vjp

X = np.float32([1.0, 2.0, 3.0])


def loss(x):  # as users write them
    return (op.Sin(x) * x).sum()


def test_the_gradient_of_a_function() -> None:
    np.testing.assert_allclose(grad(loss)(X), np.cos(X) * X + np.sin(X), rtol=1e-6)


def test_value_and_gradient_together() -> None:
    value, gradient = value_and_grad(loss)(X)
    np.testing.assert_allclose(value, (np.sin(X) * X).sum(), rtol=1e-6)
    np.testing.assert_allclose(gradient, grad(loss)(X))


def test_several_arguments_have_a_tuple_of_gradients() -> None:
    by_x, by_y = grad(lambda x, y: (x * y * y).sum(), wrt=(0, "y"))(X, X + 1)
    np.testing.assert_allclose(by_x, (X + 1) ** 2)
    np.testing.assert_allclose(by_y, 2 * X * (X + 1))


def test_an_argument_by_name() -> None:
    np.testing.assert_allclose(grad(lambda x, y: (x * y).sum(), wrt="y")(X, y=X + 1), X)


def test_an_argument_that_is_not_used_has_zeros_and_is_told() -> None:
    unused = grad(lambda x, y: (x * x).sum(), wrt=1)
    with pytest.warns(ModelWarning, match="the loss does not depend on 'y': its gradient is 0") as told:
        np.testing.assert_array_equal(unused(X, X), np.zeros(3))
    assert told[0].filename == __file__


def test_an_argument_that_counts_by_whole_numbers_alone_is_told() -> None:
    @script
    def place(x: FLOAT["N"]):
        return op.ReduceSum(op.Cast(op.ArgMax(x), to=1), keepdims=0)

    with pytest.warns(
        ModelWarning, match=r"by whole numbers or truth values only, made by node .* \(ArgMax\)"
    ):
        np.testing.assert_array_equal(grad(place)(X), np.zeros(3))


@pytest.mark.parametrize("form", ["script", "model"])
def test_a_missing_argument_is_named(form: str) -> None:
    @script
    def product(x: FLOAT["N"], y: FLOAT["N"]):
        return op.ReduceSum(x * y, keepdims=0)

    function = product if form == "script" else product.to_model()
    with pytest.raises(CallError, match="argument 'y' is missing"):
        grad(function)(X)


def test_a_second_derivative_is_the_gradient_of_the_gradient() -> None:
    second = grad(lambda x: grad(loss)(x).sum())
    np.testing.assert_allclose(second(X), 2 * np.cos(X) - X * np.sin(X), rtol=1e-5)


def test_a_hessian_times_a_vector() -> None:
    _, product = jvp(grad(loss))(X, tangent=np.float32([1, 0, 2]))
    np.testing.assert_allclose(product, (2 * np.cos(X) - X * np.sin(X)) * [1, 0, 2], rtol=1e-5)


def test_a_vector_times_the_jacobian() -> None:
    value, product = vjp(lambda x: x * x)(X, cotangent=np.float32([1, 10, 100]))
    np.testing.assert_array_equal(value, X * X)
    np.testing.assert_array_equal(product, 2 * X * [1, 10, 100])


def test_several_numbers_have_tangents_of_their_own() -> None:
    """A graph has each constant once: cotangents of two numbers were one value, and both tangents their sum."""
    value, tangent = jvp(lambda x: (x * x, x + 1.0, x * 3.0))(np.float32(2), tangent=np.float32(1))
    assert [float(each) for each in value] == [4, 3, 6]
    assert [float(each) for each in tangent] == [4, 1, 3]


def test_results_that_are_containers_keep_their_form() -> None:
    def function(x):
        return {"double": x * 2.0, "pair": [x * x, None]}

    x = np.float32([1, 3])
    value, tangent = jvp(function)(x, tangent=np.float32([1, 1]))
    assert list(value) == list(tangent) == ["double", "pair"]
    np.testing.assert_array_equal(tangent["pair"][0], [2, 6])
    assert tangent["pair"][1] is None
    weights = {"double": x * 0, "pair": [x * 0 + 1, None]}
    np.testing.assert_array_equal(vjp(function)(x, cotangent=weights)[1], [2, 6])
    with pytest.raises(CallError, match="another form than the result"):
        vjp(function)(x, cotangent=[x, x])


def test_cotangents_of_several_results() -> None:
    _, product = vjp(lambda x: (x * x, 3.0 * x))(X, cotangent=(X, X))
    np.testing.assert_array_equal(product, 2 * X * X + 3 * X)


def test_the_jacobian_times_vectors() -> None:
    value, change = jvp(lambda x, y: x * x * y, wrt=(0, 1))(X, X, tangent=(X, np.ones_like(X)))
    np.testing.assert_array_equal(value, X**3)
    np.testing.assert_array_equal(change, 2 * X**3 + X**2)


@script
def squares(w: FLOAT["N", "M"], x: FLOAT["B", "N"]):
    return op.ReduceSum(op.Relu(x @ w) ** 2.0, keepdims=0)


def test_the_gradient_of_a_script() -> None:
    w, x = np.float32([[1, -2], [3, 1]]), np.float32([[1, 2], [-1, 0]])
    hidden = np.maximum(x @ w, 0)
    np.testing.assert_allclose(grad(squares)(w, x), 2 * x.T @ hidden)


def test_the_gradient_of_a_model() -> None:
    model = trace(lambda x, y: (x * y).sum(), FLOAT["N"], FLOAT["N"])
    np.testing.assert_array_equal(grad(model, wrt=1)(X, X + 1), X)


def test_sizes_may_change_from_call_to_call() -> None:
    gradient = grad(lambda x, y: ((x - y) ** 2.0).sum())
    for rows in (2, 5, 7, 1):
        x, y = np.ones((rows, 3), np.float32), np.zeros((rows, 3), np.float32)
        np.testing.assert_array_equal(gradient(x, y), 2 * x)
    # A size that was always that of another, and no longer is.
    np.testing.assert_array_equal(
        gradient(np.ones((4, 3), np.float32), np.zeros((1, 3), np.float32)), np.full((4, 3), 2)
    )
    np.testing.assert_array_equal(
        gradient(np.ones((1, 3), np.float32), np.zeros((4, 3), np.float32)), np.full((1, 3), 8)
    )


def test_inside_a_graph_a_gradient_is_a_part_of_it(tmp_path) -> None:
    model = trace(lambda x: x - 0.5 * grad(loss)(x), FLOAT["N"])
    model.save(tmp_path / "step.onnx")
    expected = X - 0.5 * (np.cos(X) * X + np.sin(X))
    np.testing.assert_allclose(load(tmp_path / "step.onnx")(X), expected, rtol=1e-6)


def test_the_model_of_a_gradient() -> None:
    model = grad(loss).to_model(FLOAT["N"])
    assert isinstance(model, Model)
    model.check()
    np.testing.assert_allclose(model(X)[1], grad(loss)(X))


def test_double_precision() -> None:
    x = X.astype(np.float64)
    gradient = grad(loss)(x)
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, np.cos(x) * x + np.sin(x), rtol=1e-14)


def test_wrong_calls() -> None:
    with pytest.raises(CallError, match="needs a function"):
        grad(3)  # pyright: ignore[reportArgumentType]
    for wrt in ((), np.array(None), np.array(0)):
        with pytest.raises(AttributeTypeError, match="wrt names arguments"):
            grad(loss, wrt=wrt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # as one may write
    with pytest.raises(CallError, match="needs cotangent="):
        vjp(loss)(X)
    with pytest.raises(LossError, match="2 results"):
        grad(lambda x: (x.sum(), x.sum()))(X)
    with pytest.raises(LossError, match="one number"):
        grad(lambda x: x * x)(X)
    with pytest.raises(CallError, match="2 arguments were given"):
        grad(loss)(X, X)


class _Layer:
    def __init__(self, scale: float) -> None:
        self.scale = scale


def test_a_gradient_of_numpy_code_reads_what_is_around_it_in_each_call() -> None:
    factor, weights, layer = 2.0, np.float32([1, 10, 100]), _Layer(1.0)

    @xp.jit
    def total(x):
        return (x * weights * factor * layer.scale).sum()

    both, inner = value_and_grad(total), vjp(total)
    np.testing.assert_allclose(both(X)[1], [2, 20, 200])
    factor = 3.0
    np.testing.assert_allclose(both(X)[1], [3, 30, 300])
    weights[0] = 7
    np.testing.assert_allclose(both(X)[1], [21, 30, 300])
    layer.scale = 2.0
    value, gradient = both(X)
    np.testing.assert_allclose(gradient, [42, 60, 600])
    np.testing.assert_allclose(value, total(X))
    one = np.float32(1)
    np.testing.assert_allclose(inner(X, cotangent=one)[1], [42, 60, 600])
    assert both.to_model(X)(X)[1].tolist() == [42, 60, 600]
    layer.scale = 1.0
    assert both.to_model(X)(X)[1].tolist() == [21, 30, 300]


def test_models_of_numpy_code_are_kept_while_nothing_around_it_changes() -> None:
    both = value_and_grad(xp.jit(lambda x: (x * X).sum()))
    assert both.to_model(X) is both.to_model(X)


def test_arrays_in_a_dict() -> None:
    def scaled(how, x):
        return (x * how["a"]).sum()

    for function in (scaled, xp.jit(scaled)):
        value, slope = value_and_grad(function, wrt=1)({"a": X}, X)
        np.testing.assert_allclose(value, (X * X).sum())
        np.testing.assert_allclose(slope, X)


def test_options_of_numpy_code_by_partial() -> None:
    def scaled(x, how):
        return (x * (how * 2)[1]).sum() if isinstance(how, list) else x.sum()

    np.testing.assert_allclose(grad(xp.jit(functools.partial(scaled, how=[3.0, 5.0])))(X), [5, 5, 5])


FACTOR = 2.0


def _scaled(x):
    return x * FACTOR


@script
def _scaled_sum(x: FLOAT["N"]):
    return op.ReduceSum(x * FACTOR, keepdims=0)


class _Weighted:
    def __init__(self) -> None:
        self.weight = np.float32([2, 2])

    def loss(self, x):
        return (x * self.weight).sum()


def test_a_gradient_is_that_of_the_function_as_it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, array = _Weighted(), np.float32([2, 2])
    kept = checkpoint(lambda x: x * FACTOR)
    marked = custom_gradient(lambda x: x * FACTOR)(lambda g, x: g * FACTOR)
    gradients = {
        "a global": grad(lambda x: (x * FACTOR).sum()),
        "a helper": grad(lambda x: _scaled(x).sum()),
        "a script": grad(_scaled_sum),
        "a method": grad(layer.loss),
        "an array": grad(lambda x: (x * array).sum()),
        "checkpoint": grad(lambda x: kept(x).sum()),
        "custom_gradient": grad(lambda x: marked(x).sum()),
        "a gradient inside": grad(lambda x: (grad(lambda y: (y * y * FACTOR).sum())(x) * 0.5).sum()),
    }
    x = np.float32([1, 2])
    assert [name for name, each in gradients.items() if each(x).tolist() != [2, 2]] == []
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    layer.weight = np.float32([5, 5])
    array[:] = 5
    assert [name for name, each in gradients.items() if each(x).tolist() != [5, 5]] == []


def test_models_of_plain_functions_are_kept_while_nothing_around_them_changes() -> None:
    made: list[int] = []

    def loss(x):
        made.append(1)
        return (x * FACTOR).sum()

    gradient = grad(loss)
    for _ in range(3):
        gradient(np.float32([1, 2]))
    assert len(made) <= 2


def test_numpy_code_that_is_a_loop_of_the_model() -> None:
    """It cannot be recorded for known sizes, and is recorded for any."""
    fast = xp.jit(lambda x: sum(v * v for v in x if v > 0))
    for x in (np.array([1.0, -2.0, 3.0]), np.array([2.0])):
        np.testing.assert_allclose(grad(fast)(x), 2 * np.maximum(x, 0))


def test_products_with_jacobians_of_containers() -> None:
    def scaled(parts):
        return parts["a"] * parts["b"][0]

    given = {"a": X, "b": [X + 1]}
    value, pull = vjp(scaled)(given, cotangent=np.ones_like(X))
    np.testing.assert_allclose(value, X * (X + 1))
    np.testing.assert_allclose(pull["a"], X + 1)
    np.testing.assert_allclose(pull["b"][0], X)
    value, change = jvp(scaled)(given, tangent={"a": X, "b": [np.ones_like(X)]})
    np.testing.assert_allclose(value, X * (X + 1))
    np.testing.assert_allclose(change, X * (X + 1) + X)


def grown(x):
    out = []
    for v in x:
        out.append(v * len(out))
        if len(out) > 1:
            out[-1] = out[-1] + out[-2]
    return sum(out)


def test_a_list_whose_first_iteration_fits_one_branch_alone() -> None:
    found = grad(xp.jit(grown))(np.float32([1, 2, 3]))
    np.testing.assert_array_equal(found, [0, 2, 2])


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: np.maximum.accumulate(x).sum(), [[2, 1, 0], [1, 1, 1]]),
        (lambda x: np.minimum.accumulate(x, axis=1).sum(), [[1, 0, 2], [3, 0, 0]]),
    ],
)
def test_running_extremes(function, wanted) -> None:
    x = np.float32([[3, 5, 1], [1, 4, 5]])
    found = grad(xp.jit(function))(x)
    eager = [
        [(function(x + step) - function(x - step)) / 0.02 for step in row]
        for row in np.eye(6, dtype=np.float32).reshape(2, 3, 2, 3) * 0.01
    ]
    np.testing.assert_allclose(found, eager, atol=1e-2)
    assert np.asarray(found).shape == np.shape(wanted)
