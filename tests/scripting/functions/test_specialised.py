"""The specialising call, in the three forms that it has: a call does not depend on those before it."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, jit, script, trace
from onnxsmith.grad import grad, value_and_grad
from onnxsmith.runtime import using
from onnxsmith.scripting.functions.specialised import LIMIT, Numbers

FACTOR = 2.0


@script
def scaled(x: FLOAT["N"], y: FLOAT["N"]):
    return x * y * FACTOR


@script
def weighed(x: FLOAT["N"], y: FLOAT["N"]):
    return (x * y * FACTOR).sum()


def plain(x, y):
    return (x * y * FACTOR).sum()


#: How a callable of each kind is made anew.
MAKERS: dict[str, Callable[[], Any]] = {
    "jit": lambda: jit(scaled),
    "xp.jit": lambda: xp.jit(plain),
    "grad of a function": lambda: grad(plain),
    "grad of a script": lambda: grad(weighed),
    "grad of a model": lambda: grad(weighed.to_model()),
    "grad of numpy code": lambda: grad(xp.jit(plain), wrt=["y", "x"]),
    "value_and_grad": lambda: value_and_grad(plain, wrt=1),
}

X, Y = np.float32([1, 2, 3]), np.float32([4, 5, 6])
ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "arrays": ((X, Y), {}),
    "by name": ((X,), {"y": Y}),
    "other sizes": ((X[:2], Y[:2]), {}),
    "nothing in it": ((X[:0], Y[:0]), {}),
    "float64": ((X.astype(np.float64), Y.astype(np.float64)), {}),
    "not in order in memory": ((X[::-1], Y[::-1]), {}),
    "another byte order": ((X.astype(">f4"), Y.astype(">f4")), {}),
    "one of another byte order": ((X, Y.astype(">f4")), {}),
    "a number": ((X, 2.0), {}),
    "two element types": ((X, Y.astype(np.float64)), {}),
    "another rank": ((X[:, None], Y), {}),
    "sizes that contradict": ((X, Y[:2]), {}),
    "text": ((X, "y"), {}),
    "objects": ((X, np.array([1, "a", None], object)), {}),
    "one is missing": ((X,), {}),
    "one too many": ((X, Y, X), {}),
}


def outcome(call: Callable[..., Any], name: str) -> object:
    args, kwargs = ARGUMENTS[name]
    try:
        found = call(*args, **kwargs)
    except Exception as error:
        return type(error), getattr(error, "message", str(error)), getattr(error, "help", None)
    parts = found if isinstance(found, tuple) else (found,)
    flat = [one for each in parts for one in (each if isinstance(each, tuple) else (each,))]
    return [(type(each), each.dtype, each.tolist()) for each in flat]


@pytest.mark.parametrize("maker", MAKERS)
def test_a_call_does_not_depend_on_those_before_it(maker: str) -> None:
    names = list(ARGUMENTS)
    if maker in ("grad of a function", "value_and_grad"):
        # The sizes of a first call are fixed in its model. So they are refused there, and by numpy later.
        names.remove("sizes that contradict")
    alone = {name: outcome(MAKERS[maker](), name) for name in names}
    call = MAKERS[maker]()
    for _ in range(2):
        for before in names:
            for name in (before, "arrays"):
                assert outcome(call, name) == alone[name]


@pytest.mark.parametrize(
    "maker", sorted(set(MAKERS) - {"grad of a model"})
)  # which has what was there when it was made
def test_what_changes_outside_is_seen(maker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = MAKERS[maker]()
    before = [outcome(call, "arrays") for _ in range(3)]
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    changed = [outcome(call, "arrays") for _ in range(3)]
    assert changed == [outcome(MAKERS[maker](), "arrays")] * 3
    assert before[0] != changed[0]
    assert before == [before[0]] * 3


@pytest.mark.parametrize("maker", MAKERS)
def test_the_runtime_is_that_of_the_context_at_each_call(maker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from onnxsmith.runtime import models

    loaded: list[str] = []
    load = models.load_session

    def noted(*args: Any, **kwargs: Any) -> Any:
        session = load(*args, **kwargs)
        loaded.append(session.source)
        return session

    monkeypatch.setattr(models, "load_session", noted)
    call = MAKERS[maker]()
    first = [outcome(call, "arrays") for _ in range(3)]
    with using(runtime="reference"):
        inside = [outcome(call, "arrays") for _ in range(3)]
    assert loaded == ["onnxruntime", "reference"]
    assert [outcome(call, "arrays"), *inside] == [first[0]] * 4
    assert loaded == ["onnxruntime", "reference"]


def test_what_is_known_is_bounded() -> None:
    call = grad(plain)
    call(X, Y)
    for k in range(10, LIMIT + 20):
        call._learn((np.zeros(k, np.float32),), len)
    assert len(call._arrays_calls) == LIMIT
    assert outcome(call, "arrays") == outcome(grad(plain), "arrays")


@pytest.mark.parametrize("maker", MAKERS)
def test_threads(maker: str) -> None:
    call = MAKERS[maker]()
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda name=name: found.append((name, outcome(call, name))))
        for name in ("arrays", "float64", "other sizes") * 4
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for name in ("arrays", "float64", "other sizes"):
        results = [each for key, each in found if key == name]
        assert results == [outcome(MAKERS[maker](), name)] * 4


@pytest.mark.parametrize("maker", sorted(set(MAKERS) - {"grad of a model"}))
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies(maker: str, copied: Callable[[Any], Any]) -> None:
    call = MAKERS[maker]()
    wanted = outcome(call, "arrays")
    assert outcome(copied(call), "arrays") == wanted


def test_a_gradient_that_ran_on_arrays_becomes_part_of_a_graph() -> None:
    gradient = grad(plain)
    for _ in range(3):
        gradient(X, Y)
    model = trace(lambda x: gradient(x, Y) + gradient(X, Y), FLOAT[3])
    assert np.array_equal(model(X), 2 * gradient(X, Y))


def test_numbers_are_known_only_if_that_helps() -> None:
    numbers = Numbers()
    with pytest.raises(KeyError), numbers.known(["n"], "an axis"):
        raise KeyError
    assert not numbers.needed
    with numbers.known(["n"], "an axis"):
        assert not numbers.is_input("n", 3)
    assert [numbers.is_input("n", each) for each in (3, 4)] == [False, False]
    assert numbers.needed == {"n": "an axis"}
