"""Convolutions and their gradients against torch: dimensions, groups, strides, padding, element types, open sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith.algorithms import convolution
from tests.algorithms.running import computed

RNG = np.random.default_rng(0)
#: spatial sizes, kernel, stride, padding, dilation, groups
CASES: dict[str, tuple[Any, ...]] = {
    "line": ((9,), (3,), (1,), (0,), (1,), 1),
    "steps": ((10,), (3,), (2,), (1,), (2,), 2),
    "plane": ((6, 7), (3, 2), (2, 1), (1, 0), (1, 2), 1),
    "groups": ((5, 5), (2, 2), (1, 2), (1, 1), (1, 1), 2),
    "space": ((4, 3, 5), (2, 1, 3), (1, 1, 2), (0, 0, 1), (1, 1, 1), 2),
}
NAMES = {1: "conv1d", 2: "conv2d", 3: "conv3d"}


def _numbers(dtype: str, *shape: int) -> np.ndarray:
    return RNG.integers(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name", CASES)
def test_convolutions(name: str, dtype: str):
    plane, kernel, stride, padding, dilation, groups = CASES[name]
    x, bias = _numbers(dtype, 2, 4, *plane), _numbers(dtype, 6)
    weight = _numbers(dtype, 6, 4 // groups, *kernel)
    (found,) = computed(
        lambda x, w, b: convolution.convolve(x, w, b, stride, [*padding, *padding], dilation, groups),
        *(x, weight, bias),
    )
    given = (torch.from_numpy(each) for each in (x, weight, bias))
    wanted = getattr(torch, NAMES[len(plane)])(*given, stride, padding, dilation, groups)
    np.testing.assert_array_equal(found, wanted.numpy())


@pytest.mark.parametrize("more", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_transposed(name: str, dtype: str, more: int):
    plane, kernel, stride, padding, dilation, groups = CASES[name]
    behind = [min(more, max(step, apart) - 1) for step, apart in zip(stride, dilation, strict=True)]
    x, bias = _numbers(dtype, 2, 4, *plane), _numbers(dtype, 3 * groups)
    weight = _numbers(dtype, 4, 3, *kernel)
    (found,) = computed(
        lambda x, w, b: convolution.transposed(x, w, b, stride, padding, behind, dilation, groups),
        *(x, weight, bias),
    )
    given = (torch.from_numpy(each) for each in (x, weight, bias))
    function = getattr(torch, NAMES[len(plane)].replace("conv", "conv_transpose"))
    wanted = function(*given, stride, padding, behind, groups, dilation)
    np.testing.assert_array_equal(found, wanted.numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str, dtype: str):
    plane, kernel, stride, padding, dilation, groups = CASES[name]
    x = torch.from_numpy(_numbers(dtype, 2, 4, *plane)).requires_grad_()
    weight = torch.from_numpy(_numbers(dtype, 6, 4 // groups, *kernel)).requires_grad_()
    made = getattr(torch, NAMES[len(plane)])(x, weight, None, stride, padding, dilation, groups)
    gradient = torch.from_numpy(_numbers(dtype, *made.shape))
    made.backward(gradient)
    options = (stride, padding, dilation, groups)
    given = [each.detach().numpy() for each in (gradient, x, weight)]
    assert x.grad is not None
    assert weight.grad is not None
    (found,) = computed(lambda g, x, w: convolution.gradient_of_input(g, x, w, *options), *given)
    np.testing.assert_array_equal(found, x.grad.numpy())
    (found,) = computed(lambda g, x, w: convolution.gradient_of_weight(x, g, w, *options), *given)
    np.testing.assert_array_equal(found, weight.grad.numpy())
