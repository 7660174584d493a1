"""Equations, factors and orders of `onnxsmith.algorithms`, by their rules or through their loops, against torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith import DOUBLE, FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.algorithms import order_statistics, sorting
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import determinants, householder, jacobi, lu, triangular
from onnxsmith.grad import grad

RANDOM = np.random.default_rng(5)
SQUARE = RANDOM.normal(size=(2, 4, 4)) + 3 * np.eye(4)
ONE = SQUARE[0]
SYMMETRIC = SQUARE @ SQUARE.swapaxes(1, 2)
RIGHT = RANDOM.normal(size=(2, 4, 3))
TALL = RANDOM.normal(size=(2, 5, 3))


def determinant(a: Any) -> Any:
    return determinants.determinant(Field(a)).re


def squared(x: Any) -> Any:
    """So that the signs of vectors, which are anybody's choice, do not matter."""
    return op.Mul(x, x)


def solved(a: Any, b: Any) -> Any:
    return lu.solved(Field(a), Field(b), [2, 4, 3])[0].re


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Sequence[np.ndarray]]] = {
    "solve": (solved, torch.linalg.solve, (SQUARE, RIGHT)),
    "solve_broadcast": (solved, torch.linalg.solve, (ONE, RIGHT)),
    "inverse": (lambda a: lu.inverted(Field(a))[0].re, torch.linalg.inv, (SQUARE,)),
    "determinant": (determinant, torch.linalg.det, (SQUARE,)),
    "cholesky": (lambda a: triangular.cholesky(Field(a))[0].re, torch.linalg.cholesky, (SYMMETRIC,)),
    "triangular": (
        lambda a, b: triangular.solved_triangular(Field(a), Field(b), upper=True).re,
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True),
        (SQUARE, RIGHT),
    ),
    "eigenvalues": (lambda a: jacobi.eigh(Field(a))[0], torch.linalg.eigvalsh, (SYMMETRIC,)),
    "eigenvectors": (
        lambda a: squared(jacobi.eigh(Field(a))[1].re),
        lambda a: torch.linalg.eigh(a)[1] ** 2,
        (SYMMETRIC,),
    ),
    "both_of_eigh": (
        lambda a: op.Mul(squared(jacobi.eigh(Field(a))[1].re), op.Unsqueeze(jacobi.eigh(Field(a))[0], [-2])),
        lambda a: torch.linalg.eigh(a)[1] ** 2 * torch.linalg.eigh(a)[0].unsqueeze(-2),
        (SYMMETRIC,),
    ),
    "singular_values": (lambda a: jacobi.svd(Field(a), False, False)[1], torch.linalg.svdvals, (TALL,)),
    "qr": (
        lambda a: squared(householder.factored(Field(a), "reduced")[1].re),
        lambda a: torch.linalg.qr(a)[1] ** 2,
        (TALL,),
    ),
    "sort": (lambda a: sorting.sort(a, 1)[0], lambda a: a.sort(1)[0], (TALL,)),
    "sort_descending": (
        lambda a: sorting.sort(a, 2, descending=True)[0],
        lambda a: a.sort(2, descending=True)[0],
        (TALL,),
    ),
    "median": (
        lambda a: op.Squeeze(order_statistics.median(a, 1)[0], [1]),
        lambda a: a.median(1)[0],
        (TALL,),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_torch(name: str) -> None:
    ours, theirs, arrays = CASES[name]
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    result = theirs(*tensors)
    weight = RANDOM.normal(size=result.shape)
    wanted = torch.autograd.grad((result * torch.tensor(weight)).sum(), tensors)
    names = ["a", "b"][: len(arrays)]
    kinds = [DOUBLE[each.shape] for each in arrays]
    model = trace(
        lambda *xs: op.ReduceSum(op.Mul(ours(*xs), weight), keepdims=0),
        *kinds,
        input_names=names,
        opset_version=21,
    )
    _, *found = model.gradient(wrt=names)(*arrays)
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other.numpy(), rtol=1e-9, atol=1e-11 * np.abs(other.numpy()).max())


def test_open_sizes() -> None:
    def total(a: Any) -> Any:
        return op.ReduceSum(op.Sin(triangular.cholesky(Field(a))[0].re), keepdims=0)

    made = trace(total, DOUBLE["N", "N"], input_names=["a"], opset_version=21).gradient(wrt="a")
    for count in (1, 3):
        matrix = SYMMETRIC[0, :count, :count].copy()
        given = torch.tensor(matrix, requires_grad=True)
        (wanted,) = torch.autograd.grad(torch.linalg.cholesky(given).sin().sum(), given)
        np.testing.assert_allclose(made(matrix)[1], wanted.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [FLOAT[2, 40, 40], FLOAT["B", "N", "N"]])
def test_a_determinant_of_many_rows(kind: Any) -> None:
    numbers = np.random.default_rng(5)
    x = (np.eye(40) + 0.05 * numbers.standard_normal((2, 40, 40))).astype(np.float32)
    model = trace(lambda x: op.ReduceSum(op.Det(x), keepdims=0), kind)
    given = torch.tensor(x, requires_grad=True)
    (wanted,) = torch.autograd.grad(torch.det(given).sum(), given)
    np.testing.assert_allclose(model.gradient(wrt=["x"])(x)[1], wanted.numpy(), rtol=1e-3, atol=1e-4)


def cofactors(a: Any) -> Any:
    """What a determinant changes by with each element: those of the matrix without its row and column."""
    count = len(a)
    found = np.empty_like(a)
    for i, j in np.ndindex(count, count):
        rest = np.delete(np.delete(a, i, 0), j, 1)
        found[i, j] = (-1) ** (i + j) * np.linalg.det(rest)
    return found


@pytest.mark.parametrize(("count", "rank"), [(n, r) for n in range(1, 6) for r in range(n + 1)])
def test_a_determinant_of_a_matrix_without_an_inverse(count: int, rank: int) -> None:
    """Whole numbers: the elimination that PyTorch's gradient is made of meets pivots of exactly zero."""
    numbers = np.random.default_rng(count)
    rows = numbers.integers(-3, 4, (6, count, rank)), numbers.integers(-3, 4, (6, rank, count))
    x = np.matmul(*rows).astype(np.float64)
    x[0, :, 0] = 0.0
    wanted = np.stack([cofactors(each) for each in x])
    found = grad(lambda x: op.Det(x).sum())(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * max(1, np.abs(wanted).max()))
