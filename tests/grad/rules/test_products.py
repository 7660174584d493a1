"""Products: sums by Einstein's convention with dots, and matrices of no rows or columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith import DOUBLE, FLOAT, trace
from onnxsmith import opset21 as op
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

EQUATIONS: list[tuple[str, Sequence[tuple[int, ...]]]] = [
    ("...ij,jk->...ik", [(2, 3, 4, 5), (5, 6)]),
    ("...ij,...jk->...ik", [(2, 3, 4, 5), (1, 5, 6)]),
    ("...ij->...i", [(2, 3, 4)]),
    ("i...,i...->...", [(3, 2, 4), (3, 4)]),
    ("...ii->...i", [(2, 3, 3)]),
    ("...ij,jk", [(2, 3, 4), (4, 2)]),
    ("...,...->...", [(2, 3), (3,)]),
    ("i...->...", [(2, 3)]),
    ("...a,...b->ab...", [(2, 3, 4), (3, 5)]),
    ("ij,...j->...i", [(2, 3), (4, 5, 3)]),
    ("i,j,k->ijk", [(2,), (3,), (4,)]),
    ("ii->i", [(3, 3)]),
]


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("kind", [FLOAT, DOUBLE])
@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=[each for each, _ in EQUATIONS])
def test_einstein_sums(equation: str, shapes: Sequence[tuple[int, ...]], kind, is_open: bool) -> None:
    numbers = np.random.default_rng(1)
    dtype = np.float32 if kind is FLOAT else np.float64
    arrays = [numbers.standard_normal(shape).astype(dtype) for shape in shapes]
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    result = torch.einsum(equation, *tensors)
    weight = numbers.standard_normal(result.shape).astype(dtype)
    wanted = torch.autograd.grad((result * torch.tensor(weight)).sum(), tensors)
    names = [f"x{k}" for k in range(len(arrays))]
    kinds = [
        kind[tuple(f"d{k}_{axis}" for axis in range(len(shape))) if is_open else shape]
        for k, shape in enumerate(shapes)
    ]
    model = trace(
        lambda *xs: op.ReduceSum(op.Einsum(*xs, equation=equation) * weight, keepdims=0),
        *kinds,
        input_names=names,
    )
    found = model.gradient(wrt=names)(*arrays)[1:]
    for mine, other in zip(found, wanted, strict=True):
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize(
    ("left", "right"),
    [((5, 5, 0), (0, 5)), ((0, 5, 5), (5, 3)), ((2, 0, 5), (5, 3)), ((2, 3, 5), (5, 0)), ((5,), (5, 0))],
)
def test_products_of_nothing(left: tuple[int, ...], right: tuple[int, ...], is_open: bool) -> None:
    kinds = [
        FLOAT[tuple(f"{name}{axis}" for axis in range(len(shape))) if is_open else shape]
        for name, shape in (("a", left), ("b", right))
    ]
    model = trace(lambda a, b: op.ReduceSum(op.MatMul(a, b), keepdims=0), *kinds, input_names=["a", "b"])
    _, of_a, of_b = model.gradient(wrt=["a", "b"])(np.ones(left, np.float32), np.ones(right, np.float32))
    assert of_a.shape == left
    assert of_b.shape == right
    assert not of_a.any()
    assert not of_b.any()


MATRIX, OTHER = np.arange(6.0).reshape(2, 3) / 4 - 0.5, np.arange(12.0).reshape(3, 4) / 5 - 1
BATCH = np.arange(12.0).reshape(2, 2, 3) / 6 - 0.8
PRODUCTS: dict[str, tuple[Any, ...]] = {
    "matrices": (op.MatMul, MATRIX, OTHER),
    "a batch and a matrix": (op.MatMul, BATCH, OTHER),
    "a matrix and a batch": (op.MatMul, MATRIX, np.arange(24.0).reshape(2, 3, 4) / 9),
    "batches that broadcast": (op.MatMul, BATCH[:1], np.arange(24.0).reshape(2, 3, 4) / 9),
    "a vector and a matrix": (op.MatMul, OTHER[:, 0], OTHER),
    "a matrix and a vector": (op.MatMul, MATRIX, OTHER[:, 0]),
    "a vector and a batch": (op.MatMul, OTHER[:, 0], np.arange(12.0).reshape(2, 3, 2)),
    "vectors": (op.MatMul, OTHER[:, 0], OTHER[:, 1]),
    "Gemm": (lambda a, b, c: op.Gemm(a, b, c, alpha=0.5, beta=2.0), MATRIX, OTHER, OTHER[0]),
    "Gemm, the first transposed": (lambda a, b: op.Gemm(a, b, transA=1), MATRIX.T, OTHER),
    "Gemm, the second transposed": (lambda a, b: op.Gemm(a, b, transB=1, alpha=3.0), MATRIX, OTHER.T),
    "Gemm, both transposed": (
        lambda a, b, c: op.Gemm(a, b, c, transA=1, transB=1),
        *(MATRIX.T, OTHER.T, np.array([[1.0], [2.0]])),
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_gradients_are_those_of_differences(name: str) -> None:
    function, *arrays = PRODUCTS[name]
    agree(lambda *args: function(*args), *arrays)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("products") == []
