"""Gradients of plain numpy code: of what `jit` makes, by its model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import TracedValueError
from onnxsmith.grad import grad, jvp, value_and_grad, vjp


def ridge(w, x, y, penalty):
    return ((x @ w - y) ** 2).mean() + penalty * np.sum(w * w)


def with_a_loop(w):
    out = np.zeros_like(w)
    total = 0.0
    for i in range(len(w)):
        out[i] = np.sin(w[i]) * (i + 1)
        total += out[i] ** 2
    return total if total > 1 else total * 3


def _by_differences(function: Any, w: Any) -> Any:
    step = 1e-6
    return np.array([(function(w + step * e) - function(w - step * e)) / (2 * step) for e in np.eye(len(w))])


@pytest.mark.parametrize("w", [np.array([0.3, -1.0, 2.0]), np.array([0.1, 0.2])])
def test_loops_and_item_assignment(w):
    value, found = value_and_grad(xp.jit(with_a_loop))(w)
    np.testing.assert_allclose(value, with_a_loop(w))
    np.testing.assert_allclose(found, _by_differences(with_a_loop, w), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_of_pythons_take_the_arrays_type(dtype):
    rng = np.random.default_rng(3)
    w, x, y = (rng.normal(size=size).astype(dtype) for size in (3, (5, 3), 5))
    found = grad(xp.jit(ridge))(w, x, y, 0.1)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, 2 * x.T @ (x @ w - y) / 5 + 0.2 * w, rtol=1e-5)


def test_several_arguments_by_name():
    w, x, y = np.ones(2), np.eye(2), np.zeros(2)
    by_w, by_penalty = grad(xp.jit(ridge), wrt=["w", "penalty"])(w, x, y, 0.5)
    np.testing.assert_allclose(by_w, [2.0, 2.0])
    np.testing.assert_allclose(by_penalty, 2.0)


def test_vectors_times_the_jacobian():
    w = np.array([0.5, 1.5])
    jitted = xp.jit(lambda x: np.sin(x) * 2)
    np.testing.assert_allclose(vjp(jitted)(w, cotangent=np.ones(2))[1], 2 * np.cos(w))
    np.testing.assert_allclose(jvp(jitted)(w, tangent=np.ones(2))[1], 2 * np.cos(w))


def test_code_for_numpy_that_is_not_jitted_is_told_what_to_write():
    with pytest.raises(TracedValueError) as caught:
        grad(with_a_loop)(np.ones(2))
    assert caught.value.help is not None
    assert "grad(onnxsmith.numpy.jit(with_a_loop))" in caught.value.help


def test_code_that_only_a_loop_can_run() -> None:
    fast = xp.jit(lambda x: sum(v * v for v in x if v > 0))
    for x in (np.array([1.0, -2.0, 3.0]), np.array([2.0]), np.array([-1.0, -1.0])):
        np.testing.assert_allclose(grad(fast)(x), 2 * np.maximum(x, 0))


def test_twice_where_an_error_is_certain_not_to_come() -> None:
    fast, x = xp.jit(lambda x: max(x) * sum(v for v in x if v > 0)), np.array([1.0, 2.0, -1.0, 0.5])
    np.testing.assert_allclose(grad(fast)(x), [2.0, 5.5, 0.0, 2.0])
    np.testing.assert_allclose(jvp(grad(fast))(x, tangent=np.ones(4))[1], [1.0, 4.0, 0.0, 1.0])
