"""Diagonals against numpy and torch: offsets beyond the plane, other dimensions, no elements."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onnxsmith.algorithms import diagonals
from tests.algorithms.running import computed

X = np.arange(60).reshape(3, 4, 5)


@pytest.mark.parametrize("offset", [-5, -2, 0, 1, 4, 7])
@pytest.mark.parametrize("dims", [(0, 1), (1, 2), (2, 0), (-1, -2)])
def test_taken_and_written(offset: int, dims: tuple[int, int]):
    (found,) = computed(lambda x: diagonals.diagonal(x, offset, *dims), X)
    wanted = np.diagonal(X, offset, *dims)
    np.testing.assert_array_equal(found, wanted)
    if not wanted.size:
        return
    source = -1 - np.arange(wanted.size).reshape(wanted.shape)
    (found,) = computed(lambda x, y: diagonals.diagonal_scatter(x, y, offset, *dims), X, source)
    written = torch.diagonal_scatter(torch.from_numpy(X), torch.from_numpy(source), offset, *dims)
    np.testing.assert_array_equal(found, written.numpy())


@pytest.mark.parametrize("offset", [-2, 0, 3])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (0,), (2, 0)])
def test_embedded(offset: int, shape: tuple[int, ...]):
    x = 1 + np.arange(np.prod(shape)).reshape(shape)
    (found,) = computed(lambda x: diagonals.embedded(x, offset), x)
    np.testing.assert_array_equal(found, torch.diag_embed(torch.from_numpy(x), offset).numpy())


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_of_nothing(shape: tuple[int, ...]):
    (found,) = computed(diagonals.diagonal, np.zeros(shape))
    assert found.shape == (0,)
