"""Normalisation against torch: over layers, batches and groups, in every float type, with open sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from onnxsmith.algorithms import normalisation
from tests.algorithms.running import computed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4, 5)) * 3 + 1
WEIGHT, BIAS = RNG.normal(size=4), RNG.normal(size=4)


def _close(found: Any, wanted: torch.Tensor, dtype: str) -> None:
    precision = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-13}[dtype]
    np.testing.assert_allclose(found, wanted.numpy(), precision, precision)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_layers(dtype: str, dimensions: int):
    x = X.astype(dtype)
    weight, bias = (RNG.normal(size=x.shape[-dimensions:]).astype(dtype) for _ in range(2))
    found = computed(
        lambda x, w, b: tuple(normalisation.layer_norm(x, dimensions, w, b, 1e-5)),
        *(x, weight, bias),
        tolerance=1e-5,
    )
    given = [torch.from_numpy(each) for each in (x, weight, bias)]
    wanted = torch.native_layer_norm(given[0], list(x.shape[-dimensions:]), given[1], given[2], 1e-5)
    for mine, theirs in zip((found[0], found[1], found[3]), wanted, strict=True):
        _close(mine.astype(dtype), theirs.to(given[0].dtype), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_root_of_the_mean_square(dtype: str):
    x, weight = X.astype(dtype), RNG.normal(size=5).astype(dtype)
    (found,) = computed(lambda x, w: normalisation.rms_norm(x, 1, w, 1e-6), x, weight, tolerance=1e-6)
    _close(found, functional.rms_norm(torch.from_numpy(x), [5], torch.from_numpy(weight), 1e-6), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(6, 4), (3, 4, 5), (2, 4, 3, 2)])
def test_batches(dtype: str, shape: tuple[int, ...]):
    x = (RNG.normal(size=shape) * 2 - 1).astype(dtype)
    arrays = [x, *(each.astype(dtype) for each in (WEIGHT, BIAS, np.zeros(4), np.ones(4)))]

    def run(x: Any, weight: Any, bias: Any, mean: Any, variance: Any) -> Any:
        made = normalisation.batch_norm(x, weight, bias, 1e-5)
        return made.result, *normalisation.running_statistics(x, mean, variance, made, 0.1)

    found = computed(run, *arrays, tolerance=1e-6)
    given = [torch.from_numpy(each.copy()) for each in arrays]
    wanted = functional.batch_norm(given[0], given[3], given[4], given[1], given[2], True, 0.1, 1e-5)
    for mine, theirs in zip(found, (wanted, given[3], given[4]), strict=True):
        _close(mine, theirs, dtype)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_groups(groups: int):
    arrays = [each.astype(np.float32) for each in (X, WEIGHT, BIAS)]
    (found,) = computed(
        lambda x, w, b: normalisation.group_norm(x, groups, w, b, 1e-5), *arrays, tolerance=1e-5
    )
    x, weight, bias = (torch.from_numpy(each) for each in arrays)
    _close(found, functional.group_norm(x, groups, weight, bias, 1e-5), "float32")
