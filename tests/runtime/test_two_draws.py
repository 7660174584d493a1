"""Law: two draws are two. Every random operator, at every pair of places, in every way of running a model.

The difference of two draws of 64 numbers is never zero everywhere, but by a chance of one in 2**64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest

from onnxsmith import BOOL, FLOAT, Model, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith import opset22 as op22

X = np.full(64, 0.5, np.float32)
HALF, TRAINING = np.float32(0.5), np.bool_(True)


def uniform(x: Any) -> Any:
    return op.RandomUniformLike(x)


def normal(x: Any) -> Any:
    return x + op.RandomNormalLike(x)


def uniform_in_shape(x: Any) -> Any:
    return x * op.RandomUniform(shape=[64])


def normal_in_shape(x: Any) -> Any:
    return x * op.RandomNormal(shape=[64])


def bernoulli(x: Any) -> Any:
    return op.Bernoulli(x)


def chosen(x: Any) -> Any:
    return op.Cast(op.Reshape(op.Multinomial(op.Unsqueeze(x, [0]), sample_size=64), [-1]), to=FLOAT)


def dropped(x: Any) -> Any:
    return op.Dropout(x, HALF, TRAINING)


def dropped_with_mask(x: Any) -> Any:
    result, _ = op.Dropout(x, HALF, TRAINING, outputs=2)
    return result


DRAWS = [uniform, normal, uniform_in_shape, normal_in_shape, bernoulli, chosen, dropped, dropped_with_mask]


def flat(draw: Callable[[Any], Any]) -> Model:
    return trace(lambda x: draw(x) - draw(x), FLOAT["N"])


def of_computed_values(draw: Callable[[Any], Any]) -> Model:
    return trace(lambda x: draw(x * 1.0) - draw(x * 1.0), FLOAT["N"])


def in_a_function(draw: Callable[[Any], Any]) -> Model:
    @script
    def once(x: FLOAT["N"]):
        return draw(x * 1.0)

    return trace(lambda x: once(x) - once(x), FLOAT["N"])


def in_a_nested_function(draw: Callable[[Any], Any]) -> Model:
    @script
    def once(x: FLOAT["N"]):
        return draw(x * 1.0)

    @script
    def around(x: FLOAT["N"]):
        return once(x) * 3.0 + once(x)

    return trace(lambda x: around(x) - around(x), FLOAT["N"])


def in_a_branch(draw: Callable[[Any], Any]) -> Model:
    @script
    def once(x: FLOAT["N"]):
        return draw(x * 1.0)

    @script
    def difference(x: FLOAT["N"]):
        if op.ReduceSum(x, keepdims=0) > 0.0:
            y = once(x) - once(x)
        else:
            y = x
        return y

    return difference.to_model()


def in_a_loop(draw: Callable[[Any], Any]) -> Model:
    @script
    def once(x: FLOAT["N"]):
        return draw(x * 1.0)

    @script
    def difference(x: FLOAT["N"]):
        y = x * 0.0
        for _i in range(op.Size(x) - 62):
            y = once(x) - y
        return y

    return difference.to_model()


PLACES = [flat, of_computed_values, in_a_function, in_a_nested_function, in_a_branch, in_a_loop]


def in_a_bare_session(model: Model) -> Any:
    session = onnxruntime.InferenceSession(model.for_runtime().proto.SerializeToString())
    return session.run(None, {"x": X})[0]


RUNS: dict[str, Callable[[Model], Any]] = {
    "model": lambda model: model(X),
    "optimized": lambda model: model.optimize()(X),
    "for_runtime": lambda model: model.for_runtime()(X),
    "bare": in_a_bare_session,
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_two_draws_differ(draw: Callable[[Any], Any], place: Callable[..., Model], run: str) -> None:
    assert np.any(RUNS[run](place(draw)))


def test_calls_of_a_function_in_jit() -> None:
    @script
    def once(x: FLOAT["N"]):
        return op.RandomUniformLike(x)

    @script
    def difference(x: FLOAT["N"]):
        return once(x) - once(x)

    assert np.any(jit(difference)(X))


@pytest.mark.parametrize("opset", [op, op22])
def test_dropout_of_a_computed_value_drops(opset: Any) -> None:
    # ONNX Runtime's optimizer takes the node out, though it is in training.
    model = trace(lambda x: opset.Dropout(x + 1.0, HALF, TRAINING) * 1.0, FLOAT["N"])
    for run in RUNS.values():
        assert set(run(model)) == {0.0, 3.0}


def test_dropout_in_a_function_that_is_told_to_train() -> None:
    @script
    def dropping(x: FLOAT["N"], training: BOOL):
        return op.Dropout(x + 1.0, HALF, training) * 1.0

    model = trace(lambda x: dropping(x, TRAINING), FLOAT["N"])
    for run in RUNS.values():
        assert set(run(model)) == {0.0, 3.0}


def test_a_model_that_was_prepared_is_not_prepared_again() -> None:
    once = flat(dropped).for_runtime()
    assert once.report.edits
    assert not once.for_runtime().report.edits
