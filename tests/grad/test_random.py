"""Law: the way back has the numbers that were drawn on the way forward, wherever a random operator stands.

A result `y = x * draw` is linear in `x`, so that the gradient of its sum, times `x`, is `y` itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from onnxsmith import FLOAT, INT64, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith import opset23 as op23
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad import checkpoint

X = np.arange(1, 65, dtype=np.float32)
HALF, TRAINING = np.float32(0.5), np.bool_(True)


def uniform(x: Any) -> Any:
    return x * op.RandomUniformLike(x, low=-1.0, high=3.0)


def normal(x: Any) -> Any:
    return x * op.RandomNormalLike(x, mean=1.0, scale=2.0)


def uniform_in_shape(x: Any) -> Any:
    return x * op.RandomUniform(shape=[64], high=2.0)


def normal_in_shape(x: Any) -> Any:
    return x * op.Cast(op.RandomNormal(shape=[64], mean=1.0, dtype=11), to=FLOAT)


def bernoulli(x: Any) -> Any:
    return x * op.Bernoulli(x * 0.0 + 0.5) * 2.0


def chosen(x: Any) -> Any:
    classes = op.Multinomial(op.Unsqueeze(op.Slice(x, [0], [3]) * 0.0, [0]), sample_size=64)
    return x * op.Cast(op.Reshape(classes, [-1]), to=FLOAT)


def dropped(x: Any) -> Any:
    return op.Dropout(x, HALF, TRAINING)


def with_a_mask(x: Any) -> Any:
    result, mask = op.Dropout(x, np.float32(0.25), TRAINING, outputs=2)
    return op.Where(mask, result * 0.5, result) * 2.0


DRAWS = [uniform, normal, uniform_in_shape, normal_in_shape, bernoulli, chosen, dropped, with_a_mask]


def summed(y: Any) -> Any:
    return op.ReduceSum(y, keepdims=0), y


def flat(draw: Callable[[Any], Any]) -> Model:
    return trace(lambda x: summed(draw(x)), FLOAT["N"])


def in_a_branch(draw: Callable[[Any], Any]) -> Model:
    @script
    def loss(x: FLOAT["N"]):
        if op.ReduceSum(x, keepdims=0) > 0.0:
            y = draw(x)
        else:
            y = x
        return summed(y)

    return loss.to_model()


def in_a_loop(draw: Callable[[Any], Any]) -> Model:
    @script
    def loss(x: FLOAT["N"]):
        y = x
        for _i in range(op.Size(x) - 61):
            y = draw(y)
        return summed(y)

    return loss.to_model()


def in_a_while(draw: Callable[[Any], Any]) -> Model:
    @script
    def loss(x: FLOAT["N"]):
        y, k = x, op.Size(x)
        while k > 8:
            y, k = draw(y), k // 2
        return summed(y)

    return loss.to_model()


def in_nested_loops(draw: Callable[[Any], Any]) -> Model:
    @script
    def loss(x: FLOAT["N"]):
        y = x
        for _i in range(op.Size(x) - 62):
            for _k in range(op.Size(x) - 62):
                y = draw(y)
            if op.Size(y) > 3:
                y = draw(y)
        return summed(y)

    return loss.to_model()


def in_functions_of_a_loop(draw: Callable[[Any], Any]) -> Model:
    @script
    def once(x: FLOAT["N"]):
        return draw(x)

    @script
    def twice(x: FLOAT["N"]):
        return once(x) + once(once(x))

    @script
    def loss(x: FLOAT["N"]):
        y = x
        for _i in range(op.Size(x) - 62):
            y = twice(y)
        return summed(y)

    return loss.to_model()


def in_loops_of_functions(draw: Callable[[Any], Any]) -> Model:
    @script
    def often(x: FLOAT["N"]):
        y = x
        for _i in range(op.Size(x) - 62):
            y = draw(y)
        return y

    @script
    def loss(x: FLOAT["N"]):
        return summed(often(often(x)) + often(x))

    return loss.to_model()


def checkpointed(draw: Callable[[Any], Any]) -> Model:
    def loss(x: Any) -> Any:
        return summed(checkpoint(draw)(x) + checkpoint(lambda y: draw(draw(y)))(x))

    return trace(loss, FLOAT["N"], opset_version=21)


PLACES = [
    flat,
    in_a_branch,
    in_a_loop,
    in_a_while,
    in_nested_loops,
    in_functions_of_a_loop,
    in_loops_of_functions,
    checkpointed,
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_the_way_back_has_the_numbers_of_the_way_forward(
    draw: Callable[[Any], Any], place: Callable[..., Model]
) -> None:
    model = place(draw)
    gradient = model.gradient(wrt=["x"], of=model.outputs[0].name)
    first, second = gradient(X), gradient(X)
    for _, y, g in (first, second):
        assert np.allclose(g * X, y, rtol=1e-4, atol=1e-4)
    assert np.any(first[1] != second[1])


def test_and_where_nested_loops_are_kept() -> None:
    model = in_nested_loops(dropped)
    gradient = model.gradient(wrt=["x"], of=model.outputs[0].name, keep_nested_loops=True)
    _, y, g = gradient(X)
    assert np.allclose(g * X, y, rtol=1e-4)


@pytest.mark.parametrize("draw", [normal, dropped], ids=lambda draw: draw.__name__)
def test_and_in_a_plain_session(draw: Callable[[Any], Any]) -> None:
    model = in_nested_loops(draw)
    gradient = model.gradient(wrt=["x"], of=model.outputs[0].name)
    session = onnxruntime.InferenceSession(gradient.for_runtime().proto.SerializeToString())
    results: Any = session.run(None, {"x": X})
    _, y, g = results
    assert np.allclose(g * X, y, rtol=1e-4, atol=1e-4)


def test_and_in_an_opset_without_kernels() -> None:
    @script
    def loss(x: FLOAT["N"]):
        y = x
        for _i in range(2):
            y = op23.Dropout(y * op23.RandomNormalLike(x), HALF, TRAINING)
        return op23.ReduceSum(y, keepdims=0), y

    model = loss.to_model()
    _, y, g = model.gradient(wrt=["x"], of=model.outputs[0].name)(X)
    assert np.allclose(g * X, y, rtol=1e-4)


#: The mean and the standard deviation of what each gives of ones.
MOMENTS = {
    "uniform": (1.0, 4 / 12**0.5),
    "normal": (1.0, 2.0),
    "bernoulli": (1.0, 1.0),
    "dropped": (1.0, 1.0),
}


@pytest.mark.parametrize("draw", [uniform, normal, bernoulli, dropped], ids=lambda draw: draw.__name__)
def test_numbers_in_a_loop_have_their_distribution(draw: Callable[[Any], Any]) -> None:
    @script
    def loss(x: FLOAT["N"], n: INT64):
        rows = []
        for _i in range(n):
            rows.append(draw(x))
        y = op.ConcatFromSequence(rows, axis=0, new_axis=1)
        return op.ReduceSum(y, keepdims=0), y

    model = loss.to_model()
    ones = np.ones(5000, np.float32)
    _, y, g = model.gradient(wrt=["x"], of=model.outputs[0].name)(ones, np.int64(4))
    assert np.allclose(g, y.sum(axis=0), rtol=1e-4, atol=1e-4)
    mean, deviation = MOMENTS[draw.__name__]
    assert np.allclose(y.mean(axis=1), mean, atol=0.15)
    assert np.allclose(y.std(axis=1), deviation, atol=0.1)
    assert np.abs(np.corrcoef(y) - np.eye(4)).max() < 0.1


def test_a_dropout_outside_of_training_stays() -> None:
    @script
    def loss(x: FLOAT["N"]):
        y = x
        for _i in range(3):
            y = op.Dropout(y, HALF, np.bool_(False))
        return summed(y)

    _, y, g = loss.to_model().gradient(wrt=["x"], of=loss.to_model().outputs[0].name)(X)
    assert np.array_equal(y, X)
    assert np.array_equal(g, np.ones_like(X))


@pytest.mark.parametrize(
    ("draw", "is_refused"),
    [("RandomUniformLike(r)", True), ("RandomUniformLike<seed = 1.0>(r)", False)],
    ids=["random", "seeded"],
)
def test_a_scan_that_draws_is_refused(draw: str, is_refused: bool) -> None:
    text = f"""<ir_version: 10, opset_import: ["" : 21]> g (float[N, 3] x) => (float y) {{
        s = Scan<num_scan_inputs = 1, body = b (float[3] r) => (float[3] t) {{ u = {draw} t = Mul(u, r) }}>(x)
        y = ReduceSum<keepdims = 0>(s)
    }}"""
    model = Model.from_proto(onnx.parser.parse_model(text))
    if is_refused:
        with pytest.raises(NotDifferentiableError, match="the body of a Scan draws random numbers"):
            model.gradient(wrt=["x"])
    else:
        loss, g = model.gradient(wrt=["x"])(np.ones((2, 3), np.float32))
        assert np.isclose(g.sum(), loss)
