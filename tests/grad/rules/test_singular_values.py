"""Singular values and what is made of them: also where values are equal, or zero."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import onnxsmith.numpy as xp
import onnxsmith.torch
from onnxsmith.grad import grad

RANDOM = np.random.default_rng(4)
SQUARE = RANDOM.standard_normal((3, 3))
MATRICES: dict[str, np.ndarray] = {
    "square": SQUARE,
    "tall": RANDOM.standard_normal((4, 3)),
    "wide": RANDOM.standard_normal((3, 4)),
    "batch": RANDOM.standard_normal((2, 4, 3)),
    "twice the identity": 2 * np.eye(3),
    "two equal values": np.linalg.qr(SQUARE)[0] @ np.diag([3.0, 3.0, 1.0]),
    "one column twice": SQUARE[:, [0, 1, 1]],
    "zero": np.zeros((3, 3)),
    "zero, tall": np.zeros((4, 3)),
    "of rank one": np.diag([1.0, 0.0, 0.0]),
}
#: Of what is not unique where values are equal or zero, torch has no gradient, and nobody has.
UNIQUE = ("square", "tall", "wide", "batch")

#: Where vectors of equal values may be turned, so that there are several gradients.
KINKS = {("one column twice", "nuc"), ("one column twice", -2), ("two equal values", 2), ("of rank one", -2)}


def weights(shape: tuple[int, ...]) -> np.ndarray:
    return np.sin(np.arange(1, 1 + int(np.prod(shape)), dtype=np.float64)).reshape(shape)


def torchs(function: Callable[..., torch.Tensor], x: np.ndarray) -> np.ndarray:
    given = torch.tensor(x, requires_grad=True)
    result = function(given)
    (found,) = torch.autograd.grad((result * torch.tensor(weights(tuple(result.shape)))).sum(), given)
    return found.numpy()


def ours(function: Callable[..., Any], x: np.ndarray) -> np.ndarray:
    shape = tuple(np.shape(function(x)))
    weight = weights(shape)
    return grad(xp.jit(lambda x: (function(x) * weight).sum()))(x)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("order", ["nuc", 2, -2])
def test_norms(name: str, order: Any) -> None:
    x = MATRICES[name]
    # As numpy writes it, of one matrix or of several.
    found = ours(lambda x: np.linalg.norm(x, order, axis=(-2, -1)), x)
    wanted = torchs(lambda x: torch.linalg.matrix_norm(x, order), x)
    if (name, order) in KINKS:
        assert np.isfinite(found).all()
        return
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", MATRICES)
def test_inverses_of_what_has_none(name: str) -> None:
    x = MATRICES[name]
    limit = 1e-10
    found = ours(lambda x: np.linalg.pinv(x, limit), x)
    np.testing.assert_allclose(
        found, torchs(lambda x: torch.linalg.pinv(x, rtol=limit), x), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("name", UNIQUE)
@pytest.mark.parametrize(
    "of",
    [
        lambda u, s, v: u * u,  # without the signs of vectors, which are anybody's choice
        lambda u, s, v: v * v,
        lambda u, s, v: u @ v,
        lambda u, s, v: (u * s[..., None, :]) @ v,
        lambda u, s, v: s,
    ],
    ids=["u", "v", "product", "matrix", "values"],
)
def test_factors(name: str, of: Callable[..., Any]) -> None:
    x = MATRICES[name]
    found = ours(lambda x: of(*np.linalg.svd(x, full_matrices=False)), x)
    wanted = torchs(lambda x: of(*torch.linalg.svd(x, full_matrices=False)), x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["twice the identity", "two equal values"])
def test_vectors_of_equal_values_have_no_gradient(name: str) -> None:
    x = MATRICES[name]
    found = ours(lambda x: np.linalg.svd(x, full_matrices=False)[0] ** 2, x)
    assert not np.isfinite(found).all()


REGULAR = SQUARE + 3 * np.eye(3)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "solve": lambda a: np.linalg.solve(a, a + 1),
    "inverse": np.linalg.inv,
    "determinant": np.linalg.det,
    "pseudoinverse": np.linalg.pinv,
    "values": lambda a: np.linalg.svd(a, compute_uv=False),
    "eigenvalues": lambda a: np.linalg.eigvalsh(a @ a.T),
}


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(FUNCTIONS, 2)))
def test_two_in_one_function(one: str, other: str) -> None:
    """The gradient of a sum is the sum of the gradients, whatever functions the two share."""
    first, second = FUNCTIONS[one], FUNCTIONS[other]
    both = grad(xp.jit(lambda a: first(a).sum() + second(a).sum()))(REGULAR)
    np.testing.assert_allclose(both, alone(one) + alone(other), rtol=1e-9, atol=1e-12)


@functools.cache
def alone(name: str) -> np.ndarray:
    function = FUNCTIONS[name]
    return grad(xp.jit(lambda a: function(a).sum()))(REGULAR)


class _Total(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        result = self.function(a)
        return (result * torch.tensor(weights(tuple(result.shape)), dtype=result.dtype)).sum()


@pytest.mark.parametrize("name", ["square", "twice the identity"])
@pytest.mark.parametrize(
    "function",
    [torch.linalg.pinv, lambda a: torch.linalg.matrix_norm(a, "nuc"), torch.linalg.inv],
    ids=["pinv", "nuclear", "inverse"],
)
def test_modules_in_training_keep_what_has_a_gradient_of_its_own(
    function: Callable[..., torch.Tensor], name: str
) -> None:
    x = MATRICES[name].astype(np.float32)
    module = _Total(function).train()
    model = onnxsmith.torch.export(module, (torch.tensor(x),))
    found = model.gradient(wrt=model.inputs[0].name)(x)[-1]
    np.testing.assert_allclose(found, torchs(function, MATRICES[name]), rtol=1e-4, atol=1e-5)
    assert not onnxsmith.torch.export(module.eval(), (torch.tensor(x),)).ir.functions
