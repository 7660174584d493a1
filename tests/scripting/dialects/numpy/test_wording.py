"""What plain numpy code is told: in numpy's words, at the user's own line, and never by somebody else's error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.errors import InputTypeError, OnnxsmithError, OperatorNotInOpsetError, UnsupportedSyntaxError

X = np.array([1.0, 2.0, 3.0])


def a_list_by_an_element(x):
    return [x, x + 1][int(x[0])]


class Counted:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return x


def an_iterator_that_writes(x):
    y = x.copy()
    for v in np.nditer(y, op_flags=["readwrite"]):
        v[...] = 2 * v
    return y


def an_iterator_by_hand(x):
    it = np.nditer(x, flags=["multi_index"])
    while not it.finished:
        it.iternext()
    return x


def polynomial_roots(x):
    return np.roots(x)


def shown(x):
    return np.array2string(x)


def formatted(x):
    return f"{x[0]:.2f}"


def a_step(x):
    return x[:: int(x[0])]


def a_global(x):
    global NEVER
    NEVER = x
    return x


def deleted(x):
    del x[0]
    return x


def many_dicts(x):
    found = {}
    for v in x:
        found[v] = 1
    return len(found)


def how_many_turns(x):
    turns = range(len(x))
    return len(turns)


def drawn(x):
    return x + np.random.rand(3)  # noqa: NPY002


REFUSED = [
    a_list_by_an_element,
    Counted(),
    an_iterator_that_writes,
    an_iterator_by_hand,
    polynomial_roots,
    shown,
    formatted,
    a_step,
    a_global,
    deleted,
    many_dicts,
    how_many_turns,
    drawn,
]


@pytest.mark.parametrize("function", REFUSED)
def test_errors_speak_of_arrays_at_the_users_line(function: Callable[..., Any]):
    with pytest.raises(OnnxsmithError) as caught:
        xp.jit(function)(X)
    error = caught.value
    assert error.span is not None
    assert error.span.file == __file__
    text = f"{error.message} {error.help}"
    for word in ("script", "tensor", " op."):
        assert word not in text


def test_a_function_of_a_library_is_named_with_its_line():
    with pytest.raises(OnnxsmithError, match=r"^np\.roots cannot be staged here") as caught:
        xp.jit(polynomial_roots)(X)
    assert [each.span.file == __file__ for each in caught.value.labels] == [True, False]


def test_what_counts_calls_is_told_that_it_cannot():
    with pytest.raises(UnsupportedSyntaxError, match="no memory from one call to the next"):
        xp.jit(Counted())(X)


def test_a_class_in_c_is_named():
    def together(x):
        return [a + b for a, b in np.broadcast(x, x)]

    with pytest.raises(InputTypeError, match=r"np\.broadcast"):
        xp.jit(together)(X)


def test_an_opset_that_is_too_early_is_why():
    def mean(x):
        return x.mean()

    with pytest.raises(OperatorNotInOpsetError, match="'mean' cannot have opset 11") as caught:
        xp.to_model(mean, DOUBLE["N"], opset_version=11)
    assert caught.value.span is not None
    assert caught.value.help == "leave opset_version out, or give 18 or later"
