"""Gradients of numpy code that is called in every form that `xp.jit` takes: by name, in containers, of equal names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import CallError
from onnxsmith.grad import grad, jvp

A = np.arange(1.0, 4)
B = A * 2


def plain(function: Any) -> Any:
    return function


@pytest.mark.parametrize("made", [xp.jit, plain])
def test_arguments_by_any_name(made: Any) -> None:
    assert np.array_equal(grad(made(lambda **p: (p["w"] * p["b"]).sum()), wrt="w")(w=A, b=B), B)
    mixed = grad(made(lambda x, **p: (x * p["w"] * p["b"]).sum()), wrt=["w", "x"])
    assert np.array_equal(mixed(A, w=A, b=B), [A * B, A * B])
    value, change = jvp(made(lambda **p: (p["w"] * p["b"]).sum()), wrt="w")(w=A, b=B, tangent=A)
    assert value == change == (A * B).sum()


@pytest.mark.parametrize("whole", [np.array([1, 2, 3]), np.array([True, False, True])], ids=["int", "bool"])
@pytest.mark.parametrize("made", [xp.jit, plain])
def test_whole_numbers_beside_weights_have_no_gradient(made: Any, whole: Any) -> None:
    found = grad(made(lambda p: (p["w"] * p["m"]).sum()))({"w": A, "m": whole})
    assert np.array_equal(found["w"], whole)
    assert found["m"] is None


def test_whole_numbers_alone_are_refused() -> None:
    with pytest.raises(CallError, match="neither arrays nor numbers"):
        grad(xp.jit(lambda p, x: (p["w"] * x).sum()))({"w": np.array([1, 2, 3])}, A)


def test_parts_that_are_called_as_an_argument() -> None:
    assert np.array_equal(xp.jit(lambda p, p_0: p[0] + p_0)([A], B), A + B)
    assert np.array_equal(xp.jit(lambda p: p["1"] - p[1])({"1": A, 1: B}), A - B)
    assert np.array_equal(grad(xp.jit(lambda p, p_0: (p[0] * p_0).sum()), wrt="p_0")([A], B), A)
    assert np.array_equal(grad(xp.jit(lambda p, p_0: (p[0] * p_0).sum()))([A], B)[0], B)


@pytest.mark.parametrize("made", [xp.jit, plain])
def test_a_tangent_with_its_keys_in_another_order(made: Any) -> None:
    product = jvp(made(lambda p: (p["w"] * p["b"]).sum()))
    _, change = product({"w": A, "b": B}, tangent={"b": A, "w": B})
    assert change == (A * A + B * B).sum()
    for wrong in ({"b": A}, {"b": A, "w": B, "c": A}):
        with pytest.raises(CallError, match="has another form"):
            product({"w": A, "b": B}, tangent=wrong)
