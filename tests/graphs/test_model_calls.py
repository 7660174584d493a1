"""A call of a model does not depend on the calls before it, and runs on the runtime that its context chooses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, STRING, Model, opset21, tensor, trace
from onnxsmith.errors import CallError, ModelInputError, OnnxsmithError
from onnxsmith.runtime import using


def made() -> Model:
    return trace(
        lambda x, n: opset21.Mul(x, opset21.Cast(opset21.Unsqueeze(n, [1]), to=1)),
        FLOAT["N", 2],
        INT64["N"],
        opset_version=21,
    )


X = np.float32([[1, 2], [3, 4], [5, 6]])
N = np.int64([2, 3, 4])

#: Calls, right and wrong: arguments in order, and by name.
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "by position": ((X, N), {}),
    "by name": ((), {"x": X, "n": N}),
    "names in another order": ((), {"n": N, "x": X}),
    "both": ((X,), {"n": N}),
    "other sizes": ((X[:1], N[:1]), {}),
    "nothing in it": ((X[:0], N[:0]), {}),
    "another order in memory": ((np.asfortranarray(X), N), {}),
    "another byte order": ((X.astype(">f4"), N.astype(">i8")), {}),
    "another byte order, in part": ((X, N.astype(">i8")), {}),
    "lists": ((X.tolist(), N.tolist()), {}),
    "a list and an array": ((X, N.tolist()), {}),
    "a subclass": ((X.view(np.matrix), N), {}),
    "another element type": ((X.astype(np.float64), N), {}),
    "a wrong element type in another byte order": ((X.astype(">f8"), N), {}),
    "another rank": ((X[0], N), {}),
    "another fixed size": ((X[:, :1], N), {}),
    "sizes that contradict": ((X, N[:2]), {}),
    "sizes that contradict, by name": ((), {"x": X, "n": N[:2]}),
    "swapped": ((N, X), {}),
    "one is missing": ((X,), {}),
    "none at all": ((), {}),
    "one too many": ((X, N, X), {}),
    "an unknown name": ((X,), {"m": N}),
    "given twice": ((X, N), {"x": X}),
    "given twice, and one is missing": ((X,), {"x": X}),
    "a dict": (({"x": X, "n": N},), {}),
    "None": ((X, None), {}),
    "text": (("x", N), {}),
    "an object": ((object(), N), {}),
    "what looks like an array": ((type("Like", (), {"dtype": [], "shape": {}})(), N), {}),
}


def outcome(call: Callable[[], Any]) -> object:
    try:
        return np.asarray(call()).tolist()
    except OnnxsmithError as error:
        return type(error), error.code, error.message, error.help, error.culprit


@pytest.mark.parametrize("name", CALLS)
def test_a_call_does_not_depend_on_those_before_it(name: str) -> None:
    args, kwargs = CALLS[name]
    alone = outcome(lambda: made()(*args, **kwargs))
    model = made()
    for before, named in CALLS.values():
        outcome(lambda: model(*before, **named))  # noqa: B023  # called at once
        assert outcome(lambda: model(*args, **kwargs)) == alone


def test_text_is_looked_at_each_time() -> None:
    model = trace(lambda x: opset21.Identity(x), STRING["N"])
    good, bad = np.array(["a", "b"], object), np.array(["a", 1], object)
    assert model(good).tolist() == ["a", "b"]
    with pytest.raises(OnnxsmithError):
        model(bad)


def test_the_runtime_is_that_of_the_context_at_each_call() -> None:
    model = trace(lambda x: opset21.Relu(x), FLOAT["N"])
    x = np.float32([-1, 1])
    model(x)
    model(x)
    ours = model._calls.known.find  # pyright: ignore[reportPrivateUsage]  # which session serves is no public fact
    with using(runtime="reference") as chosen:
        assert model(x).tolist() == [0, 1]
        inside = ours((chosen, (x.dtype, x.shape)))
    outside = ours((None, (x.dtype, x.shape)))
    assert inside is not None
    assert outside is not None
    assert inside is not outside


def test_threads_make_one_session() -> None:
    model = made()
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(model(X, N))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(results) == 8
    assert len(model._calls.sessions) == 1  # pyright: ignore[reportPrivateUsage]  # as above


@pytest.mark.parametrize(
    "name", ["by position", "another order in memory", "another byte order", "other sizes"]
)
def test_a_runner_gives_what_a_call_gives(name: str) -> None:
    model = made()
    run = model.runner()
    args = CALLS[name][0]
    assert np.array_equal(run(list(args)), model(*args))


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([[X, X]], ModelInputError, "the model has 1 input, and was given 2"),
        ([[]], ModelInputError, "the model has 1 input, and was given 0"),
        ([np.ones((1, 3), np.float32)], CallError, "inputs as a list, and was given a ndarray"),
        ([{"x": X}], CallError, "inputs as a list, and was given a dict"),
        ([X, X], CallError, "inputs as a list, and was given 2 arguments"),
    ],
    ids=["more", "none", "rows of an array", "names", "arguments"],
)
def test_a_runner_takes_all_inputs_in_a_list(given: list[Any], error: type[Exception], text: str) -> None:
    """Rows of an array are no inputs, and none is left out."""
    run = trace(lambda x: x + 1.0, FLOAT["N"]).runner()
    with pytest.raises(error, match=text):
        run(*given)


def test_a_runner_stays_with_its_runtime() -> None:
    model = trace(lambda x: opset21.Relu(x), FLOAT["N"])
    with using(runtime="reference"):
        run = model.runner()
    assert run([np.float32([-1, 1])]).tolist() == [0, 1]
    assert len(model._calls.sessions) == 1  # pyright: ignore[reportPrivateUsage]  # as above


def test_tensors_of_known_forms_are_checked_as_arrays_are() -> None:
    """A call on a tensor is found by the form of its array; another element type, shape or name is looked at."""
    model = trace(lambda x: x * 2.0, FLOAT["N", 2])
    for _ in range(3):
        assert model(tensor(X)).numpy().tolist() == (2 * X).tolist()
        assert model(x=tensor(X)).numpy().tolist() == (2 * X).tolist()
        with pytest.raises(ModelInputError):
            model(tensor(X.astype(np.float64)))
        with pytest.raises(ModelInputError):
            model(tensor(X[:, :1]))
        with pytest.raises(ModelInputError):
            model(tensor(X), y=tensor(X))
        assert isinstance(model(X), np.ndarray)


def test_a_model_without_inputs_takes_no_names() -> None:
    model = trace(lambda: opset21.Constant(value_float=2.0))
    assert model() == 2.0
    with pytest.raises(ModelInputError, match="no input 'x'"):
        model(x=X)
