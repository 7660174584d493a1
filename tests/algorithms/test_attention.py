"""Attention against torch: both kinds of masks, causal, fewer heads, masked rows, with and without the operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from onnxsmith.algorithms.attention import attention, logarithms_of_weights
from tests.algorithms.running import computed

RNG = np.random.default_rng(0)
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"is_causal": True},
    "scaled": {"scale": 0.3},
}


def _given(dtype: str) -> list[np.ndarray]:
    shapes = (2, 2, 5, 4), (2, 2, 6, 4), (2, 2, 6, 3)
    return [RNG.normal(size=each).astype(dtype) for each in shapes]


def _check(given: list[np.ndarray], mask: np.ndarray | None, opset: int, **options: Any) -> None:
    arrays = given if mask is None else [*given, mask]
    tolerance = 1e-5 if given[0].dtype == np.float32 else 1e-12
    (found,) = computed(
        lambda q, k, v, *m: attention(q, k, v, *m, **options), *arrays, opset=opset, tolerance=tolerance
    )
    named = {("enable_gqa" if key == "is_grouped" else key): each for key, each in options.items()}
    wanted = functional.scaled_dot_product_attention(
        *(torch.from_numpy(each) for each in given),
        attn_mask=None if mask is None else torch.from_numpy(mask),
        **named,
    )
    np.testing.assert_allclose(found, wanted.numpy(), tolerance, tolerance)


@pytest.mark.parametrize("opset", [20, 24])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPTIONS)
def test_without_mask(name: str, dtype: str, opset: int):
    _check(_given(dtype), None, opset, **OPTIONS[name])


@pytest.mark.parametrize("opset", [20, 24])
@pytest.mark.parametrize("shape", [(5, 6), (2, 1, 5, 6)])
def test_masks(shape: tuple[int, ...], opset: int):
    mask = RNG.integers(0, 2, shape) > 0
    mask[..., 0, :] = False
    _check(_given("float32"), mask, opset)
    _check(_given("float32"), RNG.normal(size=shape).astype(np.float32), opset)


@pytest.mark.parametrize("opset", [20, 24])
def test_fewer_heads(opset: int):
    given = [RNG.normal(size=each).astype(np.float32) for each in ((2, 6, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4))]
    _check(given, None, opset, is_grouped=True)


@pytest.mark.parametrize("name", OPTIONS)
def test_logarithms_of_the_sums_of_weights(name: str) -> None:
    query, key, _ = _given("float64")
    mask = RNG.normal(size=(5, 6))
    options = OPTIONS[name]
    masks = [] if name == "causal" else [mask]
    (found,) = computed(
        lambda q, k, *m: logarithms_of_weights(q, k, *m, **options), query, key, *masks, tolerance=1e-12
    )
    scores = np.einsum("abij,abkj->abik", query, key) * options.get("scale", 0.5)
    scores = np.where(np.tri(5, 6, dtype=bool), scores, -np.inf) if name == "causal" else scores + mask
    np.testing.assert_allclose(found, np.log(np.exp(scores).sum(-1)), 1e-12)
